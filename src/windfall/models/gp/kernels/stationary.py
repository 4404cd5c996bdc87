"""Kernels of the scaled distance alone, and their spectra."""

import operator
from functools import reduce

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from windfall.models.gp.kernels.base import Kernel
from windfall.models.gp.kernels.parameter import one_per_feature, parameter
from windfall.runtime.arrays import Array
from windfall.runtime.modules import Module

__all__ = [
    "Matern12",
    "Matern32",
    "Matern52",
    "RationalQuadratic",
    "SquaredExponential",
    "Stationary",
    "Waves",
    "fourier_features",
]

#: From this r² on exp(−√3 r) is 0, and a polynomial of r times it must be too, also where r² has
#: overflowed.
_FAR = 1e6
#: Of more columns than this, distances are computed from so many at a time: a compiler that makes
#: one loop of all of them computes them again wherever a distance is used.
_COLUMNS = 32


class Waves(Module):
    """a·cos(ω·x + b): a random feature for each frequency ω and phase b."""

    frequencies: Float[Array, "d f"]
    phases: Float[Array, " f"]
    amplitude: Float[Array, ""]

    def __call__(self, x: Float[Array, "m d"]) -> Float[Array, "m f"]:
        """The features of each point."""
        return self.amplitude * jnp.cos(x @ self.frequencies + self.phases)


def fourier_features(key, count, inverse, variance, dtype, scale=1.0) -> Waves:
    """√(2·variance)·cos(ω·x + b), ω ~ scale·N(0, diag(inverse²)), b ~ U(0, 2π)."""
    frequency_key, phase_key = jax.random.split(key)
    normal = jax.random.normal(frequency_key, (inverse.shape[0], count), dtype)
    frequencies = normal * inverse[:, None] * scale
    phases = jax.random.uniform(phase_key, (count,), dtype, 0.0, 2.0 * jnp.pi)
    return Waves(frequencies, phases, jnp.sqrt(2.0 * variance))


class Stationary(Kernel):
    """A function of the scaled distance r = ‖(x − x')/lengthscale‖ alone."""

    lengthscale: Float[Array, ""] | Float[Array, " d"] = parameter("lengthscale", per_feature=True)
    variance: Float[Array, ""] = parameter("variance")

    def profile(self, r2: Float[Array, "..."]) -> Float[Array, "..."]:
        """The correlation as a function of r²."""
        raise TypeError(f"{type(self).__name__} does not define profile(r2)")

    def along(self, r: Float[Array, "..."]) -> Float[Array, "..."]:
        """The same as a function of r ≥ 0, where that is known: along one feature."""
        return self.profile(r**2)

    def glance(self, r2: Float[Array, "..."]) -> Float[Array, "..."]:
        """The same but for rounding, for a first look at many points: as soon as can be."""
        return self.profile(r2)

    def frequency_scale(self, key, count, dtype) -> Float[Array, " count"]:
        """Multiplies Gaussian frequencies so that they follow the kernel's spectrum."""
        raise TypeError(f"{type(self).__name__} does not define frequency_scale")

    def __call__(self, x1, x2):
        return self.variance * self.profile(jnp.sum(((x1 - x2) / self.lengthscale) ** 2))

    def gram(self, x1, x2):
        weights = jnp.broadcast_to(self.lengthscale**-2, (x1.shape[1],))
        return self.variance * self.profile(squared_distance(weights, x1, x2))

    def diagonal(self, x):
        return jnp.broadcast_to(self.variance, (x.shape[0],))

    def random_features(self, key, count, anchors):
        scale_key, key = jax.random.split(key)
        scale = self.frequency_scale(scale_key, count, anchors.dtype)
        inverse = 1.0 / jnp.broadcast_to(self.lengthscale, (anchors.shape[1],))
        return fourier_features(key, count, inverse, self.variance, anchors.dtype, scale)

    def expanded(self, dimension):
        scales = one_per_feature("lengthscale", self.lengthscale, dimension)
        return eqx.tree_at(lambda k: k.lengthscale, self, scales)

    def stretched(self, factors):
        scales = np.asarray(self.lengthscale)
        return eqx.tree_at(
            lambda k: k.lengthscale, self, scales * factors if scales.ndim else scales
        )


