"""Upper confidence bounds: mean plus a multiple of the deviation."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Float

from windfall.acquisition.base import Acquisition, Rising, Score
from windfall.checks import number
from windfall.models.base import Belief
from windfall.runtime.arrays import Array

__all__ = ["GPUCB", "VUCB", "Mean", "UpperBound"]


class UpperBound(Rising):
    """μ(x) + κ σ(x)."""

    kappa: Float[Array, ""]

    def value(self, x, mean, deviation):
        return mean + self.kappa * deviation


class VUCB(Acquisition):
    """V-UCB: a(x) = μ(x) + κ σ(x) with constant κ.

    Example:
        >>> VUCB(kappa=1.0)
        VUCB(kappa=1.0)
    """

    kappa: Float[Array, ""] = eqx.field(converter=number("kappa", 0.0), default=2.0)

    def focus(self, key, belief, situation, setup):
        return UpperBound(belief, self.kappa)


class GPUCB(Acquisition):
    """GP-UCB: a(x) = μ(x) + √β_t σ(x), β_t = scale · 2 log(|D| t² π²/(6δ)).

    Reference: Srinivas, Krause, Kakade, Seeger (2010). ``GPUCB.scaled()`` is the milder schedule
    that the authors of LW-UCB used in their experiments: a fifth of β_t, without |D|.

    Attributes:
        delta: The probability δ that the bound fails.
        size: |D|; 0 means the number of arms, or of parameters on a box.
        scale: Multiplies β_t.

    Example:
        >>> GPUCB.scaled()
        GPUCB(delta=0.1, size=1.0, scale=0.2)
    """

    delta: Float[Array, ""] = eqx.field(
        converter=number("delta", 0.0, high=1.0, strict=True), default=0.1
    )
    size: Float[Array, ""] = eqx.field(converter=number("size", 0.0), default=0.0)
    scale: Float[Array, ""] = eqx.field(converter=number("scale", 0.0, strict=True), default=1.0)

    @classmethod
    def scaled(cls) -> "GPUCB":
        """β_t = 2 log(t² π²/(6δ))/5."""
        return cls(size=1.0, scale=0.2)

    def beta(self, round: Array, arms: int) -> Array:
        """β_t; never negative."""
        size = jnp.where(self.size > 0, self.size, arms)
        # As a sum of logarithms: t² of a whole number overflows after 46,340 rounds.
        t = jnp.asarray(round, size.dtype)
        log = jnp.log(size * jnp.pi**2 / (6.0 * self.delta)) + 2.0 * jnp.log(t)
        return 2.0 * self.scale * jnp.maximum(log, 0.0)

    def focus(self, key, belief, situation, setup):
        beta = self.beta(situation.round, situation.size)
        return UpperBound(belief, jnp.sqrt(beta))


class PredictedMean(Score):
    """μ(x)."""

    belief: Belief

    def __call__(self, x):
        return self.belief.mean(x)


class Mean(Acquisition):
    """Pure exploitation: a(x) = μ(x)."""

    def focus(self, key, belief, situation, setup):
        return PredictedMean(belief)
