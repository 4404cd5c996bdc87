"""What a model sees where there are contexts: the columns of an arm, then those of the context."""

from dataclasses import replace

import numpy as np

from windfall.space.base import Apart, Inputs, Space
from windfall.space.context import Context, Frame

__all__ = ["Joint"]


class Joint(Inputs):
    """The columns of a space, then those of a context in a frame.

    Args:
        space: What is chosen from.
        context: What is known before.
        frame: The context's columns.

    Example:
        >>> from windfall.space import Arms
        >>> context = Context(["load"])
        >>> Joint(Arms([[0.0], [1.0]]), context, context.frame(((0.0,), (9.0,)))).dimension
        2
    """

    def __init__(self, space: Space, context: Context | None, frame: Frame):
        self.space, self.frame, self.context = space, frame, context
        self.additive = context is not None and context.additive

    @property
    def dimension(self) -> int:
        return self.space.dimension + self.frame.width

    @property
    def ties(self) -> tuple[int, ...] | None:
        """Those of the arms, then those of the context."""
        own = self.space.ties or tuple(range(self.space.dimension))
        joined = (*own, *(own[-1] + 1 + group for group in self.frame.groups))
        return joined if joined[-1] + 1 < len(joined) else None

    @property
    def apart(self) -> Apart | None:
        """Where the context begins, if it has any columns."""
        if not self.frame.width:
            return None
        one_choice = self.space.arms is not None and self.space.ties == (0,) * self.space.dimension
        return Apart(self.space.dimension, self.additive, one_choice)

    @property
    def length(self) -> int:
        return self.space.length

    @property
    def untimed(self) -> Inputs:
        """The same without the time; the space itself where nothing else is left."""
        if not self.frame.timed:
            return self
        frame = replace(self.frame, timed=False)
        return Joint(self.space, self.context, frame) if frame.width else self.space

    def anchors(self, most: int = 512) -> np.ndarray:
        """Those of the arms, each in a context of its own that is drawn at random."""
        own = self.space.anchors(most)
        drawn = np.random.default_rng(0).uniform(size=(len(own), self.frame.width))
        return np.concatenate([own, drawn], axis=1)
