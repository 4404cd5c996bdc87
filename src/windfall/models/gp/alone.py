"""Whether the best reward stands alone: then it says nothing about what was not tried."""

import jax
import jax.numpy as jnp
from jaxtyping import Float

from windfall.models.gp.posterior import Posterior
from windfall.runtime.arrays import Array

__all__ = ["standing_alone"]

#: Skewness from which payoffs are mostly alike with rare windfalls; one in six paying has 1.8, one
#: in ten 2.7, and hills that a grid resolves about 1.5.
_SKEWED = 2.2


def standing_alone(posterior: Posterior) -> Float[Array, ""]:
    """How far the best reward is from telling anything about other inputs, from 0 to 1.

    The share of it that the other rewards do not explain, squared, from leave-one-out residuals
    e = α/diag A⁻¹, times the larger of two doubts: that it is one of the windfalls that a Gaussian
    cannot foresee, since the rewards are as skewed as one among equals makes them; or mere noise.
    """
    tried = posterior.observations
    n = jnp.maximum(tried.used, 2)
    y = jnp.where(tried.live, tried.mean, 0.0)
    top = jnp.argmax(jnp.where(tried.live, y, -jnp.inf))
    column = posterior.whitener[:, top]
    residual = jnp.dot(column, posterior.whitener @ y) / jnp.dot(column, column)
    alone = jnp.clip(residual / jnp.where(y[top] > 0, y[top], 1.0), 0.0, 1.0) ** 2

    squares = jnp.sum(y**2)
    skewness = jnp.sqrt(n) * jnp.sum(y**3) / jnp.where(squares > 0, squares, 1.0) ** 1.5
    one_among_equals = (n - 2) / jnp.sqrt(n - 1.0)
    windfall = jax.nn.sigmoid(10.0 * (skewness - jnp.minimum(0.85 * one_among_equals, _SKEWED)))

    noise = tried.noise(posterior.hyper.noise)[top]
    payoffs = posterior.hyper.kernel.diagonal(tried.features[top][None])[0]
    return alone * jnp.maximum(windfall, noise / (noise + payoffs))
