"""Thompson sampling: maximise one function drawn from the posterior."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp

from windfall.acquisition.base import Acquisition, Score
from windfall.checks import whole_number
from windfall.models.base import Path
from windfall.models.blocks import in_blocks

__all__ = ["TS"]


class Draw(Score):
    """A payoff function drawn jointly over all points."""

    path: Path

    def __call__(self, x):
        return self.path(x)

    def ceiling(self, x, glance):
        return self.path.ceiling(glance)

    @property
    def divisible(self):
        return not isinstance(self.path, Pointwise)


class Pointwise(Path):
    """A function of any kind.

    Attributes:
        function: Of one point, with all that it was drawn from as arrays: the score of one program
            can then be given to another.
        width: Numbers that it holds per point.
    """

    function: Callable
    width: int = eqx.field(static=True)

    def __call__(self, x):
        return in_blocks(jax.vmap(self.function), x, self.width)


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
        if isinstance(draw, Path) and all(eqx.is_array_like(a) for a in jax.tree.leaves(draw)):
            return Draw(draw)
        function = eqx.filter_closure_convert(lambda x: draw(x[None])[0], anchors[0])
        width = max(self.features, belief.tried.x.shape[0], anchors.shape[0])
        return Draw(Pointwise(function, width))

    @property
    def averages(self) -> bool:
        """A draw from several beliefs is one from any of them; a mean of draws is no draw."""
        return False
