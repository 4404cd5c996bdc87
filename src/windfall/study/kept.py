"""A session whose events are in a store: opening it, adding to it, taking it elsewhere."""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from windfall import specs
from windfall.errors import InputError
from windfall.runtime.given import (
    ContextLike,
    Numbers,
    PolicyLike,
    SpaceLike,
    StoreLike,
    Text,
    Truth,
    Whole,
)
from windfall.study import history, transfer
from windfall.study.events import Event
from windfall.study.journal import Journal
from windfall.study.opening import Terms, check_same, found_or_created, text, text_or_none
from windfall.study.record import Record
from windfall.study.session import Session
from windfall.study.stores import Conflict, Store, open_store
from windfall.study.stores.base import DecidingStore, Draft

if TYPE_CHECKING:
    from windfall.policy import Policy

__all__ = ["KeptSession"]


class KeptSession(Session):
    """A study by its name in a store; the arguments are those of ``wf.Study``."""

    def __init__(
        self,
        name: Text,
        space: SpaceLike | None = None,
        policy: PolicyLike | None = None,
        *,
        store: StoreLike = "windfall.db",
        token: Text | None = None,
        goal: Text | None = None,
        budget: Whole | None = None,
        repeats: Truth | None = None,
        kernel_matrix: Numbers | None = None,
        context: ContextLike | None = None,
        drift: Text | None = None,
        seed: Whole | None = None,
        initial: Whole | None = None,
        about: Any = None,
    ):
        given = (space, policy, goal, budget, repeats, kernel_matrix, seed, initial, about)
        terms = Terms(*given, context, drift)
        self._own = not isinstance(store, Store)
        self._store = open_store(store, create=terms.create, token=token)
        try:
            self._name = text("name", name)
            key = found_or_created(self._store, name, terms)
            self._journal = Journal(self._store, key)
            created, *events = self._journal.news()
            self._created = dict(created.contents)
            check_same(name, self._created, terms)
            super().__init__(
                specs.from_spec(self._created["space"], allow_imports=True),
                self._created["seed"],
                self._created["initial"],
                specs.from_spec(self._created.get("context"), allow_imports=True),
            )
            self.timed = self._created["policy"].get("model", {}).get("type") == "Drifting"
            self._journal.take_over([created])
            self._take_over(events)
        except BaseException:
            self.close()
            raise

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), store=self._store), (self._name,)

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    @cached_property
    def policy(self) -> "Policy":
        """The policy."""
        return specs.from_spec(self._created["policy"], allow_imports=True)

    def note(self, remark: Text, request: Text | None = None) -> None:
        """Keep a remark with the study ("changed the nozzle"); it changes nothing else."""
        self._happen("noted", lambda: {"text": text("text", remark)}, request)

    def happened(self) -> list[Event]:
        """Every event, less the study's creation."""
        self._now()
        return list(self._journal.events[1:])

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write the history as a table (.csv), or every event in full (.jsonl, JSON lines)."""
        self._now()
        history.export(Path(path), self._record, self._journal.events)

    def add(self, path: str | os.PathLike[str]) -> int:
        """Tell all rewards of a table (.csv), or none where one is wrong; how many there were.

        Columns: ``reward``, and ``arm`` or one for each feature or parameter; one for each number
        of a context; where they are known ``noise``, ``count``, ``deviation`` and ``at``; and
        ``kind``, of which only "told" and "failed" are taken. What ``export`` wrote is such a
        table.
        """

        def attempt(holder: str | None) -> int:
            record = self._now()
            rows = transfer.rewards_of(Path(path), record.space, self.context)
            drafts, then = [], record.next
            for kind, chosen, said, known in rows:
                if kind == "told":
                    paid = [said.get(name) for name in transfer.NUMBERS]
                    at = said.get("at", then if self.timed else None)
                    contents = self._paid(chosen, *paid, context=known, at=at)
                    then = contents.get("at", then) + 1.0
                else:
                    contents = self._meant(chosen, known)
                drafts.append((kind, contents))
            if drafts:
                self._append(drafts, holder=holder)
            return len(drafts)

        return self._journal.insist(attempt)

    def copy(self, store: StoreLike | None = None, name: Text | None = None) -> None:
        """Copy the study, with all that happened to it, to where it has a free name.

        Args:
            store: Another store: a file, ``postgresql://…`` or a ``Store``; this one unless given.
            name: Of the copy; that of the study unless given.
        """
        self._now()
        wanted = self._name if name is None else text("name", name)
        target = self._store if store is None else open_store(store, create=True)
        try:
            transfer.put(self._journal.events, target, wanted)
        finally:
            if target not in (store, self._store):
                target.close()

    def rename(self, name: Text) -> None:
        """Give the study another name, which nobody else has."""
        wanted = text("name", name)
        try:
            self._store.rename(self._journal.key, wanted)
        except Conflict as error:
            raise InputError(f"name is {name!r}; expected one that no other study has") from error
        self._name = wanted

    def delete(self, name: Text) -> None:
        """Drop the study and all that happened to it, for good.

        Args:
            name: Of the study, once more, so that it is meant.
        """
        if name != self._name:
            raise InputError(f"name is {name!r}; expected {self._name!r}, to be sure")
        self._store.delete(self._journal.key)

    def close(self) -> None:
        """Let go of the file, if the study has opened it; whatever happened is kept."""
        if self._own:
            self._store.close()

    @cached_property
    def _decider(self) -> Any:
        if isinstance(self._store, DecidingStore):
            return self._store.decider(self._journal.key)
        return super()._decider

    def _now(self) -> Record:
        self._take_over(self._journal.news())
        return self._record

    def _take_over(self, events: Sequence[Event]) -> None:
        """Let happen here what happened in the store: all of it, or nothing."""
        if events:
            record = self._record.copy()
            for event in events:
                record.fold(event)
            self._record = record
            self._journal.take_over(events)

    def _happen(
        self,
        kind: str,
        said: Callable[[], dict[str, Any]],
        request: Any = None,
        implied: Collection[str] = (),
    ) -> None:
        """As every session's; a repeated request changes nothing if it says the same.

        Args:
            kind: Of the event.
            said: Its contents, by what has happened when it is called.
            request: An id for the call.
            implied: What follows from all that happened, where the call does not say it.
        """
        known = text_or_none("request", request)

        def attempt(holder: str | None) -> None:
            self._now()
            before, contents = self._journal.answered(known), said()
            if not before:
                self._append([(kind, contents)], request=known, holder=holder)
                return
            left = ("time", *implied)  # a copy brings the time along
            same = [(event.kind, _without(event.contents, left)) for event in before]
            if same != [(kind, _without(contents, left))]:
                raise InputError(f"request is {known!r}; expected one that no other call had")

        self._journal.insist(attempt)

    def _append(
        self, drafts: Sequence[Draft], searches: Sequence[Any] = (), **options: Any
    ) -> Record:
        """Write events to the store, where they can happen; the record with them."""
        number = len(self._journal.events)
        record = self._record.copy()  # what cannot happen is refused before it is written
        for place, (kind, contents) in enumerate(drafts):
            event = Event(number + place, kind, contents, options.get("worker"))
            record.admit(event, searches[place] if searches else None)
        taken = self._journal.append(drafts, **options)
        if taken[0].number > number:  # others came in between
            return self._now()
        self._journal.take_over(taken)
        self._record = record
        return record


def _without(contents: Mapping[str, Any], left: Collection[str]) -> dict[str, Any]:
    return {name: value for name, value in contents.items() if name not in left}
