"""Whether the best reward stands alone: then it says nothing about what was not tried."""

import jax
import jax.numpy as jnp
from jaxtyping import Float

from windfall.models.gp.posterior import Posterior
from windfall.runtime.arrays import Array

__all__ = ["standing_alone"]

#: Rewards nearer than this, in units of their spread, are alike.
_ALIKE = 0.1
#: The share of rewards that are alike from which the rest are windfalls, and how sharp that is. Of
#: rewards that scatter like a Gaussian at most a tenth or so are alike.
_MOST, _SHARPNESS = 0.6, 20.0
#: So many rewards, evenly from first to last, are asked how many others are like them.
_ENOUGH = 1024


def standing_alone(posterior: Posterior) -> Float[Array, ""]:
    """How far the best reward is from telling anything about other inputs, from 0 to 1.

    The share of it that the other rewards do not explain, squared, from leave-one-out residuals
    e = α/diag A⁻¹, times the larger of two doubts: that it is one of the windfalls that a Gaussian
    cannot foresee, since most of the rewards are alike; or mere noise.
    """
    tried = posterior.observations
    y = jnp.where(tried.live, tried.mean, 0.0)
    top = jnp.argmax(jnp.where(tried.live, y, -jnp.inf))
    alone = jnp.clip(posterior.left_out(top) / jnp.where(y[top] > 0, y[top], 1.0), 0.0, 1.0) ** 2

    some = slice(None, None, -(-y.size // _ENOUGH))
    alike = (jnp.abs(y[some, None] - y) < _ALIKE) & tried.live[some, None] & tried.live
    share = (jnp.max(jnp.sum(alike, axis=1)) - 1) / jnp.maximum(tried.used - 1, 1)
    windfall = jax.nn.sigmoid(_SHARPNESS * (share - _MOST))

    noise = tried.noise(posterior.hyper.noise)[top]
    payoffs = posterior.hyper.kernel.diagonal(jnp.asarray(tried.features)[top][None])[0]
    return alone * jnp.maximum(windfall, noise / (noise + payoffs))
