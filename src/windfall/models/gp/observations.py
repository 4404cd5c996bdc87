"""Everything the rewards say, as exact sufficient statistics per distinct input.

Repeated pulls of one arm enter the Gaussian likelihood only through their number n, their mean ȳ
and their within-arm sum of squares SS = Σ(y − ȳ)². Keeping these three numbers makes the cost of a
round follow the distinct arms, not the pulls, and keeps K regular however often an arm is pulled.

Rewards whose noise is known merge by precision weighting into one reward with less known noise.

Arrays have a fixed capacity, the first ``used`` slots are live: a study of any length compiles once
per capacity bucket.
"""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int

from windfall.models.base import EXACT, Reward
from windfall.models.rewards import ROUNDING, alike
from windfall.runtime.arrays import Array
from windfall.runtime.modules import Module

__all__ = [
    "LEAST_NOISE",
    "Observations",
    "Scale",
    "natural_scale",
    "resize",
    "safe_spread",
]

#: The least noise variance that the model believes, in units of the rewards' variance: below,
#: covariance matrices of smooth kernels have no Cholesky factor.
LEAST_NOISE = 1e-8
#: When the search for location and spread has settled, and the most turns it may take.
_SETTLED = 1e-12
_TURNS = 500


class Observations(Module):
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
        return np.arange(self.capacity) < self.used

    def observe(self, x: Float[Array, " d"], reward: Reward) -> "Observations":
        """Rewards at ``x`` merged into their slot; there must be one, or a free one.

        Of unknown noise: with e = mean − ȳ the merged mean is ȳ + e·count/n, n = n_u + count, and
        the squares grow by ``squares`` + count·e·(mean − merged mean): Welford's update when one
        reward comes. Of known noise: by precision weighting, ȳ = Σ(y/v)/Σ(1/v) with variance
        1/Σ(1/v).
        """
        known = reward.variance > 0
        slot = self.slot(x, known)
        total = self.count[slot] + reward.count
        error = reward.mean - self.mean[slot]
        before = self.known[slot]
        # The merged variance as a share of the new one: 1/(1/a + 1/b) could overflow.
        precise = jnp.where(before > 0, before / (before + reward.variance), 1.0)
        merged = self.mean[slot] + error * jnp.where(known, precise, reward.count / total)
        more = reward.squares + reward.count * error * (reward.mean - merged)
        squares = jnp.where(known, 0.0, self.squares[slot] + more)
        return self._with(slot, x, total, merged, squares, precise * reward.variance)

    def add(self, x: Float[Array, " d"], reward: float | Float[Array, ""]) -> "Observations":
        """One more reward at ``x``, of unknown noise."""
        return self.observe(x, Reward(jnp.asarray(reward, self.mean.dtype)))

    def _with(self, slot, x, count, mean, squares, known) -> "Observations":
        return Observations(
            self.features.at[slot].set(x),
            self.count.at[slot].set(count),
            self.mean.at[slot].set(mean),
            self.squares.at[slot].set(squares),
            self.known.at[slot].set(known),
            jnp.maximum(self.used, slot + 1).astype(jnp.int32),
        )

    def slot(self, x: Float[Array, " d"], known: bool | Bool[Array, ""] = False) -> Int[Array, ""]:
        """Where rewards at ``x`` (with ``known`` noise or not) are, or the first free slot."""
        here = (self.features == x).all(axis=1) & (self.count > 0)
        same = here & ((self.known > 0) == known)
        return jnp.where(jnp.any(same), jnp.argmax(same), self.used)

    def noise(self, variance: Float[Array, ""]) -> Float[Array, " c"]:
        """The variance of each slot's mean: known, or ``variance``/n; 1 in free slots."""
        n = jnp.where(self.live, self.count, 1.0)
        noise = jnp.where(self.known > 0, self.known, variance / n)
        return jnp.where(self.live, noise, 1.0)

    def certainty(self, unit: Float[Array, ""]) -> Float[Array, " c"]:
        """The known noise variances in squares of a unit; 0 where exact or unknown."""
        return jnp.where(self.known > EXACT, self.known, 0.0) / unit / unit

    def within(self, unit: float | Float[Array, ""] = 1.0) -> Float[Array, ""]:
        """The variance of repeated pulls, pooled, in squares of a unit; 0 if none was repeated."""
        unknown = self.live & (self.known == 0)
        spare = jnp.sum(jnp.where(unknown, self.count - 1.0, 0.0))
        squares = jnp.sum(jnp.where(unknown, self.squares / unit / unit, 0.0))
        return squares / jnp.maximum(spare, 1.0)

    def scatter(self, variance: Float[Array, ""]) -> Float[Array, " 2"]:
        """SS/σ² of repeated pulls, and the number of rewards (one where their noise is known)."""
        squares = jnp.sum(jnp.where(self.live, self.squares, 0.0))
        rewards = jnp.sum(jnp.where(self.live, jnp.where(self.known > 0, 1.0, self.count), 0.0))
        return jnp.stack([squares / variance, rewards])

    def repeated(self) -> tuple[Float[Array, ""], Float[Array, ""]]:
        """What repeated pulls say: the variance of a reward, and on average of an input's mean.

        The second is 0 unless most inputs were pulled several times: the few that a policy came
        back to, because they had been lucky, do not speak for the others.
        """
        within = self.within()
        several = self.live & (self.known == 0) & (self.count > 1)
        shares = jnp.where(several, 1.0 / jnp.where(several, self.count, 1.0), 0.0)
        most = 2 * jnp.sum(several) > self.used
        return within, jnp.where(most, within * jnp.sum(shares) / jnp.maximum(self.used, 1), 0.0)

    @property
    def magnitude(self) -> Float[Array, ""]:
        """The size of the largest mean."""
        return jnp.max(jnp.where(self.live, jnp.abs(self.mean), 0.0))

    @property
    def alike(self) -> Bool[Array, ""]:
        """Whether all means are equal to rounding: no differences to learn from."""
        return alike(self.mean, self.live)

    def resized(self, capacity: int) -> "Observations":
        """The same data (or a stack of them) with other room, as host arrays."""

        def slots(o: "Observations"):
            return o.count, o.mean, o.squares, o.known

        resized = [resize(array, capacity, -1) for array in slots(self)]
        features = resize(self.features, capacity, -2)
        # Not by the constructor: a stack has other shapes than it is annotated with.
        return eqx.tree_at(
            lambda o: (o.features, o.used, *slots(o)),
            self,
            (features, np.asarray(self.used), *resized),
        )


