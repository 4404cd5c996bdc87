"""Checks of plain arguments, shared by everything a user calls.

Every complaint is one line in one form: NAME is VALUE; expected what would have been right.
"""

import difflib
import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from windfall.errors import InputError

__all__ = [
    "LARGEST_SEED",
    "did_you_mean",
    "finite",
    "is_traced",
    "known_name",
    "number",
    "numbers_or_none",
    "one_of",
    "shown",
    "true_or_false",
    "whole",
    "whole_number",
]


#: Seeds are 32-bit, as JAX's keys are.
LARGEST_SEED = 2**32 - 1


def whole(name: str, value: object, least: int, most: int | None = None) -> int:
    """A whole number in range.

    Example:
        >>> whole("rounds", 3, 1)
        3
        >>> whole("components", 65, 0, 64)
        Traceback (most recent call last):
        windfall.errors.InputError: components is 65; expected a whole number from 0 to 64
    """
    entry = _only_entry(value)
    whole_number = isinstance(entry, int | np.integer) and not isinstance(entry, bool)
    if not whole_number or entry < least or (most is not None and entry > most):
        wanted = f", at least {least}" if most is None else f" from {least} to {most}"
        raise InputError(f"{name} is {shown(value)}; expected a whole number{wanted}")
    return int(entry)


def whole_number(name: str, least: int, most: int | None = None) -> Callable[[object], int]:
    """A field converter: ``whole``."""
    return lambda value: whole(name, value, least, most)


def finite(name: str, value: Any) -> float:
    """A finite number.

    Example:
        >>> finite("reward", "3.5")
        Traceback (most recent call last):
        windfall.errors.InputError: reward is '3.5'; expected a finite number
    """
    try:
        if isinstance(value, str | bytes) or np.iscomplexobj(value):
            raise TypeError
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = np.nan
    if not np.isfinite(number):
        raise InputError(f"{name} is {shown(value)}; expected a finite number")
    return number


def number(
    name: str, low: float, *, high: float = np.inf, strict: bool = False
) -> Callable[[Any], Any]:
    """A field converter: a finite number in range becomes float64; what JAX traces passes.

    Example:
        >>> number("kappa", 0.0)(2)
        np.float64(2.0)
    """

    def convert(value: Any) -> Any:
        if is_traced(value):
            return value
        entry = _only_entry(value)
        if isinstance(entry, bool) or not isinstance(entry, int | float | np.integer | np.floating):
            raise InputError(f"{name} is {shown(value)}; expected a number")
        below = entry <= low if strict else entry < low
        if not _is_finite(entry) or below or entry > high:
            least = f"above {low:g}" if strict else f"{low:g} or more"
            most = "" if np.isinf(high) else f", at most {high:g}"
            raise InputError(f"{name} is {shown(value)}; expected a finite number, {least}{most}")
        return np.float64(entry)

    return convert


def numbers_or_none(values: Any) -> np.ndarray | None:
    """A number or numbers as a float64 array; None where an entry is no finite number.

    Example:
        >>> numbers_or_none([1, 2]), numbers_or_none(["1", "2"])
        (array([1., 2.]), None)
    """
    try:
        array = np.asarray(values)
    except (TypeError, ValueError):  # traced by JAX, or rows of unequal length
        return None
    if array.dtype.kind not in "iuf" or not np.isfinite(array).all():
        return None
    return array.astype(np.float64)


def one_of(name: str, *options: str) -> Callable[[object], Any]:
    """A field converter: one of a few words."""

    def convert(value: object) -> str:
        if not isinstance(value, str) or value not in options:
            raise InputError(
                f"{name} is {shown(value)}; expected {' or '.join(map(repr, options))}"
            )
        return value

    return convert


def true_or_false(name: str) -> Callable[[object], bool]:
    """A field converter: True or False, and nothing that only counts as such."""

    def convert(value: object) -> bool:
        if not isinstance(value, bool | np.bool_):
            raise InputError(f"{name} is {shown(value)}; expected True or False")
        return bool(value)

    return convert


def known_name(name: str, value: object, known: Iterable[str], besides: str = "") -> str:
    """A name that is known, or a complaint that lists those which are.

    Args:
        name: What the user is naming.
        value: What they wrote.
        known: The names there are.
        besides: What else they could have written, in words, ending in "or".

    Example:
        >>> known_name("suite", "extreme", ["paper", "extremes"])
        Traceback (most recent call last):
        windfall.errors.InputError: suite is 'extreme' (did you mean 'extremes'?); expected one ...
    """
    known = tuple(known)
    if isinstance(value, str) and value in known:
        return value
    raise InputError(
        f"{name} is {shown(value)}{did_you_mean(value, known)}; expected "
        f"{besides}{' ' * bool(besides)}one of {', '.join(known)}"
    )


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """The nearest known name as a question in brackets; nothing if none is near.

    Example:
        >>> did_you_mean("cosin", ["cosine", "temperature"])
        " (did you mean 'cosine'?)"
    """
    by_lower = {one.lower(): one for one in reversed(tuple(known))}
    close = difflib.get_close_matches(str(name).lower(), by_lower, n=1)
    return f" (did you mean {by_lower[close[0]]!r}?)" if close else ""


def is_traced(value: object) -> bool:
    """Whether JAX is tracing the value, so that there is no number to check yet."""
    core = sys.modules.get("jax.core")  # not imported: checking a command line need not wait for it
    return core is not None and isinstance(value, core.Tracer)


def shown(value: object, limit: int = 200) -> str:
    """A value in a message: in one line, not too long, an array without axes as its number.

    Example:
        >>> shown(np.float64(-5.0)), shown(list(range(99)), limit=20)
        ('-5.0', '[0, 1, 2, 3, 4, 5...')
    """
    entry = _only_entry(value)
    text = " ".join(repr(entry.item() if isinstance(entry, np.generic) else entry).split())
    return text if len(text) <= limit else text[: limit - 3] + "..."


def _only_entry(value: Any) -> Any:
    """The entry of an array without axes, NumPy's or JAX's; all else as it is."""
    if is_traced(value) or getattr(value, "shape", None) != () or not hasattr(value, "__array__"):
        return value
    try:
        return np.asarray(value)[()]
    except TypeError:  # a JAX key is an array without numbers
        return value


def _is_finite(entry: Any) -> bool:
    """Whether a float holds it; an int may be too large for one."""
    try:
        return bool(np.isfinite(float(entry)))
    except OverflowError:
        return False
