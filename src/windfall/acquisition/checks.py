"""Checks of acquisition settings, which may also be traced values inside compiled code."""

from typing import Any

import jax
import numpy as np

from windfall.errors import InputError

__all__ = ["number", "one_of", "whole_number"]


def number(name: str, low: float, *, high: float = np.inf, strict: bool = False) -> Any:
    """A field converter: a finite host number in range becomes float64; traced values pass."""

    def convert(value: Any) -> Any:
        if isinstance(value, jax.Array):
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


def whole_number(name: str, low: int, high: int) -> Any:
    """A field converter: a whole number from ``low`` to ``high``."""

    def convert(value: Any) -> int:
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        if not whole or not low <= value <= high:
            raise InputError(f"{name} is {value!r}; expected a whole number from {low} to {high}")
        return int(value)

    return convert


def one_of(name: str, *options: str) -> Any:
    """A field converter: one of a few words."""

    def convert(value: Any) -> str:
        if not isinstance(value, str) or value not in options:
            raise InputError(f"{name} is {value!r}; expected {' or '.join(map(repr, options))}")
        return value

    return convert
