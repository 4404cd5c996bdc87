"""Whether the best reward stands alone: then it says nothing about what was not tried."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from windfall.models.gp.observations import LEAST_NOISE, Observations
from windfall.models.gp.posterior import Posterior
from windfall.runtime.arrays import Array

__all__ = ["NEARLY_ALL", "crowd", "standing_alone"]

#: Rewards nearer than this, in units of their spread, are alike.
_ALIKE = 0.1
#: The share of rewards that are alike from which the rest are windfalls. Of rewards that scatter
#: like a Gaussian at most a tenth or so are alike.
_MOST = 0.6
#: The share from which the rest is too little to fit anything to.
NEARLY_ALL = 0.9
#: The share of the best reward that its neighbours have to foresee, and that noise has to have in
#: the differences between inputs; and how sharp the boundaries of all shares are.
_HALF, _SHARPNESS = 0.5, 20.0
#: By how much the rewards have to be more probable with a kernel than without, in logarithms. Two
#: windfalls that happen to be neighbours give up to 4.
_CONVINCING = 5.0
#: So many pairs of rewards are compared: all, or each with some, evenly from first to last.
_ENOUGH = 2**20
#: Noise variances that are thought possible, each as much as the others, in units of the variance
#: of the rewards.
_LEVELS = np.geomspace(LEAST_NOISE, 1.0, 65)


def standing_alone(posterior: Posterior) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """How far the best reward is from telling anything about other inputs, from 0 to 1.

    Two doubts. That it is one of the windfalls that a Gaussian cannot foresee: most of the rewards
    are alike, and the others do not explain it. And that it is mere luck: the differences between
    inputs are not larger than noise, and have no structure.

    There is structure if the rewards are far more probable with the kernel than if every input were
    for itself, with payoffs of the variance v that noise leaves of all differences, here 1:

        s = log N(ȳ; 0, K + σ² diag(1/n)) − Σ log N(ȳ_i; 0, v + σ²/n_i),   v = 1 − σ² Σ (1/n_i)/N.

    The best reward is explained if there is structure, and what the others predict of it (from its
    leave-one-out residual e = α/diag A⁻¹) is more than half.
    """
    tried = posterior.observations
    y = jnp.where(tried.live, tried.mean, 0.0)
    top = jnp.argmax(jnp.where(tried.live, y, -jnp.inf))
    leads = y[top] > 0
    alone = posterior.left_out(top) / jnp.where(leads, y[top], 1.0)
    structured = jax.nn.sigmoid(_structure(posterior) - _CONVINCING)
    explained = structured * _beyond(1.0 - alone, _HALF)
    windfall = _beyond(crowd(tried), _MOST) * (1.0 - explained)
    luck = _beyond(_noise_share(posterior, top), _HALF) * (1.0 - structured)
    return jnp.where(leads, windfall, 0.0), jnp.where(leads, luck, 0.0)


def _beyond(share: Float[Array, ""], boundary: float) -> Float[Array, ""]:
    return jax.nn.sigmoid(_SHARPNESS * (share - boundary))


def crowd(tried: Observations) -> Float[Array, ""]:
    """The largest share of the other rewards that are like one of them."""
    y, live = jnp.asarray(tried.mean), tried.live
    some = slice(None, None, -(-(y.size**2) // _ENOUGH))
    alike = (jnp.abs(y[some, None] - y) < _ALIKE) & live[some, None] & live
    return (jnp.max(jnp.sum(alike, axis=1)) - 1) / jnp.maximum(tried.used - 1, 1)


def _noise_share(posterior: Posterior, slot: Int[Array, ""]) -> Float[Array, ""]:
    """The share of noise in the variance of a mean: as fitted, or as repeated pulls say, if larger.

    A prior that expects little noise is overruled by many repeated pulls only. Here all levels are
    equally probable beforehand, and the share is averaged over them: without repeated pulls it is
    small, and one that is as far off as another input would be makes it large.
    """
    tried = posterior.observations
    levels = _LEVELS * jnp.maximum(tried.within(), 1.0)
    squares, rewards = tried.scatter(jnp.ones(()))
    spare = rewards - tried.used
    weights = jax.nn.softmax(-0.5 * (squares / levels + spare * jnp.log(levels)))

    def share(variance):
        noise = tried.noise(variance)[slot]
        return noise / (noise + _left(tried, variance))

    return jnp.maximum(weights @ jax.vmap(share)(levels), share(posterior.hyper.noise))


def _structure(posterior: Posterior) -> Float[Array, ""]:
    """s: what the kernel makes of the rewards, compared with inputs that are for themselves."""
    tried, variance = posterior.observations, posterior.hyper.noise
    spread = jnp.where(tried.live, _left(tried, variance) + tried.noise(variance), 1.0)
    y = jnp.where(tried.live, tried.mean, 0.0)
    return posterior.log_density() + 0.5 * jnp.sum(y**2 / spread + jnp.log(spread))


def _left(tried: Observations, variance: Float[Array, ""]) -> Float[Array, ""]:
    """v: what noise leaves of the variance of all means."""
    noise = jnp.where(tried.live, tried.noise(variance), 0.0)
    return jnp.maximum(1.0 - jnp.sum(noise) / jnp.maximum(tried.used, 1), 0.0)
