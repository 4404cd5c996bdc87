"""A study's events in a store, as far as they are known here, and how to add to them."""

import os
import random
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from windfall.errors import InputError
from windfall.study.events import KINDS, Event
from windfall.study.stores.base import Conflict, Draft, Locked, Store

__all__ = ["Journal"]

#: What may happen at any time, whatever happened before; all else is decided on all that did, also
#: a reward that says when it came: times do not run backwards.
ANYTIME = ("told", "failed", "noted")
#: After so many conflicts a decision is computed with the study to itself.
CONFLICTS = 2
#: For at most so many seconds, should its process die meanwhile.
LOCK = 30.0
#: How long one waits for somebody who has the study to himself, at first and at most.
WAITS = (0.002, 0.5)
#: Of its own: a user's random numbers are left alone.
_DICE = random.Random()

_T = TypeVar("_T")


class Journal:
    """The events of one study.

    Attributes:
        store: Where they are.
        key: The study.
        events: Those taken over so far, by number.
    """

    def __init__(self, store: Store, key: int):
        self.store, self.key = store, key
        self.events: list[Event] = []
        self._requests: dict[str, list[Event]] = {}
        self._crowded = False  # whether there was a line when one last stood in it

    def news(self) -> Sequence[Event]:
        """The events that have not been taken over yet."""
        events = self.store.read(self.key, len(self.events) - 1)
        for number, event in enumerate(events, len(self.events)):
            if event.number != number or event.kind not in KINDS:
                raise InputError(
                    f"event {event.number} is {event.kind!r}; expected number {number} and a known "
                    "kind: it was made by a newer windfall, or the store is damaged"
                )
        return events

    def take_over(self, events: Sequence[Event]) -> None:
        """Events are known from now on."""
        self.events += events
        for event in events:
            if event.request is not None:
                self._requests.setdefault(event.request, []).append(event)

    def answered(self, request: str | None) -> list[Event]:
        """What a request has led to; nothing if it is new."""
        return [] if request is None else self._requests.get(request, [])

    def asked(self, number: Any) -> Event:
        """The event in which a choice was made, by the choice's id."""
        for event in reversed(self.events):  # it is mostly a late one that is meant
            if event.kind == "asked" and event.contents["id"] == number:
                return event
        raise InputError(f"id is {number!r}; expected that of a choice of this study")

    def led_to(self, request: str | None, kind: str) -> list[Event]:
        """The same, for a call that can have led to events of one kind only."""
        events = self.answered(request)
        if any(event.kind != kind for event in events):
            raise InputError(f"request is {request!r}; expected one that no other call had")
        return events

    def handed_out(self, request: str | None) -> list[int]:
        """The ids of the choices that an ask with this request had led to."""
        events = self.led_to(request, "asked")
        besides = events[0].contents.get("besides", []) if events else []
        return [*besides, *(event.contents["id"] for event in events)]

    def append(
        self,
        drafts: Sequence[Draft],
        *,
        worker: str | None = None,
        request: str | None = None,
        holder: str | None = None,
    ) -> Sequence[Event]:
        """Write events: after those known here, or after whatever happened meanwhile."""
        anytime = all(kind in ANYTIME and "at" not in contents for kind, contents in drafts)
        after = None if anytime else len(self.events) - 1
        return self.store.append(
            self.key, drafts, after=after, worker=worker, request=request, holder=holder
        )

    def insist(self, attempt: Callable[[str | None], _T], *, decides: bool = False) -> _T:
        """What an attempt gives that nothing comes in between.

        Args:
            attempt: Called with the holder of the lock, None at first; called anew after a
                conflict, and after two with the study to itself.
            decides: Whether an attempt is so much work that none should be made in vain: where
                there was a crowd the last time, it begins at the end of the line.
        """
        lines_up, conflicts, (wait, longest) = decides and self._crowded, 0, WAITS
        while True:
            try:
                if not lines_up and conflicts < CONFLICTS:
                    return attempt(None)
                with self.store.line(self.key, LOCK) as self._crowded:
                    if not decides and conflicts < CONFLICTS:
                        return attempt(None)
                    with self._alone() as holder:
                        return attempt(holder)
            except Locked:
                if lines_up:  # somebody had not lined up, or there is no line
                    time.sleep(wait * _DICE.random())  # not all at once again
                    wait = min(2 * wait, longest)
                lines_up = True
            except Conflict:
                conflicts += 1

    @contextmanager
    def _alone(self) -> Iterator[str]:
        holder = f"{os.getpid()}/{uuid.uuid4().hex}"  # who is gone can be known by his process
        if not self.store.lock(self.key, holder, LOCK):
            raise Locked
        try:
            yield holder
        finally:
            self.store.unlock(self.key, holder)
