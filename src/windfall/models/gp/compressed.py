"""Rewards on a scale that is logarithmic below their median.

Whoever looks for the one best thing has to know where payoffs are high. How bad the bad ones are
tells nothing about that; but a Gaussian process explains all differences alike, and where payoffs
span powers of ten, its hyper-parameters and its mean are about the worst of them. So the model sees

    g(y) = y                          where y ≥ m,
           m − c log(1 + (m − y)/c)   elsewhere,

with the median m of the distinct inputs and c, how far the best is above it: differences count in
full above the median, still nearly so as far below it as the best is above, and by their powers
of ten further down. g has a slope of 1 on both sides of m, keeps the order, and follows a change of
units: if rewards become a + b y, so does g. In model space everything is Gaussian as ever, and a
policy compares there; what is read is mapped back by

    g⁻¹(u) = m − c (exp((m − u)/c) − 1),  deviations by its slope exp((m − u)/c).
"""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from windfall.models.gp.observations import Observations, Scale
from windfall.models.rewards import ROUNDING
from windfall.runtime.arrays import Array

__all__ = ["Compressed"]

#: Nothing is believed to lie exp(this) times c below the median: a number, not infinity.
_DEEPEST = 200.0


class Compressed(Scale):
    """Rewards = g⁻¹(location + spread · standardised rewards).

    Attributes:
        median: m; −∞ where nothing is compressed.
        size: c.

    Example:
        >>> units = Compressed(*map(jnp.asarray, (0.0, 1.0, 0.0, 1.0)))  # m = 0, c = 1
        >>> [round(float(y), 2) for y in units.seen(jnp.array([2.0, 0.0, -1.0, -1000.0]))]
        [2.0, 0.0, -0.69, -6.91]
    """

    median: Float[Array, ""]
    size: Float[Array, ""]

    @classmethod
    def plain(cls, scale: Scale) -> "Compressed":
        """Nothing is compressed; host arrays, like those of the scale."""
        return cls(scale.location, scale.spread, np.float64(-np.inf), np.float64(1.0))

    def anew(self, observations, find):
        y, live = observations.mean, observations.live
        n = jnp.maximum(observations.used, 1)
        ordered = jnp.sort(jnp.where(live, y, jnp.inf))
        median = 0.5 * (ordered[(n - 1) // 2] + ordered[n // 2])
        size = ordered[n - 1] - median
        # Where half of the rewards are as good as the best, nothing says what is much worse.
        there = size > ROUNDING * observations.magnitude
        found = Compressed(
            jnp.zeros_like(size),
            jnp.ones_like(size),
            jnp.where(there, median, -jnp.inf),
            jnp.where(there, size, 1.0),
        )
        units = find(found.told(observations))
        return Compressed(units.location, units.spread, found.median, found.size)

    def apply(self, observations):
        return super().apply(self.told(observations))

    def reward(self, mean, deviation):
        depth = jnp.clip((self.median - mean) / self.size, 0.0, _DEEPEST)
        below = jnp.where(depth > 0, self.median, 0.0) - self.size * jnp.expm1(depth)
        return jnp.where(depth > 0, below, mean), deviation * jnp.exp(depth)

    def told(self, observations: Observations) -> Observations:
        """The observations with g(y) for every mean."""
        mean = jnp.where(observations.live, self.seen(observations.mean), 0.0)
        return Observations(
            observations.features,
            observations.count,
            mean,
            observations.squares,
            observations.known,
            observations.used,
        )

    def seen(self, y: Float[Array, " n"]) -> Float[Array, " n"]:
        """g(y)."""
        depth = jnp.maximum(self.median - y, 0.0) / self.size
        low = jnp.where(depth > 0, self.median, 0.0) - self.size * jnp.log1p(depth)
        return jnp.where(depth > 0, low, y)
