"""The contexts of a study as its model sees them: in bounds that may grow with what is seen."""

from collections.abc import Sequence

import numpy as np

from windfall.models.base import Belief
from windfall.space import Context, Space
from windfall.space.context import Seen
from windfall.space.joint import Joint
from windfall.study import compiled
from windfall.study.pull import Where
from windfall.study.record import Record

__all__ = ["Situations"]


class Situations:
    """Where a study has contexts: the columns that stand beside those of an arm.

    Args:
        space: What is chosen from.
        context: What is known before.
    """

    def __init__(self, space: Space, context: Context):
        self.space, self.context = space, context
        self.frame = context.frame(None)

    @property
    def joint(self) -> Joint | None:
        """What the model sees; None where no context has made a difference yet."""
        return Joint(self.space, self.context, self.frame) if self.frame.width else None

    def look(self, seen: Seen | None) -> tuple[bool, bool]:
        """See contexts within these bounds: whether these are new, and whether the columns are."""
        frame = self.context.frame(seen)
        if frame == self.frame:
            return False, False
        others = frame.since(self.frame.seen) is None
        self.frame = frame
        return True, others

    def beside(self, x: np.ndarray, wheres: Sequence[Where]) -> np.ndarray:
        """Unit points with the columns of their contexts."""
        contexts = [context for _, context in wheres if context is not None]
        return np.concatenate([x, self.frame.unit(contexts)], axis=1)

    def at(self, belief: Belief, context: tuple[float, ...] | None) -> Belief:
        """A belief as it is seen in a context, where contexts make a difference."""
        if context is None or not self.frame.width:
            return belief
        return compiled.situated(belief, self.frame.unit([context])[0])

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
