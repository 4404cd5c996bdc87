"""What Bayesian linear regression keeps of the rewards, and the posterior that follows from it.

Payoffs are f(x) = ȳ + φ(x)ᵀβ, where φ begins with the constant 1 and ȳ is the mean of all rewards.
The prior is the conjugate one of a normal likelihood whose variance σ² is unknown,

    β | σ² ~ N(0, σ²/λ I),  σ² ~ InverseGamma(a₀, b₀).

With G = ΦᵀΦ, h = Φᵀ(y − ȳ) and n rewards the posterior is of the same kind,

    Λ = λI + G,  m = Λ⁻¹h,  a = a₀ + n/2,  b = b₀ + (‖y − ȳ‖² − mᵀΛm)/2,

and f(x) is a Student t of 2a degrees of freedom, mean ȳ + φᵀm and variance s² φᵀΛ⁻¹φ, where
s² = b/(a − 1) is the expected noise variance. b₀ is in units of the rewards' variance, so that
other units of the rewards change nothing but the units of the predictions.

Only sums over the rewards are kept. A reward of known variance v says nothing about σ² and enters Λ
with the weight s²/v, so that the variance of f is φᵀ(λI/s² + ΦᵀΦ/s² + Σ φφᵀ/v)⁻¹φ: exact if the
noise of all rewards is known or that of none; in between s², from the others, stands for σ².
"""

import jax.numpy as jnp
from jax.scipy.linalg import solve_triangular
from jax.scipy.special import gammaln
from jaxtyping import Float

from windfall.models.base import Reward
from windfall.models.gp.linalg import triangular_inverse
from windfall.models.gp.observations import LEAST_NOISE
from windfall.runtime.arrays import Array
from windfall.runtime.modules import Module

__all__ = ["SHAPE", "Solution", "Sums", "solve"]

#: a₀: the first guess of the noise weighs as much as six rewards; f and f² have finite variances.
SHAPE = 3.0
#: The least λ in units of G's trace: below, rounding could leave Λ without a Cholesky factor.
_LEAST_RIDGE = 1e-12
#: Kinds of rewards: of unknown noise, of known noise, and exact ones (the scale decides theirs).
_NOISY, _KNOWN, _EXACT = range(3)


class Sums(Module):
    """All that is kept of the rewards: their number, mean ȳ and Σ(y − ȳ)², and sums by kind.

    These are gram = Σ wφφᵀ, moment = Σ wφ(y − ȳ) and energy = Σ w(y − ȳ)², with w = 1/v for rewards
    of known variance v and 1 for others.
    """

    total: Float[Array, ""]
    mean: Float[Array, ""]
    squares: Float[Array, ""]
    count: Float[Array, " 3"]
    gram: Float[Array, "3 p p"]
    moment: Float[Array, "3 p"]
    energy: Float[Array, " 3"]

    @property
    def variance(self) -> Float[Array, ""]:
        """The variance of the rewards; 1 where it is only the rounding of equal ones."""
        variance = self.squares / jnp.maximum(self.total, 1.0)
        return jnp.where(variance > (1e-12 * self.mean) ** 2, variance, 1.0)

    def add(self, phi: Float[Array, " p"], reward: Reward) -> "Sums":
        """The sums with one more reward, in O(p²): moved to the new mean, then increased."""
        total = self.total + reward.count
        error = reward.mean - self.mean
        move = error * reward.count / total
        left = error - move
        squares = self.squares + reward.squares + reward.count * error * left
        # Less noise than the model can believe is none. While there is nothing to compare with,
        # the digits of the reward itself decide.
        least = jnp.where(squares > 0, LEAST_NOISE * squares / total, (1e-8 * reward.mean) ** 2)
        known, exact = reward.variance > 0, reward.variance <= jnp.maximum(least, 1e-200)
        one = jnp.stack([~known, known & ~exact, known & exact])
        precision = 1.0 / jnp.where(one[_KNOWN], reward.variance, 1.0)
        weight = jnp.where(one, jnp.stack([reward.count, precision, jnp.ones_like(precision)]), 0.0)
        within = jnp.where(jnp.arange(3) == _NOISY, weight * reward.squares / reward.count, 0.0)
        # φ begins with 1, so that the first columns hold what a move of the mean needs.
        moved = self.energy - 2.0 * move * self.moment[:, 0] + move**2 * self.gram[:, 0, 0]
        return Sums(
            total,
            self.mean + move,
            squares,
            self.count + jnp.where(one, reward.count, 0.0),
            self.gram + weight[:, None, None] * jnp.outer(phi, phi),
            self.moment - move * self.gram[:, :, 0] + (weight * left)[:, None] * phi,
            moved + weight * left**2 + within,
        )


class Solution(Module):
    """The posterior: ȳ, m, W with Λ⁻¹ = WᵀW, s², a, and the logarithm of the evidence."""

    location: Float[Array, ""]
    weights: Float[Array, " p"]
    root: Float[Array, "p p"]
    noise: Float[Array, ""]
    shape: Float[Array, ""]
    evidence: Float[Array, ""]


def solve(sums: Sums, precision: Float[Array, ""], guess: Float[Array, ""]) -> Solution:
    """The posterior given λ and a first guess of the noise in units of the rewards' variance.

    Its evidence is p(y) = (2π)^(−n/2) √(λᵖ/|Λ|) (b₀^a₀/b^a) Γ(a)/Γ(a₀) for noisy rewards, times the
    normal density of the others given these (without its factors that λ does not change).
    """
    eye = jnp.eye(sums.gram.shape[-1], dtype=sums.gram.dtype)

    def regress(weights):
        gram, moment = jnp.tensordot(weights, sums.gram, 1), weights @ sums.moment
        ridge = jnp.maximum(precision, _LEAST_RIDGE * jnp.trace(gram))
        factor = jnp.linalg.cholesky(gram + ridge * eye)
        half = solve_triangular(factor, moment, lower=True)
        return factor, half, jnp.maximum(weights @ sums.energy - half @ half, 0.0)

    n, variance = sums.count[_NOISY], sums.variance
    one = jnp.ones_like(variance)
    _, _, noisy_misfit = regress(jnp.stack([one, 0.0 * one, 0.0 * one]))
    first = (SHAPE - 1.0) * guess * variance
    shape, rate = SHAPE + 0.5 * n, first + 0.5 * noisy_misfit
    noise = rate / (shape - 1.0)
    factor, half, misfit = regress(jnp.stack([one, noise, noise / (LEAST_NOISE * variance)]))
    evidence = (
        0.5 * (len(eye) * jnp.log(precision) - n * jnp.log(2.0 * jnp.pi))
        - jnp.sum(jnp.log(jnp.diagonal(factor))) - 0.5 * (misfit - noisy_misfit) / noise
        + SHAPE * jnp.log(first) - shape * jnp.log(rate) + gammaln(shape) - gammaln(SHAPE)
    )  # fmt: skip
    root = triangular_inverse(factor)
    return Solution(sums.mean, root.T @ half, root, noise, shape, evidence)
