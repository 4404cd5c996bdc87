"""Everything the rewards say, as exact sufficient statistics per distinct input.

Repeated pulls of one arm enter the Gaussian likelihood only through their number n, their mean ȳ
and their within-arm sum of squares SS = Σ(y − ȳ)². Keeping these three numbers makes the cost of a
round follow the distinct arms, not the pulls, and keeps K regular however often an arm is pulled.

Rewards whose noise is known merge by precision weighting into one reward with less known noise.

Arrays have a fixed capacity, the first ``used`` slots are live: a study of any length compiles once
per capacity bucket.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int

from windfall.runtime.arrays import Array

__all__ = [
    "BUCKETS",
    "LEAST_NOISE",
    "Observations",
    "Scale",
    "bucket",
    "natural_scale",
    "pad",
    "safe_spread",
]

#: The least noise variance that the model believes, in units of the rewards' variance: below,
#: covariance matrices of smooth kernels have no Cholesky factor.
LEAST_NOISE = 1e-8
#: Stands for the variance 0 of an exact reward, since 0 marks an unknown one.
_EXACT = 1e-300
#: Means that differ by less than this, relative to the largest, are equal.
_ROUNDING = 1e-12
#: When the search for location and spread has settled, and the most turns it may take.
_SETTLED = 1e-12
_TURNS = 500

BUCKETS = (16, 32, 48, 64, 96, 128, 160, 256, 512, 1024, 2048, 4096)


def bucket(size: int) -> int:
    """The smallest capacity that holds ``size`` distinct inputs.

    Example:
        >>> bucket(16), bucket(17)
        (16, 32)
    """
    return next((c for c in BUCKETS if size <= c), -(-size // BUCKETS[-1]) * BUCKETS[-1])


class Observations(eqx.Module):
    """Count, mean and within-input sum of squares of the rewards at each distinct input.

    Rewards whose noise is known have a slot of their own beside that of the other rewards at the
    same input: they say something about the payoff and nothing about the noise.

    Attributes:
        features: The inputs, in the unit box.
        count: How many rewards each slot holds; 0 in a free one.
        mean: Their mean, weighted by precision where the noise is known.
        squares: Σ(y − ȳ)²; 0 where the noise is known.
        known: Variance of the slot's mean where the noise is known, 0 where it is not.
        used: How many slots are live.
    """

    features: Float[Array, "c d"]
    count: Float[Array, " c"]
    mean: Float[Array, " c"]
    squares: Float[Array, " c"]
    known: Float[Array, " c"]
    used: Int[Array, ""]

    @classmethod
    def empty(cls, capacity: int, dimension: int) -> "Observations":
        """No rewards yet, room for ``capacity`` distinct inputs."""
        zeros = np.zeros(capacity)
        features = np.zeros((capacity, dimension))
        return cls(features, zeros, zeros, zeros, zeros, np.int32(0))

    @property
    def capacity(self) -> int:
        """The number of slots."""
        return self.count.shape[-1]

    @property
    def live(self) -> Bool[Array, " c"]:
        """Which slots hold data."""
        return jnp.arange(self.capacity) < self.used

    def add(self, x: Float[Array, " d"], reward: Float[Array, ""]) -> "Observations":
        """One more reward at ``x``, of unknown noise; there must be room (see ``has``)."""
        return self.merge(x, 1.0, reward, 0.0)

    def merge(
        self,
        x: Float[Array, " d"],
        count: float | Float[Array, ""],
        mean: float | Float[Array, ""],
        squares: float | Float[Array, ""],
    ) -> "Observations":
        """``count`` more rewards at ``x``, of unknown noise, given by their mean and Σ(y − ȳ)².

        With e = mean − ȳ the merged mean is ȳ + e·count/n, n = n_u + count, and the squares grow by
        ``squares`` + count·e·(mean − merged mean): Welford's update when one reward comes.
        """
        slot = self.slot(x)
        total = self.count[slot] + count
        error = mean - self.mean[slot]
        merged = self.mean[slot] + error * count / total
        squares = self.squares[slot] + squares + count * error * (mean - merged)
        return self._with(slot, x, total, merged, squares, 0.0)

    def add_known(
        self,
        x: Float[Array, " d"],
        reward: float | Float[Array, ""],
        variance: float | Float[Array, ""],
    ) -> "Observations":
        """One more reward at ``x`` whose noise variance is known; 0 is an exact reward.

        Rewards merge by precision weighting: ȳ = Σ(y/v)/Σ(1/v) with variance 1/Σ(1/v).
        """
        slot = self.slot(x, known=True)
        variance = jnp.maximum(variance, _EXACT)
        before = self.known[slot]
        share = jnp.where(before > 0, before / (before + variance), 1.0)
        merged = self.mean[slot] + share * (reward - self.mean[slot])
        # The merged variance as a share of the new one: 1/(1/a + 1/b) could overflow.
        return self._with(slot, x, self.count[slot] + 1.0, merged, 0.0, share * variance)

    def _with(self, slot, x, count, mean, squares, known) -> "Observations":
        return Observations(
            self.features.at[slot].set(x),
            self.count.at[slot].set(count),
            self.mean.at[slot].set(mean),
            self.squares.at[slot].set(squares),
            self.known.at[slot].set(known),
            jnp.maximum(self.used, slot + 1).astype(jnp.int32),
        )

    def slot(self, x: Float[Array, " d"], known: bool = False) -> Int[Array, ""]:
        """Where rewards at ``x`` (with ``known`` noise or not) are, or the first free slot."""
        same = self._same(x, known)
        return jnp.where(jnp.any(same), jnp.argmax(same), self.used)

    def has(self, x: Float[np.ndarray, " d"], known: bool = False) -> bool:
        """Whether a reward at ``x`` needs no new slot; asked on the host, in double precision."""
        return bool(jax.tree.map(np.asarray, self)._same(x, known).any())

    def _same(self, x, known):
        return (self.features == x).all(axis=1) & (self.count > 0) & ((self.known > 0) == known)

    def noise(self, variance: Float[Array, ""]) -> Float[Array, " c"]:
        """The variance of each slot's mean: known, or ``variance``/n; 1 in free slots."""
        n = jnp.where(self.live, self.count, 1.0)
        noise = jnp.where(self.known > 0, self.known, variance / n)
        return jnp.where(self.live, noise, 1.0)

    def certainty(self, unit: Float[Array, ""]) -> Float[Array, " c"]:
        """The known noise variances in squares of a unit; 0 where exact or unknown."""
        return jnp.where(self.known > _EXACT, self.known, 0.0) / unit / unit

    def within(self, unit: float | Float[Array, ""] = 1.0) -> Float[Array, ""]:
        """The variance of repeated pulls, pooled, in squares of a unit; 0 if none was repeated."""
        unknown = self.live & (self.known == 0)
        spare = jnp.sum(jnp.where(unknown, self.count - 1.0, 0.0))
        squares = jnp.sum(jnp.where(unknown, self.squares / unit / unit, 0.0))
        return squares / jnp.maximum(spare, 1.0)

    @property
    def magnitude(self) -> Float[Array, ""]:
        """The size of the largest mean."""
        return jnp.max(jnp.where(self.live, jnp.abs(self.mean), 0.0))

    @property
    def alike(self) -> Bool[Array, ""]:
        """Whether all means are equal to rounding: no differences to learn from."""
        apart = jnp.where(self.live, jnp.abs(self.mean - self.mean[0]), 0.0)
        return jnp.max(apart) <= _ROUNDING * self.magnitude

    def padded(self, capacity: int) -> "Observations":
        """The same data (or a stack of them) with room for more, as host arrays."""
        return Observations(
            pad(self.features, capacity, -2),
            pad(self.count, capacity, -1),
            pad(self.mean, capacity, -1),
            pad(self.squares, capacity, -1),
            pad(self.known, capacity, -1),
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
        known = observations.certainty(self.spread)
        return Observations(
            observations.features,
            observations.count,
            jnp.where(observations.live, (observations.mean - self.location) / self.spread, 0.0),
            observations.squares / self.spread / self.spread,
            jnp.where(observations.known > 0, jnp.maximum(known, LEAST_NOISE), 0.0),
            observations.used,
        )


def natural_scale(observations: Observations) -> Scale:
    """Mean and deviation of the rewards over the distinct inputs.

    Over inputs, not over pulls: a policy pulls good arms again and again, and an average over pulls
    would drift towards them and promise their reward to every arm not yet tried
    (``docs/decisions/0002-standardise-over-arms.md``). An input told both with and without known
    noise has two slots and counts twice, never more often.

    A reward of known noise counts for what it says: payoffs are taken to scatter by T around m, and
    a reward whose noise variance is v above that of the most precise one by T² + v. m and T are the
    most probable ones, by expectation and maximisation: with r = T²/(T² + v)

        m = Σ r ȳ / Σ r,   T² = (1/n) Σ [r² (ȳ − m)² + T² (1 − r)],

    which is the plain mean and deviation where all rewards are equally precise.
    """
    live = observations.live
    distinct = jnp.maximum(observations.used, 1)
    unit = _unit(observations)  # before squaring: the square of 1e-200 is 0
    y = jnp.where(live, observations.mean / unit, 0.0)
    noise = jnp.where(live, observations.certainty(unit), jnp.inf)
    excess = jnp.where(live, noise - jnp.min(noise), 0.0)

    def estimate(share, before):
        weight = jnp.where(live, share, 0.0)
        location = jnp.sum(weight * y) / jnp.maximum(jnp.sum(weight), _EXACT)
        seen = jnp.where(live, share * (y - location), 0.0) ** 2
        unseen = jnp.where(live & (share < 1.0), (1.0 - share) * before, 0.0)
        return location, jnp.sum(seen + unseen) / distinct

    def step(carry):
        turn, _, _, before = carry
        share = jnp.where(excess > 0, before / (before + excess), 1.0)
        return (turn + 1, before, *estimate(share, before))

    def moving(carry):
        turn, before, _, squared = carry
        return (turn < _TURNS) & (jnp.abs(squared - before) > _SETTLED * before)

    start = estimate(jnp.ones_like(y), 0.0)
    before = jnp.where(jnp.any(excess > 0), 0.0, start[1])  # equally precise: nothing to settle
    _, _, location, squared = jax.lax.while_loop(moving, step, (0, before, *start))
    return Scale(location * unit, safe_spread(jnp.sqrt(squared) * unit, observations))


def safe_spread(spread: Float[Array, ""], observations: Observations) -> Float[Array, ""]:
    """The spread; where it is only the rounding of equal rewards, the next best idea of a scale.

    That is the deviation of repeated pulls, else the size of the rewards themselves, else 1.
    """
    unit = _unit(observations)
    within = jnp.sqrt(observations.within(unit)) * unit
    magnitude = observations.magnitude
    size = jnp.where(magnitude > 0, magnitude, 1.0)
    otherwise = jnp.where(within > _ROUNDING * magnitude, within, size)
    return jnp.where(spread > _ROUNDING * magnitude, spread, otherwise)


def _unit(observations: Observations) -> Float[Array, ""]:
    """A power of two of the size of the rewards: dividing by it rounds nothing."""
    magnitude = observations.magnitude
    return jnp.exp2(jnp.floor(jnp.log2(jnp.where(magnitude > 0, magnitude, 1.0))))
