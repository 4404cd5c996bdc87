"""Expected improvement, in logarithms so that its tail does not underflow."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.scipy.special import log_ndtr, logsumexp, ndtr
from jaxtyping import Float

from windfall.acquisition.base import Acquisition, Rising
from windfall.checks import number
from windfall.runtime.arrays import Array

__all__ = ["EI", "expected_improvement", "log_expected_improvement"]

_LOG_SQRT_2PI = 0.9189385332046727
#: Below, the asymptotic series is exact to rounding with this many terms, while Mills' ratio from
#: ``log_ndtr`` no longer is.
_FAR = -20.0
_TERMS = 10
#: A deviation below this fraction of |μ − target| counts as this, and the gap as 1e-50 at least, so
#: that neither the value nor its gradient overflows at σ = 0.
_CERTAIN = 1e-100
_SMALLEST_GAP = 1e-50


@jax.custom_jvp
def expected_improvement(
    mean: Float[Array, " m"], deviation: Float[Array, " m"], target: Float[Array, ""]
) -> Float[Array, " m"]:
    """E max(f − target, 0) = σ[λΦ(λ) + φ(λ)] for f ~ N(mean, deviation²), λ = (μ − target)/σ.

    Exact to rounding of σ, not of itself: far in its tail ``log_expected_improvement`` knows more.
    Its derivatives are Φ(λ) by the mean and φ(λ) by the deviation.

    Example:
        >>> import jax.numpy as jnp
        >>> one = jnp.ones(1)
        >>> round(float(expected_improvement(-one, one, jnp.zeros(()))[0]), 3)
        0.083
    """
    return _improvement(mean, deviation, target)[0]


def _improvement(mean, deviation, target):
    gap = mean - target
    z = gap / _safe(deviation, gap)
    density = jnp.exp(-0.5 * z**2 - _LOG_SQRT_2PI)
    chance = ndtr(z)
    return jnp.maximum(gap * chance + deviation * density, 0.0), chance, density


@expected_improvement.defjvp
def _improvement_slope(primals, tangents):
    value, chance, density = _improvement(*primals)
    mean, deviation, target = tangents
    return value, chance * (mean - target) + density * deviation


def log_expected_improvement(
    mean: Float[Array, " m"], deviation: Float[Array, " m"], target: float | Float[Array, ""]
) -> Float[Array, " m"]:
    """Log E max(f − target, 0) for f ~ N(mean, deviation²).

    E max(f − target, 0) = σ h(λ) with h(λ) = λΦ(λ) + φ(λ) and λ = (μ − target)/σ. For λ < 0 the two
    terms cancel: there h(λ) = φ(λ) (1 − |λ| R(λ)) with Mills' ratio R = Φ/φ, and far below its
    asymptotic series h(λ) = φ(λ)/λ² · (1 − 3/λ² + 3·5/λ⁴ − 3·5·7/λ⁶ + …).

    Example:
        >>> import jax.numpy as jnp
        >>> one = jnp.ones(1)
        >>> round(float(jnp.exp(log_expected_improvement(-one, one, 0.0))[0]), 3)
        0.083
    """
    gap = mean - target
    safe = _safe(deviation, gap)
    z = gap / safe
    return jnp.log(safe) + _log_h(z)


def _safe(deviation: Array, gap: Array) -> Array:
    return jnp.maximum(deviation, _CERTAIN * jnp.maximum(jnp.abs(gap), _SMALLEST_GAP))


def _log_h(z: Array) -> Array:
    # Each branch sees only arguments it can handle, so that gradients stay finite too.
    high = jnp.maximum(z, -1.0)
    log_phi = -0.5 * high**2 - _LOG_SQRT_2PI
    near = jnp.log(high * jnp.exp(log_ndtr(high)) + jnp.exp(log_phi))

    low = jnp.clip(z, _FAR, -1.0)
    log_phi = -0.5 * low**2 - _LOG_SQRT_2PI
    tail = log_phi + jnp.log1p(low * jnp.exp(log_ndtr(low) - log_phi))

    far = jnp.minimum(z, _FAR)
    inverse = 1.0 / far**2
    series = jnp.ones_like(far)
    for odd in range(2 * _TERMS + 1, 1, -2):
        series = 1.0 - odd * inverse * series
    beyond = -0.5 * far**2 - _LOG_SQRT_2PI + jnp.log(inverse * series)
    return jnp.where(z > -1.0, near, jnp.where(z > _FAR, tail, beyond))


class ExpectedImprovement(Rising):
    """log EI over a fixed target."""

    target: Float[Array, ""]

    def value(self, x, mean, deviation):
        return log_expected_improvement(mean, deviation, self.target)

    def average(self, values):
        """The logarithm of the mean improvement, not the mean of the logarithms."""
        return logsumexp(values, axis=0) - jnp.log(values.shape[0])


class EI(Acquisition):
    """Expected improvement over the best reward so far: a(x) = σ[λΦ(λ) + φ(λ)].

    λ = (μ − y* − ξ)/σ. The score is the logarithm: the same choice, also where every improvement is
    too small for a floating-point number.

    Example:
        >>> EI(xi=0.01)
        EI(xi=0.01)
    """

    xi: Float[Array, ""] = eqx.field(converter=number("xi", 0.0), default=0.0)

    def focus(self, key, belief, situation, setup):
        return ExpectedImprovement(belief, belief.tried.best + self.xi)
