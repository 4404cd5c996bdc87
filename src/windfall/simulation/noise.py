"""How a reward differs from its arm's payoff, as a pure function of a key and the arm."""

from abc import abstractmethod

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int, PRNGKeyArray

from windfall.problems import Problem
from windfall.runtime.arrays import Array
from windfall.runtime.modules import Module

__all__ = ["Gaussian", "Noise", "Replicates", "noise_of"]


class Noise(Module):
    """What is added to a payoff."""

    @abstractmethod
    def draw(self, key: PRNGKeyArray, arm: Int[Array, "*shape"]) -> Float[Array, "*shape"]:
        """Reward minus payoff of each of these arms; equal keys and arms are equally lucky."""


class Gaussian(Noise):
    """Normally distributed, the same at every arm."""

    deviation: Float[Array, ""]

    def draw(self, key: PRNGKeyArray, arm: Int[Array, "*shape"]) -> Float[Array, "*shape"]:
        """σ ε with ε standard normal."""
        return self.deviation * jax.random.normal(key, jnp.shape(arm))


class Replicates(Noise):
    """One of the arm's own measurements, each as likely as the others.

    Attributes:
        deviations: (M, r) measurement minus payoff, the arm's own first, then filler.
        counts: (M,) how many of them are the arm's own.
    """

    deviations: Float[Array, "m r"]
    counts: Int[Array, " m"]

    def draw(self, key: PRNGKeyArray, arm: Int[Array, "*shape"]) -> Float[Array, "*shape"]:
        """The deviation of number ⌊u · count⌋, u uniform on [0, 1)."""
        u = jax.random.uniform(key, jnp.shape(arm))
        which = jnp.floor(u * jnp.asarray(self.counts)[arm]).astype(int)
        return jnp.asarray(self.deviations)[arm, which]


def noise_of(problem: Problem) -> Noise:
    """The noise of a problem's rewards.

    >>> noise_of(Problem(arms=[[0.0], [1.0]], replicates=[[1.0, 3.0], [5.0]])).counts.tolist()
    [2, 1]
    """
    if problem.replicates is None:
        return Gaussian(np.float64(problem.noise))
    measured = ~np.isnan(problem.replicates)
    deviations = problem.replicates - problem.payoffs(0)[:, None]
    return Replicates(np.where(measured, deviations, 0.0), measured.sum(axis=1))
