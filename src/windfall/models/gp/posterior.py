"""What the model believes after the rewards: moments anywhere, functions drawn jointly.

The Cholesky factor enters only through its inverse, the whitener W = L⁻¹ with W A Wᵀ = I for
A = K + σ² diag(1/n). Predictions are then matrix products (fast on every device), and one more
input adds one row to W in O(n²).
"""

import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Bool, Float, Int, PRNGKeyArray

from windfall.models.base import Path
from windfall.models.blocks import in_blocks
from windfall.models.glance import Glance
from windfall.models.gp.ceiling import Carriers, ceiling
from windfall.models.gp.evidence import Hyper, covariance
from windfall.models.gp.kernels import Kernel
from windfall.models.gp.linalg import lower_product, triangular_inverse
from windfall.models.gp.means import Mean, Zero
from windfall.models.gp.observations import Observations, Scale, natural_scale
from windfall.models.gp.path import GPPath
from windfall.runtime.arrays import Array
from windfall.runtime.modules import Module

__all__ = ["Posterior", "condition", "taken_over", "whiten"]

_JITTERS = (0.0, 1e-10, 1e-8, 1e-6, 1e-4)
_LEAST_PIVOT = 1e-12


class Posterior(Module):
    """A Gaussian process conditioned on rewards; every answer is in units of the scale.

    These are rewards', unless the scale is another one (``windfall.models.gp.compressed``).

    Attributes:
        hyper: Hyper-parameters, for standardised rewards.
        observations: The standardised sufficient statistics.
        scale: The way back from standardised rewards.
        whitener: W = L⁻¹; rows of free slots are those of the identity.
        healthy: False if no Cholesky factor exists even with the largest jitter.
        trend: The mean function.
    """

    hyper: Hyper
    observations: Observations
    scale: Scale
    whitener: Float[Array, "c c"]
    healthy: Bool[Array, ""]
    trend: Mean
    #: Whether it is conditioned sooner upon an earlier one.
    cumulative: ClassVar[bool] = False

    @property
    def kernel(self) -> Kernel:
        """The prior covariance of the payoffs, what is unknown of the mean function included."""
        return self.trend.over(self.hyper.kernel)

    @property
    def weights(self) -> Float[Array, " c"]:
        """α = A⁻¹ ȳ."""
        y = jnp.where(self.observations.live, self.observations.mean, 0.0)
        return self.whitener.T @ (self.whitener @ y)

    def cross(self, x: Float[Array, "m d"]) -> Float[Array, "c m"]:
        """k(X, x); 0 for free slots."""
        gram = self.kernel.gram(self.observations.features, x)
        return jnp.where(self.observations.live[:, None], gram, 0.0)

    def mean(self, x: Float[Array, "m d"]) -> Float[Array, " m"]:
        """μ(x) = k(x, X) A⁻¹ ȳ."""
        weights = self.weights

        def block(points):
            return self.in_reward_units(points, weights @ self.cross(points))

        return in_blocks(block, x, self.observations.capacity)

    def moments(self, x: Float[Array, "m d"]) -> tuple[Float[Array, " m"], Float[Array, " m"]]:
        """μ(x) and σ(x) of the latent payoff (without observation noise).

        σ²(x) = k(x, x) − |W k(X, x)|², and never less than rounding leaves of it.
        """
        weights = self.weights

        def block(points):
            cross = self.cross(points)
            explained = jnp.sum(lower_product(self.whitener, cross) ** 2, axis=0)
            prior = self.kernel.diagonal(points)
            deviation = jnp.sqrt(jnp.maximum(prior - explained, self.least_variance(prior)))
            return self.in_reward_units(points, weights @ cross), self.scale.spread * deviation

        return in_blocks(block, x, self.observations.capacity)

    def least_variance(self, prior: Float[Array, "*m"]) -> Float[Array, "*m"]:
        """The least variance that is believed where the kernel alone has the variance ``prior``.

        A variance is a difference of rounded numbers: each product with a row of W is off by about
        ε max(W) √k. This also keeps the gradient finite at the data.
        """
        stretch = jnp.max(jnp.diagonal(self.whitener))
        return jnp.finfo(prior.dtype).eps * prior * jnp.maximum(stretch * jnp.sqrt(prior), 1.0)

    def prior_deviation(self, x: Float[Array, "m d"]) -> Float[Array, " m"]:
        """√k(x, x) of the kernel, without what a mean function leaves open."""
        return self.scale.spread * jnp.sqrt(self.hyper.kernel.diagonal(x))

    def units(self, observations: Observations, find: Callable[[Observations], Scale]) -> Scale:
        """The scale for rewards, less what the mean function knows; see ``Scale.anew``."""
        return self.scale.anew(observations, find)

    def in_reward_units(self, x: Float[Array, "m d"], value: Float[Array, " m"]) -> Array:
        """What is predicted of standardised rewards at some points, as a reward."""
        return self.scale.location + self.scale.spread * value + self.trend.offset(x)

    def sample(self, key: PRNGKeyArray, anchors: Float[Array, "a d"], features: int = 512) -> Path:
        """One payoff function drawn from the posterior, to be evaluated anywhere.

        Pathwise conditioning (Matheron's rule): a prior function f₀ made of random features, then
        f(x) = f₀(x) + k(x, X) A⁻¹ (ȳ − f₀(X) − ε). Features are drawn afresh each time, so that
        mean and covariance over draws are exactly the posterior's, however few the features.

        Args:
            key: Randomness of this draw.
            anchors: Points that matter (arms); used by kernels whose spectrum is unknown.
            features: The number of random features.
        """
        feature_key, weight_key, noise_key = jax.random.split(key, 3)
        dtype = self.whitener.dtype
        phi = self.kernel.random_features(feature_key, features, anchors)
        weights = jax.random.normal(weight_key, (features,), dtype) / jnp.sqrt(features)
        observations = self.observations
        live = observations.live
        deviation = jnp.sqrt(observations.noise(self.hyper.noise))
        noise = deviation * jax.random.normal(noise_key, live.shape, dtype)
        residual = observations.mean - phi(observations.features) @ weights - noise
        residual = jnp.where(live, residual, 0.0)
        correction = self.whitener.T @ (self.whitener @ residual)

        width = max(observations.capacity, features, anchors.shape[0])
        return GPPath(self, phi, weights, correction, width)

    def ceiling(
        self, x: Float[Array, "m d"], glance: Glance
    ) -> tuple[Float[Array, " m"], Float[Array, " m"]] | None:
        """No less than μ and σ, by a pass over the inputs; None where that is not known."""
        return ceiling(self, x, glance)

    def carriers(self) -> Carriers:
        """The inputs whose kernels make up every mean."""
        noise = self.observations.noise(self.hyper.noise)
        return Carriers(self.observations.features, noise, self.observations.used)

    def left_out(self, slot: Int[Array, ""]) -> Float[Array, ""]:
        """How far the mean of a slot is from what the others predict, α/diag A⁻¹; standardised."""
        observations = self.observations
        whitener = jnp.asarray(self.whitener)
        column = whitener[:, slot]
        y = jnp.where(observations.live, observations.mean, 0.0)
        return jnp.dot(column, whitener @ y) / jnp.dot(column, column)

    def log_density(self) -> Float[Array, ""]:
        """−½ (ȳᵀA⁻¹ȳ + log|A|): how probable the means are, up to a constant."""
        whitener = jnp.asarray(self.whitener)
        white = whitener @ jnp.where(self.observations.live, self.observations.mean, 0.0)
        return jnp.sum(jnp.log(jnp.diagonal(whitener))) - 0.5 * jnp.dot(white, white)

    def forms(self) -> Float[Array, "2 2"]:
        """[ȳ 1]ᵀ A⁻¹ [ȳ 1]."""
        live = self.observations.live
        y = jnp.where(live, self.observations.mean, 0.0)
        white = self.whitener @ jnp.stack([y, jnp.where(live, 1.0, 0.0)], axis=1)
        return white.T @ white

    def misfit(self, scale: Scale) -> Float[Array, " 2"]:
        """yᵀ C⁻¹ y of all rewards one by one in the units of a scale, and how many these are.

        With the squares SS of repeated pulls, ȳᵀA⁻¹ȳ + SS/σ²: a χ² variable if the model is right,
        and every further reward adds the square of its own standardised surprise; but only in one
        and the same scale. Rewards of known noise at one input count as one.
        """
        stretch = self.scale.spread / scale.spread
        units = jnp.stack([stretch, (self.scale.location - scale.location) / scale.spread])
        squares, rewards = self.observations.scatter(self.hyper.noise)
        return jnp.stack([units @ self.forms() @ units + stretch**2 * squares, rewards])

    def extend(self, observations: Observations) -> "Posterior":
        """The posterior after one more reward, with the hyper-parameters and scale kept.

        A new input adds the row [−(lᵀW)/λ, 1/λ] to the whitener, l = W k(X, x) and
        λ² = k(x, x) + σ² − l·l: O(n²) instead of O(n³). A repeated input changes the diagonal of A
        in the middle and is refactored, as is A when rounding has eaten λ² (jitter may be needed).

        Args:
            observations: This posterior's data with one more reward, in reward units.
        """
        scaled = self.scale.apply(self.trend.residual(observations))
        slot = scaled.used - 1
        x = scaled.features[slot]
        row = self.whitener @ self.cross(x[None])[:, 0]
        prior = self.kernel(x, x) + scaled.noise(self.hyper.noise)[slot]
        pivot_squared = prior - jnp.dot(row, row)
        is_new = scaled.used > self.observations.used

        def grown():
            pivot = jnp.sqrt(pivot_squared)
            new = (-(row @ self.whitener)).at[slot].set(1.0) / pivot
            return self.whitener.at[slot].set(new), self.healthy

        def refactored():
            return whiten(covariance(self.hyper, scaled, self.trend), scaled.live)

        regular = pivot_squared > _LEAST_PIVOT * prior  # False for a NaN, too
        whitener, healthy = jax.lax.cond(is_new & regular, grown, refactored)
        found = {"observations": scaled, "whitener": whitener, "healthy": healthy}
        return dataclasses.replace(self, **found)

    def anew(self, hyper: Hyper, observations: Observations, scale: Scale) -> "Posterior":
        """The same model with other hyper-parameters, observations (in reward units) and scale."""
        return condition(hyper, observations, scale, self.trend)

    def upon(self, earlier: "Posterior") -> "Posterior":
        """To be conditioned upon an earlier one, which has fewer rewards."""
        raise TypeError(f"nothing can be built upon {earlier!r}")

    def forgetting(self) -> "Posterior":
        """Not built upon what was known with other hyper-parameters."""
        return self


