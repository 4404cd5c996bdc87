"""Payoff functions drawn from a sparse posterior; ``windfall.models.gp.sparse`` has the symbols.

Matheron's rule: a prior function f₀ of random features has g₀ = k(x, Z)K⁻¹f₀(Z), and the rest of it
is the h of whatever was not tried early; early inputs have an h of their own. What rewards say of
the difference between truth and draw is added.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Float, PRNGKeyArray

from windfall.models.base import Path
from windfall.models.blocks import in_blocks
from windfall.runtime.arrays import Array

if TYPE_CHECKING:
    from windfall.models.gp.sparse import Sparse

__all__ = ["SparsePath", "drawn"]


class SparsePath(Path):
    """A payoff function drawn from a sparse posterior.

    Attributes:
        posterior: What it was drawn from.
        features: Random features z of the kernel.
        weights: f₀ = z · weights.
        first: W f₀(Z): g₀ = v · first.
        change: What the rewards change in that.
        correction: What the latest say of h besides.
        own: The h that early inputs were given.
        heard: The same with noise.
        width: Numbers that are held per point.
    """

    posterior: Any
    features: Callable
    weights: Float[Array, " f"]
    first: Float[Array, " m"]
    change: Float[Array, " m"]
    correction: Float[Array, " l"]
    own: Float[Array, " c"]
    heard: Float[Array, " c"]
    width: int = eqx.field(static=True)

    def __call__(self, x):
        posterior, tried = self.posterior, self.posterior.finder()
        combine = posterior.combined(self.change, self.correction)
        start = self.first @ posterior.whitener

        def block(points):
            slot, early, gain, reward, _ = tried(points)
            cross, recent = posterior.crossed(points)
            change = combine(cross, recent, early)
            value = start @ cross + change
            known = value + self.own[slot] + gain * (reward - value - self.heard[slot])
            elsewhere = self.features(points) @ self.weights + change
            return posterior.in_reward_units(points, jnp.where(early, known, elsewhere))

        return in_blocks(block, x, self.width)


def drawn(
    posterior: "Sparse", key: PRNGKeyArray, anchors: Float[Array, "a d"], features: int
) -> SparsePath:
    """One payoff function; see ``Belief.sample``."""
    feature_key, weight_key, open_key, noise_key = jax.random.split(key, 4)
    data, sums, late = posterior.observations, posterior.sums, posterior.late
    whitener, dtype = posterior.whitener, posterior.whitener.dtype
    phi = posterior.kernel.random_features(feature_key, features, anchors)
    weights = jax.random.normal(weight_key, (features,), dtype) / jnp.sqrt(features)
    noise = data.noise(posterior.hyper.noise)
    own = jnp.sqrt(sums.open) * jax.random.normal(open_key, noise.shape, dtype)
    scatter = jnp.sqrt(noise) * jax.random.normal(noise_key, noise.shape, dtype)
    first = whitener @ jnp.where(posterior.there, phi(posterior.inducing) @ weights, 0.0)
    cross, _ = posterior.crossed(data.features)
    residual = data.mean - (first @ whitener) @ cross - own - scatter
    precision = jnp.where(posterior.early, 1.0 / (sums.open + noise), 0.0)
    change = sums.root @ (whitener @ (cross @ (precision * residual)))
    # The latest rewards, given what the early ones make of the draw.
    slots = jnp.minimum(late.begin + jnp.arange(len(late.live)), data.capacity - 1)
    away = jnp.asarray(data.mean)[slots] - phi(late.x) @ weights - scatter[slots]
    away = jnp.where(late.live, away - late.turned.T @ change, 0.0)
    correction = (late.whitener @ away) @ late.whitener
    change = (change + late.turned @ correction) @ sums.root
    width = max(2 * posterior.width, features, anchors.shape[0])
    heard = own + scatter
    return SparsePath(posterior, phi, weights, first, change, correction, own, heard, width)
