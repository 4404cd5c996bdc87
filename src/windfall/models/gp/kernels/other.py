"""Kernels that are no function of the scaled distance: white, linear, a trend, periodic."""

import operator
from functools import reduce
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Float

from windfall.models.distances import same_points
from windfall.models.gp.kernels.base import Kernel
from windfall.models.gp.kernels.parameter import fixed_variance, one_per_feature, parameter
from windfall.models.gp.kernels.stationary import fourier_features
from windfall.runtime.arrays import Array

__all__ = ["Linear", "Own", "Periodic", "Trend", "White"]

#: With so few columns products are summed one by one, in the same pass over all pairs that computes
#: the kernel beside it; a product of matrices is a call of its own, and dearer than that.
_FEW_COLUMNS = 32


class _Same(Kernel):
    """k = variance where x = x', 0 elsewhere."""

    variance: eqx.AbstractVar[Any]

    def __call__(self, x1, x2):
        return self.variance * jnp.all(x1 == x2).astype(x1.dtype)

    def gram(self, x1, x2):
        return self.variance * same_points(x1, x2).astype(x1.dtype)

    def random_features(self, key, count, anchors):
        # cos(ω·x + b) with enormous ω is uncorrelated between any two points that differ.
        wild = 1e9 * jnp.ones(anchors.shape[1], anchors.dtype)
        return fourier_features(key, count, wild, self.variance, anchors.dtype)


class White(_Same):
    """k = variance where x = x', 0 elsewhere: payoffs that share nothing with their neighbours."""

    variance: Float[Array, ""] = parameter("variance")


class Own(_Same):
    """The same with a variance that is not searched for: what every arm has by itself, and no more.

    A few rewards hardly tell it from a shorter length scale, and the search would settle for none.

    Example:
        >>> x = jnp.array([[0.3], [0.4]])
        >>> Own(0.25).gram(x, x).tolist()
        [[0.25, 0.0], [0.0, 0.25]]
    """

    variance: float = eqx.field(static=True, converter=fixed_variance)


class Linear(Kernel):
    """k = Σ_d variance_d · x_d x'_d: Bayesian linear regression through the origin."""

    variance: Float[Array, ""] | Float[Array, " d"] = parameter("variance", per_feature=True)

    def __call__(self, x1, x2):
        return jnp.sum(self.variance * x1 * x2)

    def gram(self, x1, x2):
        return (x1 * self.variance) @ x2.T

    def random_features(self, key, count, anchors):
        slopes = jax.random.normal(key, (anchors.shape[1], count), anchors.dtype)
        return lambda x: (x * jnp.sqrt(self.variance)) @ slopes

    def expanded(self, dimension):
        return Linear(one_per_feature("variance", self.variance, dimension))


class Trend(Kernel):
    """k = slope · (x − ½)·(x' − ½): a plane through the middle of the unit box, of any direction.

    ``slope`` is the variance of each of its slopes.
    """

    slope: Float[Array, ""] = parameter("slope")

    def __call__(self, x1, x2):
        return self.slope * jnp.dot(x1 - 0.5, x2 - 0.5)

    def gram(self, x1, x2):
        a, b = x1 - 0.5, x2 - 0.5
        if a.shape[1] > _FEW_COLUMNS:
            return self.slope * (a @ b.T)
        products = (a[:, None, i] * b[None, :, i] for i in range(a.shape[1]))
        return self.slope * reduce(operator.add, products)

    def diagonal(self, x):
        return self.slope * jnp.sum((x - 0.5) ** 2, axis=1)

    def random_features(self, key, count, anchors):
        slopes = jax.random.normal(key, (anchors.shape[1], count), anchors.dtype)
        return lambda x: jnp.sqrt(self.slope) * ((x - 0.5) @ slopes)


class Periodic(Kernel):
    """k = variance · exp(−2 Σ_d sin²(π(x_d − x'_d)/period)/lengthscale_d²)."""

    period: Float[Array, ""] = parameter("period")
    lengthscale: Float[Array, ""] | Float[Array, " d"] = parameter("lengthscale", per_feature=True)
    variance: Float[Array, ""] = parameter("variance")

    def __call__(self, x1, x2):
        waves = jnp.sin(jnp.pi * (x1 - x2) / self.period) / self.lengthscale
        return self.variance * jnp.exp(-2.0 * jnp.sum(waves**2))

    def diagonal(self, x):
        return jnp.broadcast_to(self.variance, (x.shape[0],))

    def random_features(self, key, count, anchors):
        # A squared exponential on the circle (cos, sin): ‖u − u'‖² = 4 sin²(πΔ/period).
        inverse = 1.0 / jnp.broadcast_to(self.lengthscale, (anchors.shape[1],))
        features = fourier_features(
            key, count, jnp.concatenate([inverse, inverse]), self.variance, anchors.dtype
        )
        turns = 2.0 * jnp.pi / self.period
        return lambda x: features(jnp.concatenate([jnp.cos(turns * x), jnp.sin(turns * x)], 1))

    def expanded(self, dimension):
        scales = one_per_feature("lengthscale", self.lengthscale, dimension)
        return eqx.tree_at(lambda k: k.lengthscale, self, scales)
