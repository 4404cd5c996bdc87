"""What every request passes before it is looked at: host, origin, rate, token, size.

Plain ASGI, and first in line: what is refused here has cost next to nothing.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Collection
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import SplitResult, parse_qs, urlsplit

from fastapi.responses import RedirectResponse
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from windfall.serve.refusals import Refused, problem
from windfall.serve.tokens import Grant, Tokens

__all__ = ["COOKIE", "Guard", "Limits", "Rate"]

COOKIE = "windfall"
#: Everybody may see these: they hold nothing of anybody's.
_OPEN = ("/health", "/static/", "/api/v1/openapi.json")
#: The one kind of request that may be long: a list of arms.
_LISTS = ("/api/v1/studies", "/api/v1/store/studies")
#: Of a page that was opened by a link, in seconds.
_REMEMBERED = 30 * 24 * 3600
_SAFE = ("GET", "HEAD", "OPTIONS")


@dataclass(frozen=True)
class Limits:
    """How much the service takes from one client.

    Attributes:
        rate: Requests a second for each token, and in bursts twice as many.
        strangers: Requests a second without a valid token, for each address.
        body: Bytes of a request.
        list: Bytes of a request that creates a study.
        seconds: For a request to arrive.
        streams: Streams of events at once.
        connections: At once, idle ones included.
    """

    rate: float = 1000.0
    strangers: float = 20.0
    body: int = 4 * 2**20
    list: int = 64 * 2**20
    seconds: float = 20.0
    streams: int = 256
    connections: int = 2000


class Rate:
    """So many a second for each of many, and twice as many in a burst.

    Args:
        rate: How many a second.
        clock: Seconds.
        most: Of so many something is remembered; the longest unseen are forgotten.

    Example:
        >>> rate = Rate(1.0, clock=lambda: 0.0)
        >>> [rate.wait("oven") for _ in range(3)]
        [0.0, 0.0, 1.0]
    """

    def __init__(
        self, rate: float, clock: Callable[[], float] = time.monotonic, most: int = 10_000
    ):
        self._rate, self._clock, self._most = rate, clock, most
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, who: str) -> float:
        """Take one; 0, or for how many seconds there is none."""
        now = self._clock()
        left, then = self._left.pop(who, (2 * self._rate, now))
        left = min(2 * self._rate, left + (now - then) * self._rate)
        granted = left >= 1.0
        self._left[who] = (left - granted, now)
        if len(self._left) > self._most:
            self._left.popitem(last=False)
        return 0.0 if granted else (1.0 - left) / self._rate


class Guard:
    """Lets requests through to an application, with ``grant`` in their state.

    Args:
        app: The application.
        tokens: Who may do what.
        hosts: Under which names the service is reached; others are refused, so that no foreign page
            can reach it by a name of its own.
        limits: How much is taken.
    """

    def __init__(self, app: ASGIApp, tokens: Tokens, hosts: Collection[str], limits: Limits):
        self._app, self._tokens, self._limits = app, tokens, limits
        self._hosts = {host.lower() for host in hosts}
        self._rate, self._strangers = Rate(limits.rate), Rate(limits.strangers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return  # there are no websockets
        # As it came: a study's name may hold a slash, and is decoded where it is used.
        scope["path"] = (scope.get("raw_path") or scope["path"].encode()).decode("latin-1")
        try:
            headers = Headers(scope=scope)
            self._check_host(headers)
            visit = self._first_visit(scope)
            if visit is not None:
                await visit(scope, receive, send)
                return
            grant = self._granted(scope, headers)
            scope.setdefault("state", {})["grant"] = grant
            receive = await self._body(scope, headers, receive)
        except Refused as no:
            await problem(no.status, str(no), headers=no.headers)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _check_host(self, headers: Headers) -> None:
        host = _parts(f"//{headers.get('host', '')}")
        if host is None or host.hostname not in self._hosts:
            raise Refused(421, "Host is not one of this server; start it with --allow-host NAME")
        if "origin" in headers:
            origin = _parts(headers["origin"])
            if origin is None or origin.netloc.lower() != host.netloc.lower():
                raise Refused(403, "Origin is another site; expected this server's own pages")

    def _first_visit(self, scope: Scope) -> Any:
        """Of a link with a token: remember it, and take it out of the address."""
        if b"token=" not in scope["query_string"] or scope["method"] not in _SAFE:
            return None
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[-1]
        if self._tokens.grant(given) is None:
            raise self._stranger(scope, "token is unknown or has expired; expected a fresh link")
        here = "/" + scope["path"].lstrip("/")  # two slashes would lead to another site
        answer = RedirectResponse(here, 303)
        answer.set_cookie(COOKIE, given, max_age=_REMEMBERED, httponly=True, samesite="lax")
        return answer

    def _granted(self, scope: Scope, headers: Headers) -> Grant | None:
        path = scope["path"]
        secret = _secret(headers)
        grant = None if secret is None else self._tokens.grant(secret)
        if grant is not None:
            self._take(self._rate, grant.name)
            return grant
        if any(path == place or (place[-1] == "/" and path.startswith(place)) for place in _OPEN):
            return None
        raise self._stranger(scope, "token is missing, unknown or expired; expected a valid one")

    def _stranger(self, scope: Scope, text: str) -> Refused:
        client = scope.get("client")
        self._take(self._strangers, client[0] if client else "")
        return Refused(401, text, {"WWW-Authenticate": "Bearer"})

    def _take(self, rate: Rate, who: str) -> None:
        seconds = rate.wait(who)
        if seconds:
            after = {"Retry-After": f"{seconds:.0f}" if seconds >= 1 else "1"}
            raise Refused(429, "requests come too fast; try again in a second", after)

    async def _body(self, scope: Scope, headers: Headers, receive: Receive) -> Receive:
        """All that a request sends, if it is not too long and does not take too long."""
        if "content-length" not in headers and "transfer-encoding" not in headers:
            return receive
        most = self._limits.list if scope["path"] in _LISTS else self._limits.body
        try:
            announced = int(headers.get("content-length", 0))
        except ValueError:
            raise Refused(400, "Content-Length is no number; expected one") from None
        if announced > most:
            raise Refused(413, f"body has {announced} bytes; expected at most {most}", _CLOSE)
        body, more = bytearray(), True
        try:
            async with asyncio.timeout(self._limits.seconds):
                while more:
                    message = await receive()
                    body += message.get("body", b"")
                    more = message["type"] == "http.request" and message.get("more_body", False)
                    if len(body) > most:
                        raise Refused(413, f"body has more than {most} bytes", _CLOSE)
        except TimeoutError:
            raise Refused(408, "body does not arrive; send it faster", _CLOSE) from None
        return _replayed(bytes(body), receive)


_CLOSE = {"Connection": "close"}


def _replayed(body: bytes, receive: Receive) -> Receive:
    """What gives a body once, and then whatever comes."""
    given = False

    async def replay() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def _parts(address: str) -> SplitResult | None:
    """The parts of an address; None if it is malformed."""
    try:
        parts = urlsplit(address)
        parts.port  # noqa: B018  raises if it is no number
    except ValueError:
        return None
    return parts


def _secret(headers: Headers) -> str | None:
    """The token of a request: of programs in a header, of the page in a cookie."""
    scheme, _, secret = headers.get("authorization", "").partition(" ")
    if secret:
        return secret.strip() if scheme.lower() == "bearer" else None
    try:
        cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return None
    return None if cookie is None else cookie.value
