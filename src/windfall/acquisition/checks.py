"""Checks of acquisition settings."""

from typing import Any

import numpy as np

from windfall.errors import InputError

__all__ = ["one_of", "whole_number"]


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
