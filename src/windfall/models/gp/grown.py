"""An exact posterior of many inputs that is conditioned upon an earlier one.

A Cholesky factor costs O(n³) and its first rows do not change when inputs are added. With W₁ the
whitener of the earlier inputs, A₂ the covariance of the b latest and A₁₂ that between both,

    C = W₁ A₁₂,  W₂ = chol(A₂ − CᵀC)⁻¹,  W = [W₁ 0; −W₂CᵀW₁ W₂],

which is O(n²b). Which inputs are earlier is not what happened to be conditioned last, but for a
caller to say (``windfall.study.earlier``): a study that is opened again rounds alike.
"""

import dataclasses
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from windfall.models.gp.evidence import covariance
from windfall.models.gp.linalg import lower_product
from windfall.models.gp.posterior import Posterior, taken_over, whiten
from windfall.runtime.arrays import Array

__all__ = ["LATEST", "Grown"]

#: The most inputs that are added to an earlier factor; with more it is made anew.
LATEST = 64


class Grown(Posterior):
    """The posterior of ``Posterior``, to rounding, sooner.

    Attributes:
        earlier: The noise variances of the inputs on which the first rows of W rest; 0 for all
            other slots.
    """

    earlier: Float[Array, " c"]
    cumulative: ClassVar[bool] = True

    @property
    def weights(self):
        """α = A⁻¹ ȳ = (W ȳ)ᵀW: along the rows of W, which is many times as fast as across them."""
        y = jnp.where(self.observations.live, self.observations.mean, 0.0)
        return (self.whitener @ y) @ self.whitener

    def anew(self, hyper, observations, scale):
        """Other rewards; nothing is built upon unless hyper-parameters are what they were."""
        residual = self.trend.residual(observations)
        scaled = scale.apply(residual)
        noise, kept = scaled.noise(hyper.noise), jnp.asarray(self.earlier) > 0
        same = jnp.all(~kept | (self.earlier == noise))
        new = scaled.used - jnp.sum(kept)
        built = jnp.any(kept) & same & (new >= 0) & (new <= LATEST)
        found = dataclasses.replace(self, hyper=hyper, observations=scaled, scale=scale)

        def from_nothing():
            whitener, healthy = whiten(covariance(hyper, scaled, self.trend), scaled.live)
            return whitener, healthy, jnp.where(scaled.live, noise, 0.0)

        def upon():
            whitener, healthy = found.with_latest(kept)
            return whitener, self.healthy & healthy, jnp.asarray(self.earlier)

        whitener, healthy, earlier = jax.lax.cond(built, upon, from_nothing)
        return dataclasses.replace(found, whitener=whitener, healthy=healthy, earlier=earlier)

    def with_latest(self, kept: Bool[Array, " c"]) -> tuple[Float[Array, "c c"], Bool[Array, ""]]:
        """W with rows for all inputs beyond those that are kept, and whether there are such."""
        tried, whitener = self.observations, jnp.asarray(self.whitener)
        size = min(LATEST, tried.capacity)
        first = jnp.minimum(jnp.sum(kept), tried.capacity - size)
        slots = first + jnp.arange(size)
        new = tried.live[slots] & ~kept[slots]
        x = jnp.asarray(tried.features)[slots]
        between = jnp.where(kept[:, None] & new, self.cross(x), 0.0)
        white = jnp.where(kept[:, None], lower_product(whitener, between), 0.0)
        among = self.kernel.gram(x, x) + jnp.diag(tried.noise(self.hyper.noise)[slots])
        left = jnp.where(new[:, None] & new, among - white.T @ white, jnp.eye(size))
        corner, healthy = whiten(left, new)
        rows = -(corner @ white.T) @ whitener
        # The last columns may be those of earlier inputs, where there is no room for so many new.
        own = jax.lax.dynamic_slice(rows, (0, first), corner.shape)
        own = jnp.where(kept[slots], own, corner)
        rows = jax.lax.dynamic_update_slice(rows, own, (0, first))
        before = jax.lax.dynamic_slice(whitener, (first, 0), rows.shape)
        rows = jnp.where(kept[slots][:, None], before, rows)
        return jax.lax.dynamic_update_slice(whitener, rows, (first, 0)), healthy

    def extend(self, observations):
        """As without; nothing is built upon rewards that are imagined."""
        return super().extend(observations).forgetting()

    def upon(self, earlier):
        """With the factor of the other."""
        return taken_over(self, earlier, "whitener", "healthy", "earlier")

    def forgetting(self) -> "Grown":
        """Nothing is built upon a factor with other hyper-parameters."""
        return eqx.tree_at(lambda p: p.earlier, self, np.zeros(np.shape(self.earlier)))
