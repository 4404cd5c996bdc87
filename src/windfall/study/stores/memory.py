"""A store that lives as long as its process: for tests, and as the simplest example of one."""

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from windfall.errors import InputError
from windfall.study.events import Event
from windfall.study.stores.base import Conflict, Draft, Locked, Store

__all__ = ["MemoryStore"]


@dataclass
class _Study:
    name: str
    events: list[Event]
    requests: set[str] = field(default_factory=set)
    holder: str | None = None
    until: float = 0.0


class MemoryStore(Store):
    """Keeps studies in memory.

    Args:
        clock: What time it is, in seconds since 1970.

    Example:
        >>> store = MemoryStore()
        >>> key = store.create("alloy", {"seed": 0})
        >>> [event.number for event in store.append(key, [("noted", {"text": "hot"})])]
        [1]
    """

    def __init__(self, clock: Callable[[], float] = time.time):
        self._clock = clock
        self._studies: dict[int, _Study] = {}
        self._keys = 0
        self._guard = threading.Lock()

    def create(self, name: str, created: Mapping[str, Any]) -> int:
        with self._guard:
            self._check_free(name)
            self._keys += 1
            first = Event(0, "created", _copied(created), time=self._clock())
            self._studies[self._keys] = _Study(name, [first])
            return self._keys

    def list(self) -> dict[str, int]:
        with self._guard:
            return {study.name: key for key, study in self._studies.items()}

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
        with self._guard:
            study, now = self._study(key), self._clock()
            if study.holder not in (None, holder) and now < study.until:
                raise Locked
            last = len(study.events) - 1
            if after not in (None, last) or request in study.requests:
                raise Conflict
            new = [
                Event(number, kind, _copied(contents), worker, request, now)
                for number, (kind, contents) in enumerate(drafts, last + 1)
            ]
            study.events += new
            if request is not None:
                study.requests.add(request)
            return new

    def read(self, key: int, after: int = -1) -> Sequence[Event]:
        with self._guard:
            return self._study(key).events[after + 1 :]

    def lock(self, key: int, holder: str, seconds: float) -> bool:
        with self._guard:
            study, now = self._study(key), self._clock()
            if study.holder not in (None, holder) and now < study.until:
                return False
            study.holder, study.until = holder, now + seconds
            return True

    def unlock(self, key: int, holder: str) -> None:
        with self._guard:
            study = self._study(key)
            if study.holder == holder:
                study.holder = None

    def rename(self, key: int, name: str) -> None:
        with self._guard:
            study = self._study(key)
            if study.name != name:
                self._check_free(name)
                study.name = name

    def delete(self, key: int) -> None:
        with self._guard:
            self._study(key)
            del self._studies[key]

    def now(self) -> float:
        return self._clock()

    def close(self) -> None:
        """Nothing is held."""

    def _study(self, key: int) -> _Study:
        if key not in self._studies:
            raise InputError(f"study {key} is not in the store; expected one that was not deleted")
        return self._studies[key]

    def _check_free(self, name: str) -> None:
        if any(study.name == name for study in self._studies.values()):
            raise Conflict


def _copied(contents: Mapping[str, Any]) -> dict[str, Any]:
    """As a file would give it back: nobody can change it afterwards."""
    return json.loads(json.dumps(contents, allow_nan=False))
