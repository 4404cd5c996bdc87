"""A first look with a sparse model; ``windfall.models.gp.sparse`` has the symbols.

The mean of what was not tried early is a sum over the kernels of Z and of the latest inputs L,
whose rewards say k of it. An early input knows its own rewards, and of L what it says of g alone,
which differs from that sum by r(x, L) α, at most Σ|α| √(d(L) d(x)) (Cauchy and Schwarz). If jitter
or rounding leave the variance d open at an input z of Z, cov(f(x), f(z)) is off by no more than
√(d k(x, x)).
"""

from typing import TYPE_CHECKING

import jax.numpy as jnp
from jaxtyping import Float

from windfall.models.glance import Glance
from windfall.models.gp.ceiling import WIDE, Carriers, sweep
from windfall.runtime.arrays import Array

if TYPE_CHECKING:
    from windfall.models.gp.sparse import Sparse

__all__ = ["carriers", "ceiling"]


def ceiling(
    posterior: "Sparse", x: Float[Array, "m d"], glance: Glance
) -> tuple[Float[Array, " m"], Float[Array, " m"]] | None:
    """No less than μ and σ at some points; None where nobody knows how kernel or mean round."""
    late = posterior.late
    level = posterior.level - late.white @ late.weights
    weights = jnp.concatenate([level @ posterior.whitener, late.weights])
    seen = sweep(posterior, weights, glance)
    if seen is None:
        return None
    slot, early, gain, reward, noise = posterior.finder()(x)
    prior = posterior.kernel.diagonal(x)
    left = jnp.where(early, prior * noise / (prior + noise), prior - seen.explained)
    left = jnp.maximum(left, posterior.least_variance(prior))
    apart = jnp.abs(late.weights) @ jnp.sqrt(posterior.late_open())
    total = seen.total + jnp.where(early, apart * jnp.sqrt(posterior.sums.open[slot]), 0.0)
    mean = posterior.in_reward_units(x, total + gain * (reward - total))
    return mean, posterior.scale.spread * jnp.sqrt(left)


def carriers(posterior: "Sparse") -> Carriers:
    """Z, as far as it was tried early, and L."""
    late, inducing = posterior.late, posterior.inducing
    slot, there, _, _, noise = posterior.finder()(inducing)
    gap = jnp.sqrt(posterior.sums.open[slot] / posterior.kernel.diagonal(inducing))
    counts = there & posterior.there & (gap <= WIDE)
    noise = jnp.concatenate(
        [jnp.where(counts, noise, jnp.inf), jnp.where(late.live, late.noise, jnp.inf)]
    )
    inputs = jnp.concatenate([inducing, late.x])
    return Carriers(inputs, noise, len(inputs), jnp.max(jnp.where(counts, gap, 0.0)))
