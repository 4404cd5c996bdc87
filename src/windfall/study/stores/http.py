"""Studies on a windfall server. Needs the extra ``serve``; needs no JAX, the server decides.

An answer can be lost after the server has done what it was asked to. So every call can be repeated:
what appends carries an id by which the server, also one that was started anew, knows it again.
"""

import json
import os
import random
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from windfall.checks import number, shown
from windfall.errors import InputError, NumericalError
from windfall.study.events import Event
from windfall.study.stores.base import Conflict, DecidingStore, Draft, Locked

__all__ = ["OWN", "PAGE", "HTTPStore"]

#: How the ids begin that calls without one are given, so that they can be repeated.
OWN = "http:"
#: How long one waits before a call is repeated, at first and at most, in seconds.
_WAITS = (0.05, 2.0)
#: Of its own: a user's random numbers are left alone.
_DICE = random.Random()
#: What is worth another try: too many requests, and servers or proxies that are not ready.
_LATER = (429, 502, 503, 504)
#: So many events come in one answer.
PAGE = 10_000


class HTTPStore(DecidingStore):
    """Keeps studies on a server; a call is repeated until it is answered.

    Args:
        url: Of the server, such as "http://127.0.0.1:8420".
        token: What the server wants to see; by default the environment's ``WINDFALL_TOKEN``.
        patience: For so many seconds a server that does not answer is tried again.
    """

    def __init__(self, url: str, token: Any = None, patience: float = 60.0):
        try:
            import httpx2
        except ImportError as error:
            raise InputError(
                f"store is {_bare(url)!r}, which needs the extra 'serve'; install windfall[serve]"
            ) from error
        self._http = httpx2
        if "@" in url or "?" in url or "#" in url:
            raise InputError(
                f"store is {_bare(url)!r} with more to it; expected an address and nothing else: "
                "give token="
            )
        if token is None:
            token = os.environ.get("WINDFALL_TOKEN")
        if not (
            token is None or (isinstance(token, str) and token.isascii() and token.isprintable())
        ):
            raise InputError("token is not text in one line; expected what windfall serve printed")
        self.url, self._token = url.rstrip("/"), token
        self._patience = float(number("patience", 0.0)(patience))
        self._guard = threading.Lock()
        self._process, self._client = -1, None

    def __reduce__(self) -> tuple[Any, ...]:
        return HTTPStore, (self.url, self._token, self._patience)

    def __repr__(self) -> str:
        return f"HTTPStore({self.url!r})"

    def create(self, name: str, created: Mapping[str, Any]) -> int:
        def done() -> Any:
            key = self.list().get(name)
            same = json.loads(_written(created))
            return {"key": key} if key is not None and self.read(key)[0].contents == same else None

        body = {"name": name, "created": created}
        return self._call("POST", "/studies", body, done)["key"]

    def list(self) -> dict[str, int]:
        return dict(self._call("GET", "/studies")["studies"])

    def append(
        self,
        key: int,
        drafts: Sequence[Draft],
        *,
        after: int | None = None,
        worker: str | None = None,
        request: str | None = None,
        holder: str | None = None,
    ) -> Sequence[Event]:
        def done() -> Any:
            found = [event for event in self.read(key) if event.request == request]
            same = [(kind, json.loads(_written(contents))) for kind, contents in drafts]
            return found if [(event.kind, event.contents) for event in found] == same else None

        body = {
            "drafts": [{"kind": kind, "contents": contents} for kind, contents in drafts],
            "after": after, "worker": worker, "request": request or _id(), "holder": holder,
        }  # fmt: skip
        taken = self._call("POST", f"/studies/{key}/events", body, done if request else None)
        return taken if isinstance(taken, list) else _events(taken)

    def read(self, key: int, after: int = -1) -> Sequence[Event]:
        events: list[Event] = []
        while True:
            page = _events(self._call("GET", f"/studies/{key}/events?after={after}"))
            events += page
            if len(page) < PAGE:
                return events
            after = page[-1].number

    def lock(self, key: int, holder: str, seconds: float) -> bool:
        body = {"holder": holder, "seconds": seconds}
        return self._call("POST", f"/studies/{key}/lock", body)["locked"]

    def unlock(self, key: int, holder: str) -> None:
        self._call("POST", f"/studies/{key}/unlock", {"holder": holder})

    def rename(self, key: int, name: str) -> None:
        self._call("PATCH", f"/studies/{key}", {"name": name})

    def delete(self, key: int) -> None:
        def done() -> Any:
            return None if key in self.list().values() else {}

        self._call("DELETE", f"/studies/{key}", None, done)

    def now(self) -> float:
        return self._call("GET", "/time")["now"]

    def ask(
        self,
        key: int,
        n: int | None,
        *,
        worker: str | None = None,
        lease: float | None = None,
        request: str | None = None,
        context: Any = None,
        among: Any = None,
    ) -> Sequence[int]:
        call = _id() if request is None and n is not None else request
        said = {"context": context, "among": among}  # older servers know nothing of them
        body = {"n": n, "worker": worker, "lease": lease, "request": call}
        body |= {name: value for name, value in said.items() if value is not None}
        return self._call("POST", f"/studies/{key}/ask", body)["ids"]

    def decider(self, key: int) -> "_Decider":
        return _Decider(self, key)

    def close(self) -> None:
        with self._guard:
            if self._client is not None and self._process == os.getpid():
                self._client.close()
            self._client = None

    def _call(
        self,
        method: str,
        path: str,
        body: Any = None,
        done: Callable[[], Any] | None = None,
    ) -> Any:
        """The answer to a call, which is repeated as long as there is none.

        Args:
            method: Of HTTP.
            path: Below that of the store.
            body: What is sent.
            done: Called when a repeated call is refused, as the first may have succeeded: what it
                would have given, or None if it was not that.
        """
        content = None if body is None else _written(body).encode()
        last, (wait, longest), repeated = time.monotonic() + self._patience, _WAITS, False
        while True:
            try:
                answer = self._connected().request(method, f"/api/v1/store{path}", content=content)
                trouble = f"answers {answer.status_code}"
            except self._http.TransportError as error:
                answer, trouble = None, f"does not answer ({type(error).__name__}: {error})"
            if answer is not None and answer.status_code not in _LATER:
                break
            if time.monotonic() + wait > last:
                raise InputError(
                    f"store {self.url!r} {' '.join(trouble.split())}; check that windfall serve "
                    "runs there"
                )
            time.sleep(wait * _DICE.uniform(0.5, 1.0))  # not all at once again
            wait, repeated = min(2 * wait, longest), True
        try:
            return self._understood(answer)
        except (InputError, Conflict):
            was = done() if repeated and done is not None else None
            if was is None:
                raise
            return was

    def _connected(self) -> Any:
        """The connections of this process; a forked one makes its own."""
        with self._guard:
            if self._client is None or self._process != os.getpid():
                headers = {"Content-Type": "application/json"}
                if self._token is not None:
                    headers["Authorization"] = f"Bearer {self._token}"
                # A decision may compile for a while.
                timeout = self._http.Timeout(10.0, read=300.0)
                try:
                    self._client = self._http.Client(
                        base_url=self.url, headers=headers, timeout=timeout, trust_env=False
                    )
                except (self._http.InvalidURL, ValueError) as error:
                    raise InputError(
                        f"store is {self.url!r}; expected an address such as http://host:8420"
                    ) from error
                self._process = os.getpid()
            return self._client

    def _understood(self, answer: Any) -> Any:
        if answer.is_success:
            try:
                return answer.json()
            except ValueError as error:
                raise self._foreign() from error
        try:
            said = answer.json()
            text, kind = str(said["error"]), said.get("kind")
        except (ValueError, TypeError, KeyError, AttributeError):
            raise self._foreign() from None
        if answer.status_code in (401, 403):
            raise InputError(f"store {self.url!r} refuses the token: {text}")
        errors = {"Conflict": Conflict, "Locked": Locked, "NumericalError": NumericalError}
        raise errors.get(kind, InputError)(text)

    def _foreign(self) -> InputError:
        return InputError(f"store {self.url!r} is no windfall server; expected the address of one")


