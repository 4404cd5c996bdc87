"""Thompson sampling: maximise one function drawn from the posterior."""

from collections.abc import Callable

import equinox as eqx

from windfall.acquisition.base import Acquisition, Score
from windfall.checks import whole_number

__all__ = ["TS"]


class Draw(Score):
    """A payoff function drawn jointly over all points."""

    path: Callable

    def __call__(self, x):
        return self.path(x)


class TS(Acquisition):
    """Thompson sampling: a(x) = f̃(x), f̃ a joint draw from the posterior.

    Attributes:
        features: Random features of the prior part of the draw.

    Example:
        >>> TS(features=256)
        TS(features=256)
    """

    features: int = eqx.field(
        static=True, converter=whole_number("features", 1, 2**20), default=512
    )

    def focus(self, key, belief, situation, setup):
        return Draw(belief.sample(key, situation.anchors, self.features))

    @property
    def averages(self) -> bool:
        """A draw from several beliefs is one from any of them; a mean of draws is no draw."""
        return False
