"""A kernel of time: rewards age, and those from before a change say nothing; how fast, and when."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from windfall.models.gp.kernels import Kernel
from windfall.models.gp.observations import Observations
from windfall.runtime.arrays import Array

__all__ = ["Ageing", "alternatives"]

#: How long payoffs stay alike, in spans of all times; which share of rewards came before a change;
#: and how much of the still model's noise was no noise.
_SPANS = (4.0, 2.0, 1.0, 0.5, 0.25, 0.12, 0.06)
_SHARES = (0.2, 0.4, 0.55, 0.7, 0.8, 0.88, 0.94)
_NOISES = (1.0, 0.1, 0.01)


class Ageing(Kernel):
    """k(t, t') = exp(−rate |t − t'|) where both lie on one side of ``since``, else 0.

    With the rate 0 and ``since`` −∞ it is 1: nothing ages.

    Attributes:
        rate: How fast payoffs change, per unit of time.
        since: When they changed all at once; −∞ for never.
    """

    rate: Float[Array, ""]
    since: Float[Array, ""]

    def __call__(self, x1, x2):
        return self.gram(x1[None], x2[None])[0, 0]

    def gram(self, x1, x2):
        apart = jnp.abs(x1[:, None, 0] - x2[None, :, 0])
        same = (x1[:, None, 0] >= self.since) == (x2[None, :, 0] >= self.since)
        return jnp.where(same, jnp.exp(-self.rate * apart), 0.0)

    def diagonal(self, x):
        return jnp.ones(x.shape[0], x.dtype)

    def random_features(self, key, count, anchors):
        """√2 cos(ωt + b) with ω ~ rate · Cauchy, times a random sign on either side."""
        frequency_key, phase_key, sign_key = jax.random.split(key, 3)
        frequencies = self.rate * jax.random.cauchy(frequency_key, (count,), anchors.dtype)
        phases = jax.random.uniform(phase_key, (count,), anchors.dtype, 0.0, 2.0 * jnp.pi)
        signs = jax.random.rademacher(sign_key, (2, count), anchors.dtype)

        def features(x):
            side = (x[:, 0] >= self.since).astype(int)
            return jnp.sqrt(2.0) * jnp.cos(x[:, :1] * frequencies + phases) * signs[side]

        return features


def alternatives(
    rewards: Observations, noise: Float[Array, ""]
) -> tuple[Float[Array, " j"], Float[Array, " j"], Float[Array, " j"], Bool[Array, " j"]]:
    """Rates, changes, noises and whether the kernel is the first guess, to be compared."""
    times = rewards.features[:, -1]
    live = rewards.live
    first = jnp.min(jnp.where(live, times, jnp.inf))
    last = jnp.max(jnp.where(live, times, -jnp.inf))
    span = jnp.maximum(last - first, 1e-300)
    order = jnp.sort(jnp.where(live, times, jnp.inf))
    places = (np.array(_SHARES) * jnp.maximum(rewards.used, 1)).astype(int)
    rates = jnp.concatenate([1.0 / (np.array(_SPANS) * span), jnp.zeros(len(_SHARES))])
    changes = jnp.concatenate([jnp.full(len(_SPANS), -jnp.inf), order[places]])
    noises = jnp.maximum(noise * np.array(_NOISES), 1e-8)
    grid = jnp.meshgrid(np.arange(len(rates)), noises, np.array([False, True]), indexing="ij")
    place, noises, guessed = (part.reshape(-1) for part in grid)
    return rates[place], changes[place], noises, guessed
