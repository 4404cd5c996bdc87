"""A kernel for payoffs that may jump, and that says something of points far away all the same."""

import equinox as eqx
import numpy as np
from jaxtyping import Float

from windfall.models.gp.kernels.base import Kernel
from windfall.models.gp.kernels.parameter import one_per_feature, parameter
from windfall.models.gp.kernels.stationary import Matern12
from windfall.runtime.arrays import Array

__all__ = ["Jumps"]

#: The least length scale that a search allows.
_LEAST = 5e-3


class Jumps(Kernel):
    """k = exp(−‖(x − x')/(1 + lengthscale)‖): rough, and no distance in the unit box is long.

    Where payoffs jump, the fit of a smooth kernel makes its length scales short, so that no point
    is blamed for what happens beyond a jump, and has to learn every corner anew. A rough one needs
    no short length scales: near points may differ, and far ones still count. A large length scale
    says that a column makes no difference.

    Example:
        >>> import numpy as np
        >>> round(float(Jumps(1.0)(np.zeros(1), np.ones(1))), 4)  # e^(−1/2)
        0.6065
    """

    lengthscale: Float[Array, ""] | Float[Array, " d"] = parameter("lengthscale", per_feature=True)

    @property
    def _plain(self) -> Matern12:
        return Matern12(1.0 + self.lengthscale, 1.0)

    def __call__(self, x1, x2):
        return self._plain(x1, x2)

    def gram(self, x1, x2):
        return self._plain.gram(x1, x2)

    def diagonal(self, x):
        return self._plain.diagonal(x)

    def random_features(self, key, count, anchors):
        return self._plain.random_features(key, count, anchors)

    def expanded(self, dimension):
        return Jumps(one_per_feature("lengthscale", self.lengthscale, dimension))

    def stretched(self, factors):
        """As near as length scales of no less than 1 come to it."""
        beyond = np.asarray(self.lengthscale)
        if not beyond.ndim:
            return self
        moved = np.maximum((1.0 + beyond) * factors - 1.0, _LEAST)
        return eqx.tree_at(lambda k: k.lengthscale, self, moved)
