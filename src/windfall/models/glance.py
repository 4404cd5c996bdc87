"""A first look at many points: single precision, feature by feature, and how far off that may be.

Most arms of a long list are far from winning, which a rough look can tell with certainty: whoever
looks says how much too high an answer may have to be taken so that the true one is not above it.
"""

import equinox as eqx
import numpy as np
from jaxtyping import Float

from windfall.runtime.arrays import Array

__all__ = ["UNIT", "Glance"]

#: Half the distance from 1 to the next number in single precision: the error of one rounding.
UNIT = 2.0**-24


class Glance(eqx.Module):
    """Points of the unit box in single precision.

    Attributes:
        x: A row for each feature: neighbours in memory are what processors compute at once.
        reach: The largest size of each feature, among all points that are ever looked at.
    """

    x: Float[Array, "d m"]
    reach: Float[Array, " d"]

    @classmethod
    def blocks(cls, points: np.ndarray, rows: int) -> "Glance":
        """A stack of glances at so many neighbouring points each; the last two may overlap.

        Example:
            >>> Glance.blocks(np.array([[0.0], [0.25], [0.5]]), 2).x.tolist()
            [[[0.0, 0.25]], [[0.25, 0.5]]]
        """
        starts = cls.starts(len(points), rows)
        x = np.stack([points[at : at + rows].T.astype(np.float32) for at in starts])
        return cls.stack(x, np.abs(points).max(axis=0))

    @classmethod
    def stack(cls, x: Float[Array, "b d m"], reach: Float[Array, " d"]) -> "Glance":
        """Several glances, one after the other."""
        # Not by the constructor: a stack has other shapes than it is annotated with.
        one = cls(np.zeros((len(reach), 0), np.float32), np.zeros(len(reach)))
        return eqx.tree_at(lambda glance: (glance.x, glance.reach), one, (x, reach))

    @staticmethod
    def starts(points: int, rows: int) -> np.ndarray:
        """Where the blocks begin."""
        return np.minimum(np.arange(0, points, rows), points - rows)
