"""Hyper-parameters of kernels: positive numbers, one for all features or one for each."""

from functools import partial
from typing import Any

import equinox as eqx
import numpy as np
from jaxtyping import Float

from windfall.checks import is_traced, number, numbers_or_none, shown
from windfall.errors import InputError
from windfall.runtime.arrays import Array

__all__ = ["fixed_variance", "one_per_feature", "parameter", "positive"]


def parameter(name: str, *, per_feature: bool = False) -> Any:
    """A field of a kernel that holds one positive parameter, or possibly one per feature.

    Example:
        >>> import jax.numpy as jnp
        >>> from windfall.models.gp.kernels import Kernel
        >>> class Triangle(Kernel):
        ...     width: Any = parameter("width")
        ...     def __call__(self, x1, x2):
        ...         return jnp.maximum(0.0, 1.0 - jnp.abs(x1[0] - x2[0]) / self.width)
        >>> Triangle(width=0.5)
        Triangle(width=0.5)
    """
    return eqx.field(converter=partial(positive, name, per_feature=per_feature), default=1.0)


def positive(name: str, value: Any, *, per_feature: bool) -> Any:
    """A checked float64 array; values that are being traced have no numbers to check."""
    if is_traced(value):
        return value
    array = numbers_or_none(value)
    if array is None or not array.size or np.any(array <= 0) or array.ndim > per_feature:
        wanted = "a positive finite number" + (", or one per feature" if per_feature else "")
        raise InputError(f"{name} is {shown(value)}; expected {wanted}")
    return array


def one_per_feature(name: str, value: Float[Array, "..."], dimension: int) -> np.ndarray:
    """A parameter repeated for every feature, or as it is if it has one entry for each."""
    values = np.asarray(value)
    if values.ndim == 1 and values.size != dimension:
        raise InputError(
            f"{name} has {values.size} entries; expected one number, or one for each of the "
            f"arms' {dimension} features"
        )
    return np.broadcast_to(values, (dimension,)).copy()


def fixed_variance(given: Any) -> float:
    """A variance that is no hyper-parameter: no search moves it."""
    return float(number("variance", 0.0, strict=True)(given))
