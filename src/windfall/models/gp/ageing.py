"""A kernel of time: rewards age, and those from before a change say nothing."""

import jax
import jax.numpy as jnp
from jaxtyping import Float

from windfall.models.gp.kernels import Kernel
from windfall.runtime.arrays import Array

__all__ = ["Ageing"]


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
