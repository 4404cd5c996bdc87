"""The contexts of a study as its model sees them: in bounds that may grow with what is seen."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from windfall.models.base import Belief
from windfall.space import Context, Space
from windfall.space.context import Frame, Seen
from windfall.space.joint import Joint
from windfall.study import compiled
from windfall.study.pull import Where
from windfall.study.record import Record

__all__ = ["Situations"]


class Situations:
    """Where a study has contexts, or payoffs may drift: the columns beside those of an arm.

    Args:
        space: What is chosen from.
        context: What is known before, if anything.
        timed: Whether the time is the last column.
    """

    def __init__(self, space: Space, context: Context | None, timed: bool):
        self.space, self.context, self.timed = space, context, timed
        self.frame = self._framed(None)

    def _framed(self, seen: Seen | None) -> Frame:
        frame = Frame() if self.context is None else self.context.frame(seen)
        return replace(frame, timed=self.timed)

    @property
    def joint(self) -> Joint | None:
        """What the model sees; None where no context has made a difference yet."""
        return Joint(self.space, self.context, self.frame) if self.frame.width else None

    def look(self, seen: Seen | None) -> tuple[bool, bool]:
        """See contexts within these bounds: whether these are new, and whether the columns are."""
        frame = self._framed(seen)
        if frame == self.frame:
            return False, False
        others = frame.since(self.frame.seen) is None
        self.frame = frame
        return True, others

    def beside(self, x: np.ndarray, wheres: Sequence[Where], times: Sequence[float]) -> np.ndarray:
        """Unit points with the columns of their contexts and times."""
        pairs = zip(wheres, times, strict=True)
        rows = [self._row(context, time) for (_, context), time in pairs]
        return np.concatenate([x, self.frame.unit(rows)], axis=1)

    def _row(self, context: tuple[float, ...] | None, time: float) -> tuple[float, ...]:
        known = () if context is None else context
        return (*known, time) if self.timed else known

    def at(self, belief: Belief, context: tuple[float, ...] | None, now: float) -> Belief:
        """A belief as it is seen in a context, and now, where these make a difference."""
        if not self.frame.width:
            return belief
        return compiled.situated(belief, self.frame.unit([self._row(context, now)])[0])

    def recalled(self, belief: Belief, record: Record) -> Belief | None:
        """A belief with the hyper-parameters of the last decision; None if it had other columns.

        Where the bounds of contexts have grown since, covariances stay as they were.
        """
        factors = self.frame.since(record.within)
        if factors is None:
            return None
        columns = np.concatenate([np.ones(self.space.dimension), factors])
        loaded = belief.load(record.belief)
        return loaded if np.all(columns == 1.0) else loaded.stretched(columns)