def taken_over(posterior: Any, other: Any, *names: str) -> Any:
    """A posterior, or a stack of them, with some attributes of another."""

    def parts(p: Any):
        return [getattr(p, name) for name in names]

    return eqx.tree_at(parts, posterior, parts(other))


def condition(
    hyper: Hyper,
    observations: Observations,
    scale: Scale | None = None,
    trend: Mean = Zero(),  # noqa: B008  frozen
) -> Posterior:
    """The posterior given hyper-parameters and observations in reward units."""
    residual = trend.residual(observations)
    scale = natural_scale(residual) if scale is None else scale
    scaled = scale.apply(residual)
    whitener, healthy = whiten(covariance(hyper, scaled, trend), scaled.live)
    return Posterior(hyper, scaled, scale, whitener, healthy, trend)


def whiten(
    matrix: Float[Array, "c c"], live: Bool[Array, " c"]
) -> tuple[Float[Array, "c c"], Bool[Array, ""]]:
    """W = L⁻¹ with as little jitter as works, and whether any did; free slots have no say."""
    magnitude = jnp.max(jnp.where(live, jnp.diagonal(matrix), 0.0))
    jitters = jnp.asarray(_JITTERS, matrix.dtype) * magnitude

    def attempt(carry):
        i, _, _ = carry
        factor = jnp.linalg.cholesky(matrix + jnp.diag(jnp.where(live, jitters[i], 0.0)))
        return i + 1, factor, jnp.all(jnp.isfinite(factor))

    def failed(carry):
        i, _, regular = carry
        return ~regular & (i < len(_JITTERS))

    # Nothing has been tried yet: the factorisation stands in the program once.
    _, factor, regular = jax.lax.while_loop(failed, attempt, (0, matrix, jnp.asarray(False)))
    return triangular_inverse(factor), regular
