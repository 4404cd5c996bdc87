"""No more than this: bounds of mean and deviation at many points, from a first look at them.

One pass over the inputs in single precision, nothing of size n × m is made. With k̂ what single
precision makes of k = v c, |k̂ − k| ≤ δ v, the mean μ = Σ α_i k(x_i, x) is at most Σ α_i k̂_i +
δ v Σ|α_i|. And the reward of one input alone explains some of the variance that all of them
explain, so that σ²(x) ≤ k(x, x) − max_i k(x_i, x)²/A_ii: O(n) for a point in place of O(n²).

A plane beside such a kernel, s (x − ½)·(x' − ½), adds s (x − ½)·Σ α_i (x_i − ½) to the mean, which
is one sum for all points, and to each covariance what a few multiplications take. Main effects
(``MainEffects``) take a correlation for each feature.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from windfall.models.glance import UNIT, Glance, pass_over
from windfall.models.gp.kernels import (
    MainEffects,
    Matern12,
    Matern32,
    Matern52,
    RationalQuadratic,
    SquaredExponential,
    Stationary,
    Sum,
    Trend,
)
from windfall.models.gp.means import Zero
from windfall.runtime.arrays import Array
from windfall.runtime.modules import Module

if TYPE_CHECKING:
    from windfall.models.gp.posterior import Posterior

__all__ = ["WIDE", "Carriers", "Sweep", "ceiling", "rounding", "sweep"]

#: Kernels whose rounding is known (see ``rounding``); a user's own may do anything.
_KNOWN = (Matern12, Matern32, Matern52, RationalQuadratic, SquaredExponential)
#: An input with a wider ``gap`` than this explains nothing that is worth having.
WIDE = 1e-3


class Carriers(Module):
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


class Sweep(Module):
    """What a pass over the inputs gives, for each point.

    Attributes:
        total: No less than Σ w_i k(x_i, x).
        explained: No more than max_i k(x_i, x)²/A_ii.
    """

    total: Float[Array, " m"]
    explained: Float[Array, " m"]


def ceiling(
    posterior: "Posterior", x: Float[Array, "m d"], glance: Glance
) -> tuple[Array, Array] | None:
    """No less than μ and σ at some points; None where nobody knows how kernel or mean round."""
    seen = sweep(posterior, posterior.weights, glance)
    if seen is None:
        return None
    prior = posterior.kernel.diagonal(x)
    left = jnp.maximum(prior - seen.explained, posterior.least_variance(prior))
    scale = posterior.scale
    return scale.location + scale.spread * seen.total, scale.spread * jnp.sqrt(left)


def sweep(posterior: "Posterior", weights: Float[Array, " c"], glance: Glance) -> Sweep | None:
    """A pass over the inputs with a weight for each; None as for ``ceiling``."""
    parts = _parts(posterior.kernel)
    if parts is None or not isinstance(posterior.trend, Zero):
        return None
    bumps, plane, alone = parts
    carriers, variance = posterior.carriers(), bumps.variance
    prior = posterior.kernel.diagonal(carriers.inputs)
    sharpness = jnp.sqrt(variance / (prior + carriers.noise))
    tilt = None if plane is None else plane.slope / variance
    rough = jax.tree.map(lambda a: jnp.asarray(a, jnp.float32), bumps)
    inverse = jnp.broadcast_to(rough.lengthscale**-2, glance.reach.shape)
    inputs, sharp = (jnp.asarray(a, jnp.float32) for a in (carriers.inputs, sharpness))
    columns = range(len(inverse))
    lone = None if alone is None else Lone.of(alone, len(inverse))

    def look(input, weight, sharp):
        """What one input adds to the mean of every point, and how near it is to each."""
        apart = [inverse[j] * (input[j] - glance.x[j]) ** 2 for j in columns]
        correlation = rough.glance(sum(apart[1:], apart[0]))
        if lone is not None:
            correlation = correlation + lone.look(rough, apart, input, glance)
        # In double precision: many large terms may cancel.
        share = weight * correlation.astype(weights.dtype)
        if tilt is not None:
            here = tilt.astype(jnp.float32) * (input - 0.5)
            for j in columns:
                correlation = correlation + here[j] * (glance.x[j] - 0.5)
        return share, sharp * correlation

    total, nearest = pass_over(look, (inputs, weights, sharp), carriers.rows)
    counted = jnp.where(jnp.arange(len(weights)) < carriers.rows, weights, 0.0)
    off = rounding(bumps, glance)
    if lone is not None:
        off = off + lone.rounding(bumps, glance)
    total = total + off * jnp.sum(jnp.abs(counted))
    if tilt is not None:
        total = total + tilt * _tilted(counted @ (carriers.inputs - 0.5), glance)
        off = off + tilt * plane_rounding(glance)
    # Neither prior is above this: the gap is one of correlations.
    widest = variance + (0.0 if plane is None else plane.slope * jnp.sum(_half_box(glance) ** 2))
    widest = widest + (0.0 if lone is None else lone.most(glance) * variance)
    off = off + carriers.gap * widest / variance
    nearest = jnp.maximum(nearest.astype(total.dtype) - off, 0.0)
    return Sweep(variance * total, variance * nearest**2)


class Lone(NamedTuple):
    """Main effects, as a look sees them.

    Attributes:
        level: The variance of one factor's function, in units of the kernel's.
        stretch: By how much squared distances along one feature count for more: F.
        features: The columns that count each for itself.
        options: The columns of all choices.
    """

    level: Float[Array, ""]
    stretch: int
    features: list[int]
    options: list[int]

    @classmethod
    def of(cls, kernel: MainEffects, dimension: int) -> "Lone":
        factors = kernel.factors(dimension)
        level = kernel.effect / (factors * kernel.kernel.variance)
        return cls(level, factors, kernel.features(dimension), kernel.options.tolist())

    def look(self, rough: Stationary, apart: list[Array], input: Array, glance: Glance) -> Array:
        """What the factors add to a correlation, given r² along each column."""
        each = [rough.glance(self.stretch * apart[j]) for j in self.features]
        each += [input[j] * glance.x[j] for j in self.options]
        return self.level.astype(jnp.float32) * sum(each[1:], each[0])

    def most(self, glance: Glance) -> Float[Array, ""]:
        """No less than what the factors can add."""
        return self.level * (len(self.features) + self._options(glance))

    def rounding(self, kernel: Stationary, glance: Glance) -> Float[Array, ""]:
        """How far off that may be.

        Each feature as a kernel of one feature would be (``rounding``), one product more included;
        products of options by 4u; the sum, its factor, and what it is added to by one unit of the
        sum so far for each term.
        """
        inverse = jnp.broadcast_to(1.0 / kernel.lengthscale, glance.reach.shape)
        far = np.sqrt(self.stretch) * jnp.sum(
            (glance.reach * inverse)[np.array(self.features, int)]
        )
        each = 4.0 * far + 36.0 * len(self.features) + 4.0 * self._options(glance)
        terms = len(self.features) + len(self.options) + 3.0
        return UNIT * (self.level * each + terms * (1.0 + self.most(glance)))

    def _options(self, glance: Glance) -> Float[Array, ""]:
        return jnp.sum(glance.reach[np.array(self.options, int)] ** 2)


def _parts(kernel: Any) -> tuple[Any, Trend | None, MainEffects | None] | None:
    """A stationary kernel whose rounding is known, and what is beside it; None for all others."""
    plane = kernel.right if isinstance(kernel, Sum) and isinstance(kernel.right, Trend) else None
    rest = kernel if plane is None else kernel.left
    alone = rest if isinstance(rest, MainEffects) else None
    bumps = rest if alone is None else alone.kernel
    return (bumps, plane, alone) if type(bumps) in _KNOWN else None


def _tilted(slopes: Float[Array, " d"], glance: Glance) -> Float[Array, " m"]:
    """No less than Σ_j slopes_j (x_j − ½), given points that were rounded to single precision."""
    level = sum(slopes[j] * (glance.x[j].astype(slopes.dtype) - 0.5) for j in range(len(slopes)))
    return level + 2.0 * UNIT * jnp.sum(jnp.abs(slopes) * glance.reach)


def _half_box(glance: Glance) -> Float[Array, " d"]:
    """The largest |x_j − ½|."""
    return glance.reach + 0.5


def plane_rounding(glance: Glance) -> Float[Array, ""]:
    """How far off (x − ½)·(x' − ½) may be when looked at in single precision.

    With |x_j| ≤ R_j and H = R + ½: both factors are off by u(R + H) ≤ 2uH, their product and the
    factor before it by 4uH² besides that, and d sums by du ΣH².
    """
    return UNIT * (12.0 + glance.reach.shape[0]) * jnp.sum(_half_box(glance) ** 2)


def rounding(kernel: Stationary, glance: Glance) -> Float[Array, ""]:
    """δ: how far off the correlation of two points may be when looked at in single precision.

    With the unit u of rounding and features no larger than R: differences of rounded features are
    off by 4uR, hence the distance by 4u‖R/l‖; weights, squares and their sum by (d + 4)u r; the
    profile by 4u r in what is exponentiated and 16u besides (a polynomial, the exponential
    itself, and a last factor). No profile falls faster than 1, nor faster than 1/r.
    """
    far = jnp.sqrt(jnp.sum((glance.reach / kernel.lengthscale) ** 2))
    return UNIT * (4.0 * far + glance.reach.shape[0] + 32.0)
