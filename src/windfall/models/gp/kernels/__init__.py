"""Covariance functions k(x, x'), composable with ``+`` and ``*``.

A kernel is a frozen pytree whose leaves are its positive parameters in natural units, so
that a fit can move them, and whose ``repr`` is the expression that makes it again.

Every kernel answers three questions:

- ``k(x1, x2)``: the covariance of two points;
- ``k.gram(xs, zs)``: the matrix of all pairs (by ``vmap``; a fast path where it pays);
- ``k.random_features(key, count, anchors)``: a map to features z₁ … z_count, each with mean 0 and
  E[z_j(x) z_j(x')] = k(x, x'), from which prior functions are drawn without an M×M factorisation.
"""

from windfall.models.gp.kernels.base import (
    Constant,
    Custom,
    Kernel,
    Product,
    Sum,
    as_kernel,
)
from windfall.models.gp.kernels.effects import Effects
from windfall.models.gp.kernels.jumps import Jumps
from windfall.models.gp.kernels.main_effects import MainEffects
from windfall.models.gp.kernels.other import Linear, Own, Periodic, Trend, White
from windfall.models.gp.kernels.parameter import parameter
from windfall.models.gp.kernels.part import Part
from windfall.models.gp.kernels.stationary import (
    Matern12,
    Matern32,
    Matern52,
    RationalQuadratic,
    SquaredExponential,
    Stationary,
)

__all__ = [
    "Constant",
    "Custom",
    "Effects",
    "Jumps",
    "Kernel",
    "Linear",
    "MainEffects",
    "Matern12",
    "Matern32",
    "Matern52",
    "Own",
    "Part",
    "Periodic",
    "Product",
    "RationalQuadratic",
    "SquaredExponential",
    "Stationary",
    "Sum",
    "Trend",
    "White",
    "as_kernel",
    "parameter",
]
