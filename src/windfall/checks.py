"""Checks of plain arguments, shared by everything a user calls."""

from typing import Any

import numpy as np

from windfall.errors import InputError

__all__ = ["finite", "whole"]


def whole(name: str, value: Any, least: int) -> int:
    """A whole number that is large enough.

    Example:
        >>> whole("rounds", 3, 1)
        3
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InputError(f"{name} is {value!r}; expected a whole number, at least {least}")
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
    except (TypeError, ValueError):
        raise InputError(f"{name} is {value!r}; expected a finite number") from None
    if not np.isfinite(number):
        raise InputError(f"{name} is {value!r}; expected a finite number")
    return number
