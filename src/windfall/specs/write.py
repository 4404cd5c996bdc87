"""Objects as specs."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from windfall.errors import InputError
from windfall.specs.common import (
    DEEPEST,
    NAMES,
    address,
    imported,
    inside,
    is_address,
    is_plain,
    is_table,
    shown,
    takes_part,
)
from windfall.specs.read import from_spec

__all__ = ["describe", "to_spec"]

#: What to do about something that cannot be saved: refuse it with this message, or put the stand-in
#: in its place.
_Otherwise = Callable[[str, Any], Any]


def to_spec(value: Any) -> Any:
    """The spec of an object; what cannot be rebuilt elsewhere is an ``InputError``.

    Args:
        value: A space, kernel, mean function, prior, fit, model, acquisition, policy, density or
            constraint; or a list or mapping of such things, a number, text, True, False or None.

    Example:
        >>> from windfall.space import Real
        >>> to_spec({"rate": Real(0.001, 1, log=True)})
        [['rate', {'type': 'Real', 'low': 0.001, 'high': 1.0, 'log': True}]]
        >>> to_spec(lambda x1, x2: 1.0)
        Traceback (most recent call last):
        windfall.errors.InputError: value is function <lambda>; expected a function that can be
        imported: define it at the top level of a module
    """
    name = type(value).__name__ if takes_part(type(value)) else "value"
    spec = _written(value, name, _refuse, 0)
    # A class of the user's own may give arguments that its constructor does not take or that change
    # on the way: better said now than when the study is opened again.
    try:
        again = _written(from_spec(spec, allow_imports=True), name, _refuse, 0)
    except InputError as error:
        raise InputError(f"{name} cannot be made again from its spec: {error}") from error
    if again != spec:
        raise InputError(
            f"{name} made again from its spec has the spec {shown(again)}; expected {shown(spec)}"
        )
    return spec


def describe(value: Any) -> Any:
    """The same for comparing: what other processes cannot import is named and marked as local.

    Example:
        >>> describe(lambda x1, x2: 1.0)["local"]
        True
    """
    return _written(value, "value", lambda message, stand_in: stand_in, 0)


def _refuse(message: str, stand_in: Any) -> Any:
    del stand_in
    raise InputError(message)


def _written(value: Any, where: str, otherwise: _Otherwise, depth: int) -> Any:
    if depth > DEEPEST:
        return otherwise(f"{where} is nested too deep; expected {DEEPEST} levels at most", "...")
    if is_plain(value) or is_table(value):
        return value
    if type(value) in (int, float):
        return otherwise(f"{where} is {shown(value)}; expected a finite number", shown(value))
    if isinstance(value, np.generic) or (hasattr(value, "__array__") and hasattr(value, "dtype")):
        return _array(value, where, otherwise, depth)
    if type(value) in (list, tuple):
        return [
            entry if is_plain(entry) else _written(entry, f"{where}[{i}]", otherwise, depth + 1)
            for i, entry in enumerate(value)
        ]
    if type(value) is dict and all(type(name) is str for name in value):
        return [
            [name, _written(entry, inside(where, name), otherwise, depth + 2)]
            for name, entry in value.items()
        ]
    if hasattr(value, "__qualname__") and callable(value):
        return _function(value, where, otherwise)
    return _object(value, where, otherwise, depth)


def _array(value: Any, where: str, otherwise: _Otherwise, depth: int) -> Any:
    """An array of numbers, text or objects as lists, a scalar as a Python number."""
    try:
        plain = np.asarray(value).tolist()
    except Exception:  # values that JAX is tracing, and keys
        plain = value
    if type(plain) is type(value):  # no Python number is as wide
        wrong = f"{where} is {shown(value)}; expected numbers that JSON can hold"
        return otherwise(wrong, _local(type(value)))
    return _written(plain, where, otherwise, depth)


def _function(value: Any, where: str, otherwise: _Otherwise) -> Any:
    home = address(value)
    if isinstance(value, type):  # a forgotten pair of brackets
        wrong = f"{where} is the class {value.__qualname__}; expected an object"
    elif not _leads_to(home, value):
        wrong = _not_importable(where, "function", value)
    else:
        return {"function": home}
    return otherwise(wrong, {"function": home, "local": True})


def _object(value: Any, where: str, otherwise: _Otherwise, depth: int) -> Any:
    cls = type(value)
    if not takes_part(cls):
        wrong = (
            f"{where} is {shown(value)}; expected a type of windfall's or derived from one, a "
            "function that can be imported, a number, text, or lists of them"
        )
        return otherwise(wrong, _local(cls))
    home = address(cls)
    spec = {"type": NAMES.get(home, home)}
    if home not in NAMES and not _leads_to(home, cls):
        spec = otherwise(_not_importable(where, "class", cls), _local(cls))
    try:
        arguments = _arguments(value, where)
    except InputError as error:
        return otherwise(str(error), spec)
    return spec | {
        name: _written(argument, inside(where, name), otherwise, depth + 1)
        for name, argument in arguments.items()
    }


def _arguments(value: Any, where: str) -> dict[str, Any]:
    """The constructor's arguments that make an object again."""
    cls = type(value)
    if hasattr(value, "spec_arguments"):
        arguments = value.spec_arguments()
    else:
        arguments = {}
        for name, argument in inspect.signature(cls).parameters.items():
            by_keyword = argument.kind in (argument.POSITIONAL_OR_KEYWORD, argument.KEYWORD_ONLY)
            if not by_keyword or not hasattr(value, name):
                raise InputError(
                    f"{where} is a {cls.__name__}, whose constructor takes {str(argument)!r}; "
                    f"expected an attribute {name!r}, or a method spec_arguments"
                )
            arguments[name] = getattr(value, name)
    reserved = arguments.keys() & {"type", "local"}
    if reserved:
        raise InputError(
            f"{where} is a {cls.__name__}, which has an argument {min(reserved)!r}; expected "
            "another name: specs use this one"
        )
    return arguments


def _leads_to(home: str, value: Any) -> bool:
    try:
        return is_address(home) and imported(home) is value
    except InputError:
        return False


def _not_importable(where: str, kind: str, value: Any) -> str:
    remedy = "define it at the top level of a module"
    if value.__module__ == "__main__":
        remedy = "move it to the top level of a module, out of the script that is run"
    name = value.__qualname__.rpartition("<locals>.")[2]
    return f"{where} is {kind} {name}; expected a {kind} that can be imported: {remedy}"


def _local(cls: type) -> dict[str, Any]:
    return {"type": address(cls), "local": True}