class _Decider:
    """Says what a server believes about unit points; which of the study's records is its own."""

    def __init__(self, store: HTTPStore, key: int):
        self._store, self._key = store, key

    def moments(
        self, record: Any, x: np.ndarray, context: Any = None
    ) -> tuple[np.ndarray, np.ndarray]:
        columns = self._columns("moments", x, context)
        return columns["mean"], columns["std"]

    def table(self, record: Any, x: np.ndarray, context: Any = None) -> dict[str, np.ndarray]:
        return self._columns("table", x, context)

    def _columns(self, what: str, x: np.ndarray, context: Any) -> dict[str, np.ndarray]:
        known = {} if context is None else {"context": list(context)}
        body = {"what": what, "points": x.tolist(), **known}
        columns = self._store._call("POST", f"/studies/{self._key}/beliefs", body)
        return {name: np.array(column, float) for name, column in columns.items()}


def _events(answer: Any) -> list[Event]:
    names = ("number", "kind", "contents", "worker", "request", "time")
    return [Event(*(event[name] for name in names)) for event in answer["events"]]


def _id() -> str:
    return f"{OWN}{uuid.uuid4().hex}"


def _written(body: Any) -> str:
    return json.dumps(body, allow_nan=False, separators=(",", ":"))


def _bare(url: str) -> str:
    """An address without what may be secret in it."""
    scheme, _, rest = url.partition("://")
    host = rest.partition("/")[0].rpartition("@")[2].partition("?")[0]
    return shown(f"{scheme}://{host}")[1:-1]
