"""What every store is: studies by name, each a list of events that only ever grows.

A store knows nothing of what events mean. It promises that

- an event that was appended is there for good, and was there before ``append`` returned;
- the events of a study are numbered 0, 1, 2, … without gaps, the same for every reader;
- the events of one ``append`` are all there or none is;
- no request id is taken twice by one study;
- what is read is not changed by reading.

A store may be used by many threads and processes at once. ``windfall.testing.StoreContract`` checks
all of this, for stores of one's own too.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from windfall.study.events import Event

__all__ = ["Conflict", "DecidingStore", "Draft", "Locked", "Store"]

#: What is to happen: a kind and its contents.
Draft = tuple[str, Mapping[str, Any]]


class Conflict(Exception):  # noqa: N818  nobody made a mistake
    """Something else happened first: read what, and decide anew."""


class Locked(Conflict):
    """Somebody has this study to himself for a moment: try again soon."""


class Store(ABC):
    """Keeps studies. A study has a name, which can change, and a key, which never does."""

    @abstractmethod
    def create(self, name: str, created: Mapping[str, Any]) -> int:
        """A new study, whose event 0 says what it rests on; its key.

        Raises:
            Conflict: There is one of this name.
        """

    @abstractmethod
    def list(self) -> dict[str, int]:
        """The keys of all studies by name, in the order in which they were created."""

    @abstractmethod
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
        """Let events happen to a study, all of them or none; as they were taken.

        Args:
            key: Which study.
            drafts: What happens.
            after: The number of the last event, if what happens depends on all that did so far;
                None if it may happen at any time.
            worker: Who makes it happen.
            request: The id of the call. A study takes each once.
            holder: Who holds the lock, if the caller does.

        Raises:
            Conflict: ``after`` is not the last event, or the request was taken already.
            Locked: Somebody else holds the lock.
        """

    @abstractmethod
    def read(self, key: int, after: int = -1) -> Sequence[Event]:
        """The events of a study after a number, in order."""

    @abstractmethod
    def lock(self, key: int, holder: str, seconds: float) -> bool:
        """Try to have a study to oneself for at most so long; whether that succeeded.

        It keeps others from appending while a decision is computed, no more: a holder that takes
        too long loses it, and is told of conflicts like everybody else.
        """

    @abstractmethod
    def unlock(self, key: int, holder: str) -> None:
        """Give a lock back; nothing happens if it is no longer held."""

    def line(self, key: int, seconds: float) -> AbstractContextManager[bool]:
        """Stand in line with others who want a study to themselves; whether there were any.

        A courtesy that nothing rests on: whoever is next goes on when the one before is done,
        where he would otherwise ask again and again. A store that keeps no line lets everybody in.

        Args:
            key: Which study.
            seconds: How long one waits at most.
        """
        del key, seconds
        return nullcontext(False)

    @abstractmethod
    def rename(self, key: int, name: str) -> None:
        """Give a study another name.

        Raises:
            Conflict: There is one of this name.
        """

    @abstractmethod
    def delete(self, key: int) -> None:
        """Drop a study and all its events. Its key is never used again."""

    @abstractmethod
    def now(self) -> float:
        """The time, in seconds since 1970, by the clock that all users of the store share."""

    @abstractmethod
    def close(self) -> None:
        """Let go of files and connections."""


class DecidingStore(Store):
    """A store that makes the choices of its studies itself, as a server does.

    Asking then needs no model, and no JAX, where the study is opened.
    """

    @abstractmethod
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
        """The ids of choices, as ``Study.ask`` makes them; None for n only looks.

        Contexts come as a list with one for each, available arms as a list of their numbers.
        """

    @abstractmethod
    def decider(self, key: int) -> Any:
        """Who says what is believed, as ``windfall.study.decide.Decider`` does."""
