"""What was tried and what it paid, as every model takes and tells it."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int

from windfall.runtime.arrays import Array
from windfall.runtime.modules import Module

__all__ = ["EXACT", "ROUNDING", "Habit", "Reward", "Tried", "alike"]

#: Stands for the variance 0 of an exact reward, since 0 marks an unknown one.
EXACT = 1e-300
#: Rewards that differ by less than this, relative to the largest, are equal.
ROUNDING = 1e-12


class Reward(Module):
    """What one input paid: a reward, or several of them in three numbers.

    Attributes:
        mean: The reward; the mean of ``count`` replicates.
        count: How many rewards it stands for.
        squares: Σ(y − ȳ)² of the replicates.
        variance: The known variance of this mean; 0 where it is not known. An exact reward has
            the variance ``EXACT``.
    """

    mean: Float[Array, ""]
    count: Float[Array, ""] = np.float64(1.0)
    squares: Float[Array, ""] = np.float64(0.0)
    variance: Float[Array, ""] = np.float64(0.0)


class Tried(Module):
    """Inputs that have rewards, as far as a model keeps them; the best are always among them.

    Attributes:
        x: The inputs, in the unit box.
        reward: The mean reward of each.
        live: Which rows count.
        distinct: How many distinct inputs have been tried in all.
    """

    x: Float[Array, "c d"]
    reward: Float[Array, " c"]
    live: Bool[Array, " c"]
    distinct: Int[Array, ""]

    @property
    def best(self) -> Float[Array, ""]:
        """The highest mean reward so far; −∞ before the first."""
        return jnp.max(jnp.where(self.live, self.reward, -jnp.inf))

    @property
    def alike(self) -> Bool[Array, ""]:
        """Whether all rewards are equal to rounding: no differences to learn from."""
        return alike(self.reward, self.live)


class Habit(Module):
    """What was chosen most often in contexts that differ, where no arm is like another.

    Attributes:
        point: That arm.
        best: Whether it is expected to pay most here, too.
        rare: Whether nearly all rewards are alike. The others are then windfalls which no model
            foresees, and its deviations are a guess.
    """

    point: Float[Array, " d"]
    best: Bool[Array, ""]
    rare: Bool[Array, ""]


def alike(values: Float[Array, " n"], live: Bool[Array, " n"]) -> Bool[Array, ""]:
    """Whether all that count are equal to rounding, or none counts."""
    first = jnp.asarray(values)[jnp.argmax(live)]
    apart = jnp.max(jnp.where(live, jnp.abs(values - first), 0.0))
    return apart <= ROUNDING * jnp.max(jnp.where(live, jnp.abs(values), 0.0))
