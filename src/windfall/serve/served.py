"""A study as a server sees it: with its events, and what clients have drafted for it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from windfall.checks import known_name, numbers_or_none, shown, whole
from windfall.errors import InputError
from windfall.study.choice import Holder
from windfall.study.events import Event
from windfall.study.opening import text
from windfall.study.record import Record
from windfall.study.stores import Conflict
from windfall.study.stores.base import Draft
from windfall.study.study import Study
from windfall.study.undo import last_entry, taking_back

__all__ = ["ServedStudy"]

#: What clients may let happen by themselves.
_TAKEN = ("told", "failed", "forgotten", "undone", "noted", "added", "retired")


class ServedStudy(Study):
    """A study with what its clients need besides."""

    _believed: tuple[int, dict[str, np.ndarray]] | None = None

    @property
    def events(self) -> Sequence[Event]:
        """All that happened, the study's creation first; not to be changed."""
        self._now()
        return self._journal.events

    @property
    def record(self) -> Record:
        """What they add up to; not to be changed."""
        return self._now()

    @property
    def leases(self) -> dict[int, Holder]:
        """Who has a choice and until when, by its id, where somebody said so."""
        return self._now().holders

    def predicted(self, number: int) -> dict[str, Any]:
        """What was predicted of a choice when it was made, by its id; nothing of the first ones."""
        return self._journal.asked(number).contents.get("predicted", {})

    @property
    def means(self) -> dict[Any, tuple[float, int]]:
        """Mean reward and number of pulls of every point told."""
        return self._now().means()

    @property
    def last_entry(self) -> int | None:
        """The number of the last reward or failure that still counts, which can be undone."""
        entry = last_entry(self._now(), self._journal.events)
        return None if entry is None else entry.number

    def take(self, drafts: Sequence[Draft], after: int | None, **options: Any) -> Sequence[Event]:
        """Let events happen that a client has drafted; arguments as for ``Store.append``.

        What could not happen to this study is refused: the store would take it. Choices are made
        here and nowhere else, with what they rest on.
        """
        record = self._now().copy()
        last = len(self._journal.events) - 1
        if after not in (None, last) or self._journal.answered(options.get("request")):
            raise Conflict
        for number, (kind, contents) in enumerate(drafts, last + 1):
            known_name("kind", kind, _TAKEN)
            if contents.get("id") is not None:
                whole("id", contents["id"], 0)
            if kind == "noted":
                text("text", contents.get("text"))
            if kind == "undone":
                undone = taking_back(record, self._journal.events, contents.get("event"))
                if undone != (kind, contents):  # which choice waits again is not for clients to say
                    raise InputError(f"undone is {shown(contents)}; expected {shown(undone[1])}")
            record.admit(Event(number, kind, contents))
        taken = self._store.append(self._journal.key, drafts, after=after, **options)
        self._now()
        return taken

    def believed(self, what: str, points: Any, context: Any = None) -> dict[str, np.ndarray]:
        """What is believed about unit points in a context: "moments" or the whole "table"."""
        x = numbers_or_none(points)
        if x is None or x.ndim != 2 or x.shape[1] != self.space.dimension or not len(x):
            raise InputError(
                f"points is {shown(points)}; expected rows of {self.space.dimension} numbers"
            )
        record, here = self._rewarded("posterior"), self._context(context)
        if what == "table":
            return self._decider.table(record, x, here)
        mean, deviation = self._decider.moments(record, x, here)
        return {"mean": mean, "std": deviation}

    @property
    def last_context(self) -> dict[str, Any] | None:
        """That of the last reward, by name; None where there is none."""
        told = self.record.told
        last = told[-1].context if told else None
        return None if self.context is None or last is None else self.context.named(last)

    def beliefs(self) -> dict[str, np.ndarray]:
        """What is believed about every arm, or point told; kept until something happens.

        In a study with contexts: in the one of the last reward.
        """
        happened = len(self.events)
        if self._believed is None or self._believed[0] != happened:
            self._rewarded("explain")
            table = self.explain(context=self.last_context)
            names = ("mean", "std", "ratio", "acquisition")
            self._believed = happened, {name: table[name] for name in names}
        return self._believed[1]
