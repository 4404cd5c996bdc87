"""Everything the rewards say, as exact sufficient statistics per distinct input.

Repeated pulls of one arm enter the Gaussian likelihood only through their number n, their mean ȳ
and their within-arm sum of squares SS = Σ(y − ȳ)². Keeping these three numbers makes the cost of a
round follow the distinct arms, not the pulls, and keeps K regular however often an arm is pulled.

Arrays have a fixed capacity, the first ``used`` slots are live: a study of any length compiles once
per capacity bucket.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int

from windfall.arrays import Array

__all__ = [
    "BUCKETS",
    "Observations",
    "Scale",
    "bucket",
    "natural_scale",
    "pad",
    "safe_spread",
    "standardise",
]

BUCKETS = (16, 32, 48, 64, 96, 128, 160, 256, 512, 1024, 2048, 4096)


def bucket(size: int) -> int:
    """The smallest capacity that holds ``size`` distinct inputs.

    Example:
        >>> bucket(16), bucket(17)
        (16, 32)
    """
    return next((c for c in BUCKETS if size <= c), -(-size // BUCKETS[-1]) * BUCKETS[-1])


class Observations(eqx.Module):
    """Count, mean and within-input sum of squares of the rewards at each distinct input."""

    features: Float[Array, "c d"]
    count: Float[Array, " c"]
    mean: Float[Array, " c"]
    squares: Float[Array, " c"]
    used: Int[Array, ""]

    @classmethod
    def empty(cls, capacity: int, dimension: int) -> "Observations":
        """No rewards yet, room for ``capacity`` distinct inputs."""
        zeros = np.zeros(capacity)
        features = np.zeros((capacity, dimension))
        return cls(features, zeros, zeros, zeros, np.int32(0))

    @property
    def capacity(self) -> int:
        """The number of distinct inputs that fit."""
        return self.count.shape[-1]

    @property
    def live(self) -> Bool[Array, " c"]:
        """Which slots hold data."""
        return jnp.arange(self.capacity) < self.used

    def add(self, x: Float[Array, " d"], reward: Float[Array, ""]) -> "Observations":
        """One more reward at ``x`` (Welford's update); the input must fit the capacity."""
        slot = self.slot(x)
        count = self.count[slot] + 1.0
        error = reward - self.mean[slot]
        mean = self.mean[slot] + error / count
        return Observations(
            self.features.at[slot].set(x),
            self.count.at[slot].set(count),
            self.mean.at[slot].set(mean),
            self.squares.at[slot].add(error * (reward - mean)),
            jnp.maximum(self.used, slot + 1).astype(jnp.int32),
        )

    def slot(self, x: Float[Array, " d"]) -> Int[Array, ""]:
        """Where ``x`` is, or the first free slot if it is new."""
        same = jnp.all(self.features == x, axis=1) & self.live
        return jnp.where(jnp.any(same), jnp.argmax(same), self.used)

    def padded(self, capacity: int) -> "Observations":
        """The same data (or a stack of them) with room for more, as host arrays."""
        return Observations(
            pad(self.features, capacity, -2),
            pad(self.count, capacity, -1),
            pad(self.mean, capacity, -1),
            pad(self.squares, capacity, -1),
            np.asarray(self.used),
        )


def pad(array: Array, size: int, axis: int) -> np.ndarray:
    """A host copy, filled up with zeros along one axis."""
    array = np.asarray(array)
    padding = [(0, 0)] * array.ndim
    padding[axis] = (0, size - array.shape[axis])
    return np.pad(array, padding)


class Scale(eqx.Module):
    """Rewards = location + spread · standardised rewards."""

    location: Float[Array, ""]
    spread: Float[Array, ""]

    def apply(self, observations: Observations) -> Observations:
        """The observations with standardised rewards."""
        return Observations(
            observations.features,
            observations.count,
            jnp.where(observations.live, (observations.mean - self.location) / self.spread, 0.0),
            observations.squares / self.spread / self.spread,
            observations.used,
        )


def natural_scale(observations: Observations) -> Scale:
    """Mean and deviation of the rewards over the distinct inputs.

    Over inputs, not over pulls: a policy pulls good arms again and again, and an average over pulls
    would drift towards them and promise their reward to every arm not yet tried
    (``docs/decisions/0002-standardise-over-arms.md``). Rewards that are all equal (to rounding)
    have no scale of their own and are only centred.
    """
    live = observations.live
    distinct = jnp.maximum(observations.used, 1)
    location = jnp.sum(jnp.where(live, observations.mean, 0.0)) / distinct
    centred = jnp.where(live, observations.mean - location, 0.0)
    return Scale(location, safe_spread(jnp.sqrt(jnp.sum(centred**2) / distinct), observations))


def safe_spread(spread: Float[Array, ""], observations: Observations) -> Float[Array, ""]:
    """The spread, or 1 where it is only the rounding of equal rewards."""
    magnitude = jnp.max(jnp.where(observations.live, jnp.abs(observations.mean), 0.0))
    return jnp.where(spread > 1e-12 * magnitude, spread, 1.0)


def standardise(observations: Observations) -> tuple[Observations, Scale]:
    """Observations on their natural scale, and the way back."""
    scale = natural_scale(observations)
    return scale.apply(observations), scale
