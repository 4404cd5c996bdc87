"""Checks of plain arguments, shared by everything a user calls."""

from typing import Any

import numpy as np

from windfall.errors import InputError

__all__ = ["LARGEST_SEED", "finite", "number", "whole"]


#: Seeds are 32-bit, as JAX's keys are.
LARGEST_SEED = 2**32 - 1


def whole(name: str, value: Any, least: int, most: int | None = None) -> int:
    """A whole number in range.

    Example:
        >>> whole("rounds", 3, 1)
        3
    """
    whole_number = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole_number or value < least or (most is not None and value > most):
        limit = "" if most is None else f", at most {most}"
        raise InputError(f"{name} is {value!r}; expected a whole number, at least {least}{limit}")
    return int(value)


def finite(name: str, value: Any) -> float:
    """A finite number.

    Example:
        >>> finite("reward", "3.5")
        Traceback (most recent call last):
        windfall.errors.InputError: reward is '3.5'; expected a finite number
    """
    if isinstance(value, str | bytes):
        raise InputError(f"{name} is {value!r}; expected a finite number")
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} is {value!r}; expected a finite number") from None
    if not np.isfinite(number):
        raise InputError(f"{name} is {value!r}; expected a finite number")
    return number


def number(name: str, low: float, *, high: float = np.inf, strict: bool = False) -> Any:
    """A field converter: a finite host number in range becomes float64; traced values pass."""

    def convert(value: Any) -> Any:
        from jax import Array  # here, so that checking a command line does not wait for JAX

        if isinstance(value, Array):
            return value
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value[()]
        if isinstance(value, bool) or not isinstance(value, int | float | np.number):
            raise InputError(f"{name} is {value!r}; expected a number")
        below = value <= low if strict else value < low
        if not np.isfinite(value) or below or value > high:
            least = f"above {low:g}" if strict else f"{low:g} or more"
            most = "" if np.isinf(high) else f", at most {high:g}"
            raise InputError(f"{name} is {value!r}; expected a finite number, {least}{most}")
        return np.float64(value)

    return convert
