"""Room for the distinct inputs of a study, in a few sizes, and who has been in which."""

from windfall.models.base import Belief
from windfall.models.capacity import BUCKETS, REGION_BUCKETS, bucket
from windfall.runtime.compilation import relieve_memory_maps
from windfall.space import Space

__all__ = ["Room"]


class Room:
    """The sizes that there are for a space, and those that were used.

    Attributes:
        sizes: All of them, smallest first; beyond the largest there are its multiples.
        rehearsed: Those for which the programs of a decision have been compiled.

    Example:
        >>> from windfall.space import Box
        >>> Room(Box([0.0], [1.0])).size(65)
        128
    """

    def __init__(self, space: Space):
        self.sizes = REGION_BUCKETS if space.arms is None else BUCKETS
        self.rehearsed: set[int] = set()
        self._used: set[int] = set()

    def size(self, inputs: int) -> int:
        """The smallest that holds so many."""
        return bucket(inputs, self.sizes)

    def fitting(self, belief: Belief, inputs: int) -> Belief:
        """A belief with as much room as so many inputs need, and no more.

        What a study can be resumed from does not say how much room it once had.
        """
        size = self.size(inputs)
        if belief.capacity is None or belief.capacity == size:
            return belief
        if size not in self._used:
            self._used.add(size)
            relieve_memory_maps()
        return belief.resized(size)
