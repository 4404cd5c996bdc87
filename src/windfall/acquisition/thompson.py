"""Thompson sampling: maximise one function drawn from the posterior."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp

from windfall.acquisition.base import Acquisition, Score
from windfall.checks import whole_number
from windfall.models.blocks import in_blocks

__all__ = ["TS"]


class Draw(Score):
    """A payoff function drawn jointly over all points.

    Attributes:
        path: The function of one point, with all that it was drawn from as arrays: the score of one
            program can then be given to another.
        width: Numbers that it holds per point.
    """

    path: Callable
    width: int = eqx.field(static=True)

    def __call__(self, x):
        return in_blocks(jax.vmap(self.path), x, self.width)


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
        anchors = jnp.asarray(situation.anchors)
        draw = belief.sample(key, anchors, self.features)
        path = eqx.filter_closure_convert(lambda x: draw(x[None])[0], anchors[0])
        return Draw(path, max(self.features, belief.tried.x.shape[0], anchors.shape[0]))

    @property
    def averages(self) -> bool:
        """A draw from several beliefs is one from any of them; a mean of draws is no draw."""
        return False
