"""A payoff function that was drawn from a sparse posterior, as numbers."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Float

from windfall.models.base import Path
from windfall.models.blocks import in_blocks
from windfall.runtime.arrays import Array

__all__ = ["SparsePath"]


class SparsePath(Path):
    """A payoff function drawn from a sparse posterior.

    Attributes:
        posterior: What it was drawn from.
        features: Random features z of the kernel.
        weights: f₀ = z · weights.
        first: W f₀(Z): g₀ = v · first.
        change: What the rewards change in that.
        own: The h that tried inputs were given.
        heard: The same with noise.
        width: Numbers that are held per point.
    """

    posterior: Any
    features: Callable
    weights: Float[Array, " f"]
    first: Float[Array, " m"]
    change: Float[Array, " m"]
    own: Float[Array, " c"]
    heard: Float[Array, " c"]
    width: int = eqx.field(static=True)

    def __call__(self, x):
        posterior, tried = self.posterior, self.posterior.finder()

        def block(points):
            white = posterior.white(points)
            slot, there, gain, reward, _ = tried(points)
            value = (self.first + self.change) @ white
            known = value + self.own[slot] + gain * (reward - value - self.heard[slot])
            elsewhere = self.features(points) @ self.weights + self.change @ white
            return posterior.in_reward_units(points, jnp.where(there, known, elsewhere))

        return in_blocks(block, x, self.width)
