"""Checks of arrays that come from outside: each gives an array of floats or says what is wrong."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from windfall.checks import shown
from windfall.errors import InputError

__all__ = ["check_arms", "check_span", "entries", "finite_array", "read_only", "shape_of"]

NUMERIC_KINDS = "biuf"


def check_arms(arms: Any, name: str = "arms") -> np.ndarray:
    """Return the features of the arms as an (M, d) array: float32 if they are that, else float64.

    Accepts an array, nested lists, or a table with ``.to_numpy()`` such as a DataFrame.
    Duplicate arms and features that never vary are fine. Anything that is not an (M, d) table of
    at least two arms with finite features, and finite differences of them, is an
    [`InputError`][windfall.errors.InputError]; its message calls the argument ``name``.

    >>> check_arms([[0, 1], [2, 3]])
    array([[0., 1.],
           [2., 3.]])
    >>> check_arms([[0.0, 1.0], [2.0, float("nan")]])
    Traceback (most recent call last):
    ...
    windfall.errors.InputError: arms[1, 1] is nan; expected a finite number
    """
    columns = getattr(arms, "columns", None)
    column_names = None if columns is None else [str(column) for column in columns]
    values = _finite(arms, name, column_names)
    if values.ndim != 2:
        remedy = f"for one feature use {name}.reshape(-1, 1)" if values.ndim == 1 else "flatten it"
        raise InputError(f"{name} has shape {values.shape}; expected (arms, features): {remedy}")
    if values.shape[1] == 0:
        raise InputError(f"{name} has shape {values.shape}; expected at least one feature (column)")
    if values.shape[0] < 2:
        raise InputError(f"{name} has shape {values.shape}; expected at least 2 arms (rows)")
    check_span(values.min(axis=0), values.max(axis=0), name, column_names)
    return values


def check_span(
    low: np.ndarray, high: np.ndarray, name: str, columns: Sequence[str] | None = None
) -> None:
    """Refuse a range so wide that no floating-point number holds its width.

    >>> check_span(np.array([0.0, -1e308]), np.array([1.0, 1e308]), "arms")
    Traceback (most recent call last):
    ...
    windfall.errors.InputError: arms has a range from -1e+308 to 1e+308 in feature 1; expected ...
    """
    with np.errstate(over="ignore"):
        wide = np.isinf(high - low)
    if wide.any():
        j = int(np.argmax(wide))
        feature = f"column {columns[j]!r}" if columns is not None else f"feature {j}"
        raise InputError(
            f"{name} has a range from {low[j]:g} to {high[j]:g} in {feature}; expected a narrower"
            " one: use other units"
        )


def finite_array(values: Any, name: str, columns: Sequence[str] | None = None) -> np.ndarray:
    """Return ``values`` as a float64 array of any shape, every entry a finite number.

    ``columns`` names the columns of a table, for the message. Text is never taken for a number,
    even where it could be read as one.
    """
    return np.asarray(_finite(values, name, columns), dtype=np.float64)


def _finite(values: Any, name: str, columns: Sequence[str] | None) -> np.ndarray:
    array = _to_array(values, name)
    if array.dtype.kind not in NUMERIC_KINDS:
        array = _numbers_from_objects(array, name, columns)
    if array.dtype != np.float32:
        array = np.asarray(array, dtype=np.float64)
    if not np.isfinite(array).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        place = _place(name, where, columns)
        raise InputError(f"{place} is {array[where]}; expected a finite number")
    return array


def read_only(array: np.ndarray) -> np.ndarray:
    """Return a copy that nobody can write to; the array itself if nobody can write to that."""
    owner: Any = array
    while isinstance(owner, np.ndarray):
        if owner.flags.writeable:
            copy = np.array(array)
            copy.setflags(write=False)
            return copy
        owner = owner.base
    return np.asarray(array)


def entries(given: Any) -> list[Any] | None:
    """What a list or an array holds; None for what holds nothing: a text, a number.

    An array without axes is a number, although Python takes it for something to go through.

    >>> entries(("a", 3)), entries("ab"), entries(np.array(5.0))
    (['a', 3], None, None)
    """
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        return None
    return None if getattr(given, "shape", None) == () else [*given]


def shape_of(values: Any) -> tuple[int, ...] | None:
    """The shape of lists as an array; None if they are ragged."""
    try:
        return np.shape(values)
    except ValueError:
        return None


def _to_array(values: Any, name: str) -> np.ndarray:
    try:
        return np.asarray(values.to_numpy() if hasattr(values, "to_numpy") else values)
    except ValueError as error:  # what NumPy raises for rows of unequal length
        raise InputError(
            f"{name} is ragged or mixed; expected as many numbers in every row as in the first"
        ) from error


def _numbers_from_objects(
    array: np.ndarray, name: str, columns: Sequence[str] | None
) -> np.ndarray:
    numbers = np.empty(array.shape)
    for where in np.ndindex(array.shape):
        entry = array[where]
        try:
            if isinstance(entry, str | bytes | np.complexfloating | np.datetime64 | np.timedelta64):
                raise TypeError
            numbers[where] = float(entry)
        except (TypeError, ValueError, OverflowError):
            place = _place(name, where, columns)
            raise InputError(f"{place} is {shown(entry, 40)}; expected a number") from None
    return numbers


def _place(name: str, where: tuple[int, ...], columns: Sequence[str] | None) -> str:
    if columns is not None and len(where) == 2:
        return f"{name} row {where[0]}, column {columns[where[1]]!r}"
    return f"{name}[{', '.join(map(str, where))}]" if where else name
