"""How the arms of a list lie, as far as a kernel has to know."""

from typing import NamedTuple

from windfall.models.gp.ties import choices_of
from windfall.space import Inputs

__all__ = ["Layout"]

#: Features are looked at one by one if there are no more of them, and in a list of arms no more
#: numbers in all: it takes as long as everything else together, for each.
_FACTORS, _NUMBERS = 32, 2**20
#: Arms are few if there are fewer of them, and far apart if there are fewer than so many to each
#: feature.
_FEW, _EACH = 1000, 10


class Layout(NamedTuple):
    """What may be said of arms besides how alike they are.

    Attributes:
        singly: Whether there is time to look at features one by one.
        scarce: Whether arms are few, far apart and no combinations of options: much may be between
            two of them that nobody will ever see.
    """

    singly: bool = True
    scarce: bool = False

    @classmethod
    def of(cls, space: Inputs) -> "Layout":
        """That of the inputs which a study begins with.

        Example:
            >>> import numpy as np
            >>> from windfall.space import Arms
            >>> rng = np.random.default_rng(0)
            >>> shapes = ((90, 2), (110, 2), (110, 3))
            >>> [Layout.of(Arms(rng.random(shape))).scarce for shape in shapes]
            [True, False, True]
        """
        factors = len(set(space.ties or range(space.dimension)))
        few = 0 < space.length < min(_FEW, _EACH ** min(factors, _FACTORS))
        return cls(
            factors <= _FACTORS and factors * space.length <= _NUMBERS,
            few and not choices_of(space.ties),
        )