@jax.custom_vjp
def squared_distance(
    weights: Float[Array, " d"], x1: Float[Array, "n d"], x2: Float[Array, "m d"]
) -> Float[Array, "n m"]:
    """Σ_i w_i (x_i − x'_i)² of all pairs.

    Feature by feature, so that nothing of size n×m×d is ever made; and differences before anything
    else: they are exact where points coincide, unlike the dot-product trick, and unlike differences
    of scaled features, which a compiler may round twice (x/l once inside a fused multiply-add, once
    outside).

    The derivatives do take products of matrices, whatever the number of features: with G the
    cotangent, for x it is 2w (x Σ_m G − G x'), and for w it is Σ G (x² + x'² − 2x x').
    """
    if x1.shape[1] <= _COLUMNS:
        return _some_columns(weights, x1, x2)
    # A program that grows with the columns: of many, some at a time.
    columns = x1.shape[1]
    padded = -(-columns // _COLUMNS) * _COLUMNS
    weights = jnp.pad(weights, (0, padded - columns)).reshape(-1, _COLUMNS)
    x1, x2 = (
        jnp.pad(x, ((0, 0), (0, padded - columns))).reshape(len(x), -1, _COLUMNS).swapaxes(0, 1)
        for x in (x1, x2)
    )
    nothing = jnp.zeros((x1.shape[1], x2.shape[1]), jnp.result_type(weights, x1, x2))
    return jax.lax.scan(
        lambda total, some: (total + _some_columns(*some), None), nothing, (weights, x1, x2)
    )[0]


def _some_columns(weights, x1, x2):
    squares = (weights[i] * (x1[:, None, i] - x2[None, :, i]) ** 2 for i in range(x1.shape[1]))
    return reduce(operator.add, squares)


def _squared_distance_forward(weights, x1, x2):
    return squared_distance(weights, x1, x2), (weights, x1, x2)


def _squared_distance_backward(residuals, cotangent):
    weights, x1, x2 = residuals
    rows, columns = jnp.sum(cotangent, axis=1)[:, None], jnp.sum(cotangent, axis=0)[:, None]
    across = cotangent @ x2
    apart1, apart2 = x1 * rows - across, x2 * columns - cotangent.T @ x1
    # One product of matrices where, as in every fit, only this is asked for.
    by_weight = jnp.sum(x1 * (apart1 - across), axis=0) + jnp.sum(x2**2 * columns, axis=0)
    return by_weight, 2.0 * weights * apart1, 2.0 * weights * apart2


squared_distance.defvjp(_squared_distance_forward, _squared_distance_backward)


def _distance(r2):
    """√r² whose gradient at 0 is 0, where the true one is a cusp or 0/0.

    A floor and not ``where(r2 > 0, …)``: a compiler that computes r² twice, with different
    rounding, may take the one branch here and the other there.
    """
    return jnp.sqrt(jnp.maximum(r2, 1e-36))


class SquaredExponential(Stationary):
    """k = variance · exp(−r²/2): very smooth payoffs (the paper's kernel)."""

    def profile(self, r2):
        return jnp.exp(-0.5 * r2)

    def frequency_scale(self, key, count, dtype):
        return jnp.ones(count, dtype)


class Matern12(Stationary):
    """k = variance · exp(−r): continuous, nowhere smooth."""

    def profile(self, r2):
        return jnp.exp(-_distance(r2))

    def frequency_scale(self, key, count, dtype):
        return _student_scale(key, count, dtype, 0.5)


class Matern32(Stationary):
    """k = variance · (1 + √3 r) exp(−√3 r): once differentiable."""

    def profile(self, r2):
        r = _distance(3.0 * jnp.minimum(r2, _FAR))
        return (1.0 + r) * jnp.exp(-r)

    def frequency_scale(self, key, count, dtype):
        return _student_scale(key, count, dtype, 1.5)


class Matern52(Stationary):
    """k = variance · (1 + √5 r + 5r²/3) exp(−√5 r): twice differentiable."""

    def profile(self, r2):
        return _matern52(jnp.minimum(r2, _FAR))

    def along(self, r):
        return _matern52_along(jnp.minimum(r, _FAR**0.5))

    def glance(self, r2):
        # A function of r alone: XLA computes r² again wherever it is used, but no root twice. In
        # Horner's form, or it would take r·r for r². Half the time, over a million points.
        r = jnp.minimum(_distance(5.0 * r2), 5.0 * _FAR**0.5)
        return (1.0 + r * (1.0 + r * (1.0 / 3.0))) * jnp.exp(-r)

    def frequency_scale(self, key, count, dtype):
        return _student_scale(key, count, dtype, 2.5)


# Slopes in closed form: by the chain rule they are differences of infinities at 0, and take several
# times as long where there is a kernel for every feature (``MainEffects``).
@jax.custom_jvp
def _matern52(r2):
    """Of r²: p = (1 + s + s²/3) exp(−s) with s = √(5r²), and dp/dr² = −5/6 (1 + s) exp(−s)."""
    r = _distance(5.0 * r2)
    return (1.0 + r + 5.0 * r2 / 3.0) * jnp.exp(-r)


@_matern52.defjvp
def _matern52_slope(primals, tangents):
    (r2,) = primals
    r = _distance(5.0 * r2)
    decay = jnp.exp(-r)
    return (1.0 + r + 5.0 * r2 / 3.0) * decay, -5.0 / 6.0 * (1.0 + r) * decay * tangents[0]


@jax.custom_jvp
def _matern52_along(r):
    """The same of r, and dp/dr = −5/3 r (1 + s) exp(−s)."""
    s = 5.0**0.5 * r
    return (1.0 + s * (1.0 + s / 3.0)) * jnp.exp(-s)


@_matern52_along.defjvp
def _matern52_along_slope(primals, tangents):
    (r,) = primals
    s = 5.0**0.5 * r
    decay = jnp.exp(-s)
    return (1.0 + s * (1.0 + s / 3.0)) * decay, -5.0 / 3.0 * r * (1.0 + s) * decay * tangents[0]


def _student_scale(key, count, dtype, smoothness):
    """The Matérn spectrum is a Student t with 2ν degrees of freedom: N(0, 1)/√(Gamma(ν)/ν)."""
    return jnp.sqrt(smoothness / jax.random.gamma(key, smoothness, (count,), dtype))


class RationalQuadratic(Stationary):
    """k = variance · (1 + r²/(2·alpha))^(−alpha): a mixture of squared exponentials."""

    alpha: Float[Array, ""] = parameter("alpha")

    def profile(self, r2):
        return jnp.exp(-self.alpha * jnp.log1p(r2 / (2.0 * self.alpha)))

    def frequency_scale(self, key, count, dtype):
        return jnp.sqrt(jax.random.gamma(key, self.alpha, (count,), dtype) / self.alpha)
