"""Studies that last: kept in a store, shared by many workers."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, overload

from windfall.checks import number, whole
from windfall.runtime.given import Chosen, Known, Names, Number, Numbers, StoreLike, Text, Whole
from windfall.study import transfer
from windfall.study.choice import Choice
from windfall.study.events import Event
from windfall.study.kept import KeptSession
from windfall.study.opening import text, text_or_none
from windfall.study.stores import Store, open_store
from windfall.study.stores.base import DecidingStore
from windfall.study.undo import taking_back

__all__ = ["Study"]


class Study(KeptSession):
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
        goal: "reward" or "best", as for ``wf.Bandit``; so are ``budget``, ``repeats``,
            ``kernel_matrix``, ``context`` and ``drift``.
        store: A file, ``postgresql://…``, the address of a windfall server (http://…), or a
            ``Store``.
        token: What the server wants to see; by default the environment's ``WINDFALL_TOKEN``.
        seed: Determines every choice; 0 unless given.
        initial: How many choices come before the policy takes over.
        about: What else must be the same whenever the study is opened with it, as JSON holds it.

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

    def __enter__(self) -> "Study":
        return self

    @classmethod
    def restore(
        cls, path: str | os.PathLike[str], name: Text, *, store: StoreLike = "windfall.db"
    ) -> "Study":
        """A study as ``export`` wrote it to a .jsonl file, under a name that is free.

        Args:
            path: The file.
            name: Of the study that is made.
            store: Where it is made: a file, ``postgresql://…`` or a ``Store``.
        """
        wanted, events = text("name", name), transfer.events_of(Path(path))
        opened = open_store(store, create=True)
        try:
            transfer.put(events, opened, wanted)
        finally:
            if not isinstance(store, Store):
                opened.close()
        return cls(wanted, store=store)

    @overload
    def ask(
        self,
        n: None = None,
        worker: Text | None = None,
        lease: Number | None = None,
        request: Text | None = None,
        *,
        context: Known | None = None,
        among: Numbers | None = None,
    ) -> Choice: ...
    @overload
    def ask(
        self,
        n: int,
        worker: Text | None = None,
        lease: Number | None = None,
        request: Text | None = None,
        *,
        context: Known | None = None,
        among: Numbers | None = None,
    ) -> list[Choice]: ...
    def ask(
        self,
        n: Whole | None = None,
        worker: Text | None = None,
        lease: Number | None = None,
        request: Text | None = None,
        *,
        context: Known | None = None,
        among: Numbers | None = None,
    ) -> Choice | list[Choice]:
        """What to try next: a choice, or a list of n.

        Without n, worker and lease it only looks, and everybody is told the same (in the same
        context, among the same arms) until something happens. With one of them it hands out: nobody
        else is given these choices, and the next ones account for them, until they are told,
        failed, forgotten or their lease has run out.

        Args:
            n: Hand out so many different choices.
            worker: Who asks. One who asks again is given back the choices that he still has, and
                new ones only for what is lacking.
            lease: After so many seconds the choice is free again; a reward that comes later counts
                all the same.
            request: An id for this call. Repeating it, when an answer was lost, gives the same
                answer.
            context: As for ``wf.Bandit.ask``. A worker is given back choices of this context only.
            among: As for ``wf.Bandit.ask``.
        """
        wanted = 1 if n is None else whole("n", n, 1)
        held = not (n is None and worker is None and lease is None)
        worker, request = text_or_none("worker", worker), text_or_none("request", request)
        seconds = None if lease is None else float(number("lease", 0.0, strict=True)(lease))
        if isinstance(self._store, DecidingStore):  # there, and for all who ask at once
            self._now()
            wish = self._request(wanted, context, among)
            how = {"worker": worker, "lease": seconds, "request": request, **wish.plain()}
            made = self._store.ask(self._journal.key, wanted if held else None, **how)
            self._now()
            there = [self._choice(number) for number in made]
            return there[0] if n is None else there

        def attempt(holder: str | None) -> list[Choice]:
            record = self._now()
            if self._journal.answered(request):
                return [self._choice(i) for i in self._journal.handed_out(request)]
            wish = self._request(wanted, context, among)
            overdue = [("expired", {"id": i}) for i in record.overdue(self._store.now)]
            if overdue:
                record = self._append(overdue, holder=holder)
            proposed = record.offer == (wish.contexts[0], wish.among)
            if not held and record.proposal is not None and proposed:
                return [record.proposal]
            kept, left = wish.shared([] if worker is None else record.of_worker(worker))
            made = self._made(left, held=held)
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

        choices = self._journal.insist(attempt, decides=True)
        self._handed_out()
        return choices[0] if n is None else choices

    def tell(
        self,
        choice: Chosen,
        reward: Number,
        noise: Number | None = None,
        count: Whole | None = None,
        deviation: Number | None = None,
        request: Text | None = None,
        *,
        context: Known | None = None,
        at: Number | None = None,
    ) -> None:
        """Record a reward, as ``wf.Bandit.tell``.

        Args:
            choice: A choice, the number of an arm, values by name, or the features in order.
            reward: What it paid.
            noise: The standard deviation of this reward's noise, if it is known.
            count: The reward is the mean of so many replicates.
            deviation: The sample deviation of these replicates (divided by count − 1).
            request: An id for this call. Repeating it changes nothing.
            context: What was known before, in a study with contexts; a choice has its own.
            at: When it came, as for ``wf.Bandit.tell``.
        """
        paid = (reward, noise, count, deviation)
        implied = ("at",) if at is None else ()
        self._happen(
            "told", lambda: self._paid(choice, *paid, context=context, at=at), request, implied
        )

    def fail(
        self,
        choice: Chosen,
        request: Text | None = None,
        why: Text | None = None,
        *,
        context: Known | None = None,
    ) -> None:
        """Record that a pull failed, as ``wf.Bandit.fail``.

        Args:
            choice: As for ``tell``.
            request: An id for this call. Repeating it changes nothing.
            why: What went wrong, for the history.
            context: As for ``tell``.
        """
        reason = {} if why is None else {"why": text("why", why)}
        self._happen("failed", lambda: self._meant(choice, context) | reason, request)

    def forget(
        self, choice: Chosen, request: Text | None = None, *, context: Known | None = None
    ) -> None:
        """A choice will never be told, or failed by accident: drop it."""
        self._happen("forgotten", lambda: self._meant(choice, context), request)

    def add_arms(
        self, features: Numbers, names: Names | Text | None = None, request: Text | None = None
    ) -> list[int]:
        """Add arms to the list, as ``wf.Bandit.add_arms``; repeating a request changes nothing."""
        event = self._once("added", lambda: self._enlarged(features, names), request)
        earlier = sum(event.kind == "added" for event in self._journal.events[: event.number])
        return [*self._record.added[earlier]]

    def retire(self, arm: Chosen, request: Text | None = None) -> None:
        """An arm is no longer chosen, as ``wf.Bandit.retire``."""
        self._once("retired", lambda: self._leaving(arm), request)

    def _once(self, kind: str, said: Callable[[], dict[str, Any]], request: Any) -> Event:
        """Let something happen that could not happen again, unless this request has led to it."""
        known = text_or_none("request", request)

        def attempt(holder: str | None) -> Event:
            self._now()
            before = self._journal.led_to(known, kind)
            if not before:
                self._append([(kind, said())], request=known, holder=holder)
            return before[-1] if before else self._journal.events[-1]

        return self._journal.insist(attempt)

    def undo(self, event: Whole | None = None, request: Text | None = None) -> None:
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

    def choice(self, id: Whole) -> Choice:
        """A choice that was made, by its lasting id."""
        self._now()
        return self._choice(id)

    def holders(self) -> list[tuple[Choice, str | None]]:
        """The pending choices, and who has each; None for nobody in particular."""
        record = self._now()
        held = ((choice, record.holders.get(i)) for i, (_, choice) in record.pending.items())
        return [(choice, holder and holder.worker) for choice, holder in held]

    def outcomes(self) -> list[tuple[dict[str, Any], float | None, str | None]]:
        """What came of every pull, in order: parameters, reward, and why where it failed."""
        counting = {pull.event for pull in self._now().told}  # less what was taken back
        pulls = [
            event.contents
            for event in self._journal.events
            if event.kind == "failed" or (event.kind == "told" and event.number in counting)
        ]
        space = self._record.space
        points = [space.point(contents["point"]) for contents in pulls]
        return [
            (space.named(space.features(point)), contents.get("reward"), contents.get("why"))
            for point, contents in zip(points, pulls, strict=True)
        ]

    def _choice(self, number: Any) -> Choice:
        asked = self._journal.asked(number).contents
        record = self._record
        return record.choice(record.where(asked), asked["why"], number=number)