def resize(array: Array, size: int, axis: int) -> np.ndarray:
    """A host copy, cut or filled up with zeros along one axis."""
    array = np.asarray(array)
    kept = array.take(np.arange(min(size, array.shape[axis])), axis)
    padding = [(0, 0)] * array.ndim
    padding[axis] = (0, size - kept.shape[axis])
    return np.pad(kept, padding)


class Scale(Module):
    """Rewards = location + spread · standardised rewards."""

    location: Float[Array, ""]
    spread: Float[Array, ""]

    def anew(self, observations: Observations, find: Callable[[Observations], "Scale"]) -> "Scale":
        """A scale of this kind for other rewards.

        Args:
            observations: The rewards.
            find: Their location and spread.
        """
        return find(observations)

    @classmethod
    def plain(cls, scale: "Scale") -> "Scale":
        """Another scale as one of this kind."""
        return scale

    def reward(
        self, mean: Float[Array, "*m"], deviation: Float[Array, "*m"]
    ) -> tuple[Float[Array, "*m"], Float[Array, "*m"]]:
        """Mean and deviation of a payoff, if a policy compares payoffs on another scale."""
        return mean, deviation

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
        location = jnp.sum(weight * y) / jnp.maximum(jnp.sum(weight), EXACT)
        seen = jnp.where(live, share * (y - location), 0.0) ** 2
        unseen = jnp.where(live & (share < 1.0), (1.0 - share) * before, 0.0)
        return location, jnp.sum(seen + unseen) / distinct

    # The first turn is the plain mean and deviation; where all are equally precise, the only one.
    def step(carry):
        turn, _, _, before = carry
        share = jnp.where((excess > 0) & (turn > 0), before / (before + excess), 1.0)
        return (turn + 1, before, *estimate(share, before))

    def moving(carry):
        turn, before, _, squared = carry
        unsettled = (turn < _TURNS) & (jnp.abs(squared - before) > _SETTLED * before)
        return (turn == 0) | (jnp.any(excess > 0) & unsettled)

    zero = jnp.zeros((), y.dtype)
    _, _, location, squared = jax.lax.while_loop(moving, step, (0, zero, zero, zero))
    return Scale(location * unit, safe_spread(jnp.sqrt(squared) * unit, observations))


def safe_spread(spread: Float[Array, ""], observations: Observations) -> Float[Array, ""]:
    """The spread; where it is only the rounding of equal rewards, the next best idea of a scale.

    That is the deviation of repeated pulls, else the size of the rewards themselves, else 1.
    """
    unit = _unit(observations)
    within = jnp.sqrt(observations.within(unit)) * unit
    magnitude = observations.magnitude
    size = jnp.where(magnitude > 0, magnitude, 1.0)
    otherwise = jnp.where(within > ROUNDING * magnitude, within, size)
    return jnp.where(spread > ROUNDING * magnitude, spread, otherwise)


def _unit(observations: Observations) -> Float[Array, ""]:
    """A power of two of the size of the rewards: dividing by it rounds nothing."""
    magnitude = observations.magnitude
    return jnp.exp2(jnp.floor(jnp.log2(jnp.where(magnitude > 0, magnitude, 1.0))))
