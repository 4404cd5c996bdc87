"""A payoff function that was drawn from a posterior, as numbers: any program can evaluate it."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Float

from windfall.models.base import Path
from windfall.models.blocks import in_blocks
from windfall.models.glance import UNIT, Glance, pass_over
from windfall.models.gp.ceiling import sweep
from windfall.models.gp.kernels.stationary import Waves
from windfall.runtime.arrays import Array

__all__ = ["GPPath"]

#: cos(2πt) for |t| ≤ ½ as a polynomial of t²: in single precision off by less than 16 units of
#: rounding, and computed for many numbers at once, unlike XLA's own cosine.
_COSINE = (
    0.9999999890590232, -19.739204499453898, 64.93911745989449, -85.45013953085989,
    60.16763095073016, -25.96759924755882, 6.528658159937157,
)  # fmt: skip


class GPPath(Path):
    """f(x) = f₀(x) + Σ_i c_i k(x_i, x), f₀ = Σ_j w_j z_j(x) made of random features.

    Attributes:
        posterior: What it was drawn from.
        features: The map to z.
        weights: w.
        correction: c, by which f goes through (or near) the rewards.
        width: Numbers that are held per point.
    """

    posterior: Any
    features: Callable
    weights: Float[Array, " f"]
    correction: Float[Array, " c"]
    width: int = eqx.field(static=True)

    def __call__(self, x):
        def block(points):
            value = self.features(points) @ self.weights
            value = value + self.correction @ self.posterior.cross(points)
            return self.posterior.in_reward_units(points, value)

        return in_blocks(block, x, self.width)

    def ceiling(self, glance):
        """By a pass over inputs and features."""
        seen = sweep(self.posterior, self.correction, glance)
        if seen is None or not isinstance(self.features, Waves):
            return None
        scale = self.posterior.scale
        return scale.location + scale.spread * (seen.total + _swell(self, self.features, glance))


def _swell(path: GPPath, waves: Waves, glance: Glance) -> Float[Array, " m"]:
    """No less than Σ_j w_j z_j(x), z_j = a cos(ω_j·x + b_j), in single precision.

    A phase of t turns is off by (d + 8)u (|ω|·R + b)/2π, twice rounded features, products and sums
    included; no wave is off by more than 2a.
    """
    turns, begin = waves.frequencies / (2.0 * jnp.pi), waves.phases / (2.0 * jnp.pi)
    rough, start = turns.astype(jnp.float32), begin.astype(jnp.float32)

    def look(frequency, phase, weight):
        for i in range(glance.x.shape[0]):
            phase = phase + frequency[i] * glance.x[i]
        square = (phase - jnp.round(phase)) ** 2
        wave = jnp.full_like(square, _COSINE[-1])
        for coefficient in _COSINE[-2::-1]:
            wave = wave * square + coefficient
        return weight * wave.astype(path.weights.dtype), None

    total, _ = pass_over(look, (rough.T, start, path.weights), len(path.weights))
    furthest = glance.reach @ jnp.abs(turns) + jnp.abs(begin)
    off = 2.0 * jnp.pi * UNIT * (glance.x.shape[0] + 8.0) * furthest + 16.0 * UNIT
    most = jnp.sum(jnp.abs(path.weights) * jnp.minimum(off, 2.0))
    return waves.amplitude * (total + most)
