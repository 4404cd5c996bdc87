"""No more than this: bounds of mean and deviation at many points, from a first look at them.

One pass over the inputs in single precision, nothing of size n × m is made. With k̂ what single
precision makes of k, |k̂ − k| ≤ δ k(x, x), the mean μ = Σ α_i k(x_i, x) is at most Σ α_i k̂_i +
δ k(x, x) Σ|α_i|. And the reward of one input alone explains some of the variance that all of them
explain, so that σ²(x) ≤ k(x, x) − max_i k(x_i, x)²/A_ii: O(n) for a point in place of O(n²).
"""

from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Float, Int

from windfall.models.glance import UNIT, Glance
from windfall.models.gp.kernels import (
    Matern12,
    Matern32,
    Matern52,
    RationalQuadratic,
    SquaredExponential,
    Stationary,
)
from windfall.models.gp.means import Zero
from windfall.runtime.arrays import Array

if TYPE_CHECKING:
    from windfall.models.gp.posterior import Posterior

__all__ = ["WIDE", "Carriers", "Sweep", "ceiling", "rounding", "sweep"]

#: Kernels whose rounding is known (see ``rounding``); a user's own may do anything.
_KNOWN = (Matern12, Matern32, Matern52, RationalQuadratic, SquaredExponential)
#: An input with a wider ``gap`` than this explains nothing that is worth having.
WIDE = 1e-3


class Carriers(eqx.Module):
    """Inputs whose kernels make up every mean.

    Attributes:
        inputs: Where they are.
        noise: The variance of the mean reward of each; ∞ for what is no input.
        rows: How many rows count.
        gap: The correlation of a payoff with such a reward may be less than the kernel's by this.
    """

    inputs: Float[Array, "n d"]
    noise: Float[Array, " n"]
    rows: int | Int[Array, ""]
    gap: float | Float[Array, ""] = 0.0


class Sweep(eqx.Module):
    """What a pass over the inputs gives, for each point.

    Attributes:
        total: No less than Σ w_i k(x_i, x).
        explained: No more than max_i k(x_i, x)²/A_ii, as a share of k(x, x).
    """

    total: Float[Array, " m"]
    explained: Float[Array, " m"]


def ceiling(posterior: "Posterior", glance: Glance) -> tuple[Array, Array] | None:
    """No less than μ and σ at some points; None where nobody knows how kernel or mean round."""
    seen = sweep(posterior, posterior.weights, glance)
    if seen is None:
        return None
    prior = posterior.hyper.kernel.diagonal(glance.x.T.astype(seen.total.dtype))
    left = jnp.maximum(prior * (1.0 - seen.explained), posterior.least_variance(prior))
    scale = posterior.scale
    return scale.location + scale.spread * seen.total, scale.spread * jnp.sqrt(left)


def sweep(posterior: "Posterior", weights: Float[Array, " c"], glance: Glance) -> Sweep | None:
    """A pass over the inputs with a weight for each; None as for ``ceiling``."""
    kernel: Any = posterior.kernel
    if type(kernel) not in _KNOWN or not isinstance(posterior.trend, Zero):
        return None
    carriers, variance = posterior.carriers(), kernel.variance
    sharpness = jnp.sqrt(variance / (variance + carriers.noise))
    rough = jax.tree.map(lambda a: jnp.asarray(a, jnp.float32), kernel)
    inverse = jnp.broadcast_to(rough.lengthscale**-2, glance.reach.shape)
    inputs, sharp = (jnp.asarray(a, jnp.float32) for a in (carriers.inputs, sharpness))

    def look(i, carry):
        total, nearest = carry
        apart = [inverse[j] * (inputs[i, j] - glance.x[j]) ** 2 for j in range(len(inverse))]
        correlation = rough.glance(sum(apart[1:], apart[0]))
        # In double precision: many large terms may cancel.
        total = total + weights[i] * correlation.astype(weights.dtype)
        return total, jnp.maximum(nearest, sharp[i] * correlation)

    nothing = jnp.zeros(glance.x.shape[1], jnp.float32)
    start = (nothing.astype(weights.dtype), nothing)
    total, nearest = jax.lax.fori_loop(0, carriers.rows, look, start)
    off = rounding(kernel, glance)
    most = off * jnp.sum(jnp.where(jnp.arange(len(weights)) < carriers.rows, jnp.abs(weights), 0.0))
    explained = jnp.maximum(nearest.astype(total.dtype) - off - carriers.gap, 0.0) ** 2
    return Sweep(variance * (total + most), explained)


def rounding(kernel: Stationary, glance: Glance) -> Float[Array, ""]:
    """δ: how far off the correlation of two points may be when looked at in single precision.

    With the unit u of rounding and features no larger than R: differences of rounded features are
    off by 4uR, hence the distance by 4u‖R/l‖; weights, squares and their sum by (d + 4)u r; the
    profile by 4u r in what is exponentiated and 16u besides (a polynomial, the exponential
    itself, and a last factor). No profile falls faster than 1, nor faster than 1/r.
    """
    far = jnp.sqrt(jnp.sum((glance.reach / kernel.lengthscale) ** 2))
    return UNIT * (4.0 * far + glance.reach.shape[0] + 32.0)
