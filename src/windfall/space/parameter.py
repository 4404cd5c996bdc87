"""One parameter each: real, integer or one of several choices."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from windfall.errors import InputError

__all__ = ["Categorical", "Integer", "Parameter", "Real"]

#: A number may miss the edge by this fraction of the range (rounding on its way here) and is moved
#: onto it.
_SLACK = 1e-9


@dataclass(frozen=True)
class Real:
    """Any number from ``low`` to ``high``; with ``log`` equal ratios count as equal distances.

    Example:
        >>> Real(1e-4, 1e-1, log=True)
        Real(0.0001, 0.1, log=True)
    """

    low: Any  # checked, then float
    high: Any
    log: bool = False

    width = 1  # columns in the unit box
    whole = False

    def __post_init__(self):
        low, high = (_bound(self, name) for name in ("low", "high"))
        _check_order(low, high, self.log)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    def number(self, name: str, value: Any) -> float:
        """The value as a number in range."""
        return _within(self, name, _plain_number(self, name, value))

    def value(self, number: float) -> float:
        """The value as a user writes it."""
        return float(number)

    def __str__(self) -> str:
        """What is allowed, for messages."""
        return f"a number from {self.low:g} to {self.high:g}"

    def __repr__(self) -> str:
        """The expression that makes this parameter again."""
        return f"Real({self.low!r}, {self.high!r}{', log=True' * self.log})"


@dataclass(frozen=True)
class Integer:
    """Any whole number from ``low`` to ``high``, both included.

    Example:
        >>> Integer(1, 1024, log=True)
        Integer(1, 1024, log=True)
    """

    low: Any  # checked, then int
    high: Any
    log: bool = False

    width = 1
    whole = True

    def __post_init__(self):
        low, high = (_bound(self, name) for name in ("low", "high"))
        for name, bound in (("low", low), ("high", high)):
            if not bound.is_integer() or abs(bound) > 2**53:
                raise InputError(f"{name} is {getattr(self, name)!r}; expected a whole number")
        _check_order(low, high, self.log)
        object.__setattr__(self, "low", int(low))
        object.__setattr__(self, "high", int(high))

    def number(self, name: str, value: Any) -> float:
        """The value as a number in range."""
        number = _plain_number(self, name, value)
        if not number.is_integer():
            raise InputError(f"{name} is {value!r}; expected {self}")
        return _within(self, name, number)

    def value(self, number: float) -> int:
        """The value as a user writes it."""
        return round(number)

    def __str__(self) -> str:
        return f"a whole number from {self.low} to {self.high}"

    def __repr__(self) -> str:
        return f"Integer({self.low}, {self.high}{', log=True' * self.log})"


@dataclass(frozen=True)
class Categorical:
    """One of several choices without an order: text, numbers, True and False, None.

    Example:
        >>> Categorical(["relu", "tanh"])
        Categorical(['relu', 'tanh'])
    """

    choices: Any  # checked, then a tuple

    log = False
    whole = False

    def __post_init__(self):
        try:
            choices = tuple(self.choices)
            distinct = len(set(choices)) == len(choices)
        except TypeError:
            raise InputError(
                f"choices is {self.choices!r}; expected a list of text, numbers or None"
            ) from None
        if isinstance(self.choices, str) or len(choices) < 2 or not distinct:
            raise InputError(
                f"choices is {self.choices!r}; expected a list of 2 or more, all different"
            )
        object.__setattr__(self, "choices", choices)

    @property
    def width(self) -> int:
        """One column for each choice."""
        return len(self.choices)

    def number(self, name: str, value: Any) -> float:
        """Which of the choices it is, counted from 0."""
        try:
            return float(self.choices.index(value))
        except ValueError:
            raise InputError(f"{name} is {value!r}; expected {self}") from None

    def value(self, number: float) -> Any:
        """The value as a user writes it."""
        return self.choices[round(number)]

    def __str__(self) -> str:
        return f"one of {', '.join(map(repr, self.choices))}"

    def __repr__(self) -> str:
        return f"Categorical({list(self.choices)!r})"


Parameter = Real | Integer | Categorical


def _bound(parameter: Real | Integer, name: str) -> float:
    value = getattr(parameter, name)
    try:
        if isinstance(value, bool | str | bytes):
            raise TypeError
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} is {value!r}; expected a finite number") from None
    if not np.isfinite(number):
        raise InputError(f"{name} is {value!r}; expected a finite number")
    return number


def _check_order(low: float, high: float, log: bool) -> None:
    if not low < high:
        hint = "leave out a parameter that never varies" if low == high else "swap them"
        raise InputError(f"low is {low:g} and high is {high:g}; expected low below high: {hint}")
    if not np.isfinite(high - low):
        raise InputError(f"low is {low:g} and high is {high:g}; expected a smaller range")
    if log and low <= 0:
        raise InputError(f"low is {low:g} on a logarithmic scale; expected a number above 0")


def _plain_number(parameter: Parameter, name: str, value: Any) -> float:
    try:
        if isinstance(value, bool | np.bool_ | str | bytes):
            raise TypeError
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} is {value!r}; expected {parameter}") from None
    if not np.isfinite(number):
        raise InputError(f"{name} is {value!r}; expected {parameter}")
    return number


def _within(parameter: Real | Integer, name: str, number: float) -> float:
    slack = _SLACK * (parameter.high - parameter.low)
    if not parameter.low - slack <= number <= parameter.high + slack:
        raise InputError(f"{name} is {number:g}; expected {parameter}")
    return min(max(number, float(parameter.low)), float(parameter.high))
