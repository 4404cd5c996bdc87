"""The evidence: how probable the rewards are under a set of hyper-parameters.

With n_u pulls of input u, their mean ȳ_u and within-input squares SS,

    log p(y) = log N(ȳ; 0, K + σ² diag(1/n))
               − ½ Σ_u [(n_u − 1) log(2πσ²) + log n_u] − SS/(2σ²),

which equals the density of all rewards one by one, at the cost of the distinct inputs only. An
input whose noise is known has its own variance in the place of σ²/n and no share in the rest.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Float

from windfall.models.gp.kernels import Kernel
from windfall.models.gp.linalg import inner, triangular_inverse
from windfall.models.gp.means import Mean, Zero
from windfall.models.gp.observations import Observations
from windfall.runtime.arrays import Array
from windfall.runtime.modules import Module

__all__ = ["Hyper", "covariance", "log_evidence", "log_normal"]


class Hyper(Module):
    """The hyper-parameters Θ = {θ, σ_n²}, for standardised rewards and unit-box features."""

    kernel: Kernel
    noise: Float[Array, ""]


def covariance(
    hyper: Hyper,
    observations: Observations,
    mean: Mean = Zero(),  # noqa: B008  frozen
) -> Float[Array, "c c"]:
    """K + σ² diag(1/n), or the known noise, on the live slots, the identity on the free ones.

    A free slot with y = 0 then adds nothing to the determinant nor to the quadratic form, so that
    the capacity never shows in a result.
    """
    live = observations.live
    # The kernel never sees the zeros of a free slot, where a user's function may have no value: a
    # mask hides a NaN from the result but not from the gradient.
    features = jnp.where(live[:, None], observations.features, observations.features[0])
    gram = mean.over(hyper.kernel).gram(features, features)
    gram = jnp.where(live[:, None] & live[None, :], gram, 0.0)
    return gram + jnp.diag(observations.noise(hyper.noise))


@jax.custom_vjp
def log_normal(y: Float[Array, " c"], matrix: Float[Array, "c c"]) -> Float[Array, ""]:
    """−½ (yᵀ A⁻¹ y + log|A|), −inf where A has no Cholesky factor.

    The gradient is closed: ∂/∂A = ½ (αα⊤ − A⁻¹) and ∂/∂y = −α with α = A⁻¹y, which reuses the
    factor instead of differentiating through it.
    """
    return _log_normal(y, matrix)[0]


def _log_normal(y, matrix):
    # Symmetric as it is: one triangle is read, and the other need not be averaged with it first.
    factor = jnp.linalg.cholesky(matrix, symmetrize_input=False)
    whitener = triangular_inverse(factor)
    white = whitener @ y
    value = -0.5 * jnp.dot(white, white) - jnp.sum(jnp.log(jnp.diagonal(factor)))
    return jnp.where(jnp.isfinite(value), value, -jnp.inf), (whitener, white)


def _log_normal_backward(residuals, cotangent):
    whitener, white = residuals
    alpha = white @ whitener
    inverse = inner(whitener)
    return -cotangent * alpha, 0.5 * cotangent * (jnp.outer(alpha, alpha) - inverse)


log_normal.defvjp(_log_normal, _log_normal_backward)


def log_evidence(
    hyper: Hyper,
    observations: Observations,
    mean: Mean = Zero(),  # noqa: B008  frozen
) -> Float[Array, ""]:
    """Log p(rewards | hyper-parameters), the coefficients of the mean function integrated out."""
    live = observations.live
    n = jnp.where(live & (observations.known == 0), observations.count, 1.0)
    y = jnp.where(live, observations.mean, 0.0)
    squares = jnp.sum(jnp.where(live, observations.squares, 0.0))
    distinct = observations.used
    spare = jnp.sum(n - 1.0)
    return (
        log_normal(y, covariance(hyper, observations, mean))
        - 0.5 * distinct * jnp.log(2.0 * jnp.pi)
        - 0.5 * (spare * jnp.log(2.0 * jnp.pi * hyper.noise) + jnp.sum(jnp.log(n)))
        - 0.5 * squares / hyper.noise
    )
