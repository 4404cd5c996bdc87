"""Studies that last: kept in a store, shared by many workers."""

import os
from collections.abc import Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from windfall import specs
from windfall.checks import number, whole
from windfall.errors import InputError
from windfall.study import history
from windfall.study.choice import Choice, choice_of
from windfall.study.events import Event
from windfall.study.journal import Journal
from windfall.study.opening import Terms, check_same, found_or_created, text, text_or_none
from windfall.study.record import Record
from windfall.study.session import Session
from windfall.study.stores import Conflict, Store, open_store
from windfall.study.stores.base import DecidingStore, Draft
from windfall.study.undo import taking_back

if TYPE_CHECKING:
    from windfall.policy import Policy

__all__ = ["Study"]


class Study(Session):
    """A study that is kept: created once, opened by its name anywhere, never lost.

    What it can do is what ``wf.Bandit`` can; with one worker the choices are the same. Every call
    sees what others did before, and is on the disk when it returns. A study object is for one
    thread: open another for another.

    Args:
        name: Of the study, within its store.
        space: What to choose from, as for ``wf.Bandit``, to create the study; opening one needs
            nothing but its name, and refuses a space, policy, seed or initial that differs.
        policy: A name, an acquisition or a ``Policy``; None for the default. What it is made of
            must be importable, as it is kept as a spec (``windfall.specs``).
        goal: "reward" or "best", as for ``wf.Bandit``; so are ``budget``, ``repeats`` and
            ``kernel_matrix``.
        store: A file, the address of a windfall server (http://…), or a ``Store``.
        token: What the server wants to see; by default the environment's ``WINDFALL_TOKEN``.
        seed: Determines every choice; 0 unless given.
        initial: How many choices come before the policy takes over.

    Example:
        >>> import numpy as np
        >>> from windfall.study.stores import MemoryStore
        >>> store = MemoryStore()  # or a file, as in store="lab.db"
        >>> study = Study("alloy", np.linspace(0.0, 1.0, 21)[:, None], store=store)
        >>> choice = study.ask(worker="oven-3", lease=3600)
        >>> study.tell(choice, 0.25)
        >>> Study("alloy", store=store).rewards == [(choice.arm, 0.25)]
        True
    """

    def __init__(
        self,
        name: Any,
        space: Any = None,
        policy: Any = None,
        *,
        store: Any = "windfall.db",
        token: Any = None,
        goal: Any = None,
        budget: Any = None,
        repeats: Any = None,
        kernel_matrix: Any = None,
        seed: Any = None,
        initial: Any = None,
    ):
        terms = Terms(space, policy, goal, budget, repeats, kernel_matrix, seed, initial)
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
            )
            self._journal.take_over([created])
            self._take_over(events)
        except BaseException:
            self.close()
            raise

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Study, store=self._store), (self._name,)

    def __enter__(self) -> "Study":
        return self

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

    def ask(
        self,
        n: Any = None,
        worker: Any = None,
        lease: Any = None,
        request: Any = None,
    ) -> Any:
        """What to try next: a choice, or a list of n.

        Without any argument it only looks, and everybody is told the same until something happens.
        With one it hands out: nobody else is given these choices, and the next ones account for
        them, until they are told, failed, forgotten or their lease has run out.

        Args:
            n: Hand out so many different choices.
            worker: Who asks. One who asks again is given back the choices that he still has, and
                new ones only for what is lacking.
            lease: After so many seconds the choice is free again; a reward that comes later counts
                all the same.
            request: An id for this call. Repeating it, when an answer was lost, gives the same
                answer.
        """
        wanted = 1 if n is None else whole("n", n, 1)
        held = not (n is None and worker is None and lease is None)
        worker, request = text_or_none("worker", worker), text_or_none("request", request)
        seconds = None if lease is None else float(number("lease", 0.0, strict=True)(lease))
        if isinstance(self._store, DecidingStore):  # there, and for all who ask at once
            whom = {"worker": worker, "lease": seconds, "request": request}
            made = self._store.ask(self._journal.key, wanted if held else None, **whom)
            self._now()
            there = [self._choice(number) for number in made]
            return there[0] if n is None else there

        def attempt(holder: str | None) -> list[Choice]:
            record = self._now()
            if self._journal.answered(request):
                return [self._choice(i) for i in self._journal.handed_out(request)]
            overdue = [("expired", {"id": i}) for i in record.overdue(self._store.now())]
            if overdue:
                record = self._append(overdue, holder=holder)
            if not held and record.proposal is not None:
                return [record.proposal]
            kept = [] if worker is None else record.of_worker(worker)[:wanted]
            made = self._made(wanted - len(kept), held=held)
            if not made:
                return kept
            more: dict[str, Any] = {} if seconds is None else {"until": self._store.now() + seconds}
            if kept:
                more["besides"] = [choice.id for choice in kept]
            drafts = [("asked", contents | more) for contents, _ in made]
            searches = [search for _, search in made]
            record = self._append(drafts, searches, worker=worker, request=request, holder=holder)
            if not held:
                assert record.proposal is not None
                return [record.proposal]
            return kept + [record.pending[contents["id"]][1] for contents, _ in made]

        choices = self._journal.insist(attempt)
        return choices[0] if n is None else choices

    def tell(
        self,
        choice: Any,
        reward: Any,
        noise: Any = None,
        count: Any = None,
        deviation: Any = None,
        request: Any = None,
    ) -> None:
        """Record a reward, as ``wf.Bandit.tell``.

        Args:
            choice: A choice, the number of an arm, values by name, or the features in order.
            reward: What it paid.
            noise: The standard deviation of this reward's noise, if it is known.
            count: The reward is the mean of so many replicates.
            deviation: The sample deviation of these replicates (divided by count − 1).
            request: An id for this call. Repeating it changes nothing.
        """
        self._happen("told", self._paid(choice, reward, noise, count, deviation), request)

    def fail(self, choice: Any, request: Any = None) -> None:
        """Record that a pull failed, as ``wf.Bandit.fail``."""
        self._happen("failed", self._meant(choice), request)

    def forget(self, choice: Any, request: Any = None) -> None:
        """A choice will never be told, or failed by accident: drop it."""
        self._happen("forgotten", self._meant(choice), request)

    def note(self, remark: Any, request: Any = None) -> None:
        """Keep a remark with the study ("changed the nozzle"); it changes nothing else."""
        self._happen("noted", {"text": text("text", remark)}, request)

    def undo(self, event: Any = None, request: Any = None) -> None:
        """Take back the last reward or failure; its choice waits again, if it was handed out.

        Args:
            event: The number of that entry, to be sure that nothing came in between.
            request: An id for this call. Repeating it changes nothing.
        """
        known = text_or_none("request", request)

        def attempt(holder: str | None) -> None:
            record = self._now()
            if not self._journal.answered(known):
                draft = taking_back(record, self._journal.events, event)
                self._append([draft], request=known, holder=holder)

        self._journal.insist(attempt)

    def choice(self, id: Any) -> Choice:
        """A choice that was made, by its lasting id."""
        self._now()
        return self._choice(id)

    def history(self) -> dict[str, list[Any]]:
        """All that happened: one row per event, ready for a data frame."""
        self._now()
        return history.columns(self.space, self._journal.events[1:])

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write the history as a table (.csv), or every event in full (.jsonl, JSON lines)."""
        self._now()
        history.export(Path(path), self.space, self._journal.events)

    def rename(self, name: Any) -> None:
        """Give the study another name, which nobody else has."""
        wanted = text("name", name)
        try:
            self._store.rename(self._journal.key, wanted)
        except Conflict as error:
            raise InputError(f"name is {name!r}; expected one that no other study has") from error
        self._name = wanted

    def delete(self, name: Any) -> None:
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

    def _happen(self, kind: str, contents: dict[str, Any], request: Any = None) -> None:
        known = text_or_none("request", request)

        def attempt(holder: str | None) -> None:
            self._now()
            before = self._journal.answered(known)
            if not before:
                self._append([(kind, contents)], request=known, holder=holder)
            elif [(event.kind, dict(event.contents)) for event in before] != [(kind, contents)]:
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
            record.fold(event, searches[place] if searches else None)
        taken = self._journal.append(drafts, **options)
        if taken[0].number > number:  # others came in between
            return self._now()
        self._journal.take_over(taken)
        self._record = record
        return record

    def _choice(self, number: Any) -> Choice:
        asked = self._journal.asked(number).contents
        return choice_of(self.space, self.space.point(asked["point"]), asked["why"], number=number)
