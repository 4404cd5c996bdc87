"""One parameter each: real, integer or one of several choices."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from windfall.checks import true_or_false
from windfall.errors import InputError

__all__ = ["Categorical", "Integer", "Parameter", "Real", "from_text"]

#: A real number may miss the edge by this fraction of the range, on a logarithmic scale of the edge
#: itself (rounding on its way here), and is moved onto it.
_SLACK = 1e-9
#: Beyond this not every whole number is a float.
_LARGEST = 2**53


@dataclass(frozen=True, repr=False)
class _Range:
    """Numbers from ``low`` to ``high``, both included."""

    low: Any  # checked, then numbers
    high: Any
    log: Any = False  # checked, then a bool

    width = 1  # columns in the unit box
    whole: ClassVar[bool]  # whether only whole numbers count
    kind: ClassVar[str]  # in words, of the bounds

    def __post_init__(self):
        log = true_or_false("log")(self.log)
        low, high = (self._read(name, getattr(self, name), self.kind) for name in ("low", "high"))
        if not low < high:
            hint = "leave out a parameter that never varies" if low == high else "swap them"
            raise InputError(
                f"low is {low:g} and high is {high:g}; expected low below high: {hint}"
            )
        if not np.isfinite(high - low):
            raise InputError(f"low is {low:g} and high is {high:g}; expected a smaller range")
        if log and low <= 0:
            raise InputError(f"low is {low:g} on a logarithmic scale; expected a number above 0")
        object.__setattr__(self, "low", self.value(low))
        object.__setattr__(self, "high", self.value(high))
        object.__setattr__(self, "log", log)

    def number(self, name: str, value: Any) -> float:
        """The value as a number in range."""
        number = self._read(name, value, str(self))
        span = self.high - self.low
        below, above = (self.low, self.high) if self.log else (span, span)
        slack = 0.0 if self.whole else _SLACK
        if not self.low - slack * below <= number <= self.high + slack * above:
            raise InputError(f"{name} is {number:.15g}; expected {self}")
        return min(max(number, float(self.low)), float(self.high))

    def value(self, number: float) -> float:
        """The value as a user writes it."""
        return float(number)

    def _read(self, name: str, value: Any, expected: str) -> float:
        """A number of this kind, in range or not."""
        try:
            if isinstance(value, bool | np.bool_ | str | bytes):
                raise TypeError
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            number = np.nan
        if not np.isfinite(number):
            raise InputError(f"{name} is {value!r}; expected {expected}")
        return number

    def __repr__(self) -> str:
        """The expression that makes this parameter again."""
        return f"{type(self).__name__}({self.low!r}, {self.high!r}{', log=True' * self.log})"


class Real(_Range):
    """Any number from ``low`` to ``high``; with ``log`` equal ratios count as equal distances.

    Example:
        >>> Real(1e-4, 1e-1, log=True)
        Real(0.0001, 0.1, log=True)
    """

    whole = False
    kind = "a finite number"

    def __str__(self) -> str:
        """What is allowed, for messages."""
        return f"a number from {self.low:g} to {self.high:g}"


class Integer(_Range):
    """Any whole number from ``low`` to ``high``, both included.

    Example:
        >>> Integer(1, 1024, log=True)
        Integer(1, 1024, log=True)
    """

    whole = True
    kind = "a whole number"

    def __str__(self) -> str:
        return f"a whole number from {self.low} to {self.high}"

    def value(self, number: float) -> int:
        """The value as a user writes it."""
        return round(number)

    def _read(self, name: str, value: Any, expected: str) -> float:
        number = super()._read(name, value, expected)
        if not number.is_integer() or abs(number) > _LARGEST:
            raise InputError(f"{name} is {value!r}; expected {expected}")
        return number


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

    def spec_arguments(self) -> dict[str, Any]:
        """For specs: choices that JSON brings back as they are."""
        for choice in self.choices:
            if isinstance(choice, tuple | frozenset):
                raise InputError(
                    f"choice is {choice!r}; expected text, a number, True, False or None"
                )
        return {"choices": self.choices}

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


def from_text(parameter: Parameter | None, text: str) -> Any:
    """The value that is meant by a text where all is text: on a command line, in a table.

    One of the choices if it reads like one; else a number if it is one, as whole numbers are not
    the same as others everywhere. Whether it is allowed is not asked here.

    Args:
        parameter: What it is the value of; None where that is not known to be a parameter.
        text: What is written there.

    Example:
        >>> from_text(Categorical(["1", "2"]), "1"), from_text(Categorical([1, None]), "None")
        ('1', None)
        >>> from_text(None, "1"), from_text(None, "1.5"), from_text(None, "steel")
        (1, 1.5, 'steel')
    """
    choices = parameter.choices if isinstance(parameter, Categorical) else ()
    if text in choices:
        return text
    for choice in choices:
        if str(choice) == text:
            return choice
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text
