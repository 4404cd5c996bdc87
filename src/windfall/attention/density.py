"""The density p_μ of the model's mean over the domain: a weighted kernel density in one dimension.

The sum of n Gaussians is made on a grid: weights are shared linearly between the two nearest bins,
then smoothed by a product in Fourier space, O(n + B log B) instead of O(n²).
"""

from typing import Any, Literal

import jax.numpy as jnp
from jaxtyping import Float

from windfall.checks import numbers_or_none, shown
from windfall.errors import InputError
from windfall.runtime.arrays import Array
from windfall.runtime.modules import Module

__all__ = ["Bandwidth", "Density", "check_bandwidth", "estimate"]

Bandwidth = Literal["scott", "silverman"] | float

_BINS = 1024
#: The grid reaches this many bandwidths beyond the data: there a kernel has fallen to the floor
#: (exp(−6²/2) ≈ 1.5e-8), and the two ends of the data, twice as far apart in the periodic Fourier
#: product, do not see each other.
_MARGIN = 6.0
#: Densities below this fraction of the peak are rounding; the paper's floor on p_μ.
_FLOOR = 1e-8


class Density(Module):
    """A tabulated density, interpolated linearly and bounded away from zero."""

    start: Float[Array, ""]
    step: Float[Array, ""]
    table: Float[Array, " bins"]
    bandwidth: Float[Array, ""]

    def __call__(self, values: Float[Array, " m"]) -> Float[Array, " m"]:
        """The density at the given values."""
        position = jnp.clip((values - self.start) / self.step, 0.0, _BINS - 1.0)
        left = jnp.minimum(position.astype(jnp.int32), _BINS - 2)
        share = position - left
        return (1.0 - share) * self.table[left] + share * self.table[left + 1]


def check_bandwidth(bandwidth: Any) -> Bandwidth:
    """The bandwidth rule if it is one: "scott", "silverman" or a positive factor."""
    if isinstance(bandwidth, str) and bandwidth in ("scott", "silverman"):
        return bandwidth
    number = numbers_or_none(bandwidth)
    if number is not None and number.ndim == 0 and number > 0:
        return float(number)
    raise InputError(
        f"bandwidth is {shown(bandwidth)}; expected 'scott', 'silverman' or a positive number "
        "(in deviations of the values)"
    )


def estimate(
    values: Float[Array, " n"], weights: Float[Array, " n"], bandwidth: Bandwidth = "scott"
) -> Density:
    """The kernel density of weighted values.

    Args:
        values: Where the mass is; not all equal (the caller decides what a flat mean means).
        weights: How much mass each value has, not necessarily normalised.
        bandwidth: In deviations of the values: Scott's n_eff^(−1/5), Silverman's
            (3n_eff/4)^(−1/5), with n_eff = (Σw)²/Σw², or a number. At least about 1/500 of
            the values' range, the resolution of the grid.

    Example:
        >>> import jax.numpy as jnp
        >>> density = estimate(jnp.array([-1.0, 1.0]), jnp.ones(2), bandwidth=0.2)
        >>> bool(density(jnp.array([1.0]))[0] > density(jnp.array([0.0]))[0])
        True
    """
    weights = weights / jnp.sum(weights)
    concentration = jnp.sum(weights**2)
    mean = jnp.sum(weights * values)
    # The unbiased weighted variance; one value carrying all the mass leaves nothing to divide by.
    freedom = jnp.maximum(1.0 - concentration, 1e-12)
    deviation = jnp.sqrt(jnp.sum(weights * (values - mean) ** 2) / freedom)
    lowest, highest = jnp.min(values), jnp.max(values)
    # A kernel narrower than two bins would ring: its spectrum does not end before the grid's does.
    finest = 2.0 * (highest - lowest) / (_BINS - 1)
    width = jnp.maximum(_factor(bandwidth, concentration) * deviation, finest)

    low, high = lowest - _MARGIN * width, highest + _MARGIN * width
    step = (high - low) / (_BINS - 1)
    position = jnp.clip((values - low) / step, 0.0, _BINS - 1.0)
    left = jnp.minimum(position.astype(jnp.int32), _BINS - 2)
    share = position - left
    mass = jnp.zeros(_BINS, values.dtype)
    mass = mass.at[left].add(weights * (1.0 - share)).at[left + 1].add(weights * share)

    frequency = 2.0 * jnp.pi * jnp.fft.rfftfreq(_BINS).astype(values.dtype) / step
    smooth = jnp.fft.irfft(jnp.fft.rfft(mass) * jnp.exp(-0.5 * (frequency * width) ** 2), _BINS)
    table = smooth / step
    return Density(low, step, jnp.maximum(table, _FLOOR * jnp.max(table)), width)


def _factor(bandwidth: Bandwidth, concentration: Float[Array, ""]) -> Float[Array, ""]:
    if bandwidth == "scott":
        return concentration**0.2
    if bandwidth == "silverman":
        return (concentration / 0.75) ** 0.2
    return jnp.asarray(bandwidth, concentration.dtype)
