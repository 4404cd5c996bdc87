"""Specs checked, and turned into objects."""

import inspect
from typing import Any

from windfall.checks import did_you_mean
from windfall.errors import InputError
from windfall.registry import SPEC_TYPES, find
from windfall.specs.common import (
    DEEPEST,
    are_pairs,
    imported,
    is_address,
    is_plain,
    is_table,
    shown,
    takes_part,
)

__all__ = ["by_name", "check_spec", "from_spec"]

#: All that the spec of a function may have.
_FUNCTION = {"function", "local"}


def from_spec(spec: Any, *, allow_imports: bool = False) -> Any:
    """The object that a spec describes; whatever is wrong with the spec is an ``InputError``.

    The spec is checked as a whole before anything is imported. Only types that take part in specs
    are ever made.

    Args:
        spec: What ``to_spec`` gave, or somebody wrote.
        allow_imports: Whether the user's functions and classes, which the spec has by their
            addresses, may be imported. Importing a module runs it: say yes to one's own files,
            never to what comes from a network.

    Example:
        >>> from_spec({"type": "Integer", "low": 1, "high": 8})
        Integer(1, 8)
        >>> from_spec({"type": "Integer", "low": 1, "hihg": 8})
        Traceback (most recent call last):
        windfall.errors.InputError: spec has an argument 'hihg' (did you mean 'high'?); expected
        those of Integer: low, high, log
    """
    check_spec(spec, allow_imports=allow_imports)
    return _made(spec, "spec")


def check_spec(spec: Any, *, allow_imports: bool = False) -> None:
    """Refuse what cannot be a spec, without importing anything.

    What only a constructor can tell (a negative length) is left to ``from_spec``.

    Example:
        >>> check_spec({"type": "Matern52", "lengthscale": 0.5})
        >>> check_spec({"type": "Matern52", "lengthscale": float("nan")})
        Traceback (most recent call last):
        windfall.errors.InputError: spec.lengthscale is nan; expected a finite number
    """
    _check(spec, "spec", allow_imports, 0)


def by_name(what: str, pairs: Any) -> dict[str, Any]:
    """A mapping that a spec has as ``[name, value]`` pairs.

    Example:
        >>> by_name("coefficients", [["x", 1.0], ["y", 2.0]])
        {'x': 1.0, 'y': 2.0}
    """
    if not isinstance(pairs, list) or not are_pairs(pairs):
        raise InputError(
            f"{what} is {shown(pairs)}; expected a list of [name, value], all names different"
        )
    return dict(pairs)


def _check(spec: Any, where: str, allow_imports: bool, depth: int) -> None:
    if depth > DEEPEST:
        # The place would be as long as the nesting is deep.
        raise InputError(f"spec is nested too deep; expected {DEEPEST} levels at most")
    if is_plain(spec) or is_table(spec):
        return
    if isinstance(spec, list):
        for i, entry in enumerate(spec):
            if not is_plain(entry):  # most are, and there may be many
                _check(entry, f"{where}[{i}]", allow_imports, depth + 1)
    elif isinstance(spec, dict):
        for name, entry in _check_object(spec, where, allow_imports).items():
            _check(entry, f"{where}.{name}", allow_imports, depth + 1)
    else:
        wanted = "a finite number" if type(spec) in (int, float) else "what JSON can hold"
        raise InputError(f"{where} is {shown(spec)}; expected {wanted}")


def _check_object(spec: dict[Any, Any], where: str, allow_imports: bool) -> dict[str, Any]:
    """The arguments of an object, or nothing for a function."""
    kind = "type" if "type" in spec else "function"
    home = spec.get(kind)
    named = all(isinstance(name, str) and name.isidentifier() for name in spec)
    if not isinstance(home, str) or not named or (kind == "function" and spec.keys() - _FUNCTION):
        raise InputError(
            f"{where} is {shown(spec)}; expected {{'type': NAME, ...}} or {{'function': ADDRESS}}"
        )
    if "local" in spec:
        raise InputError(
            f"{where}.{kind} is {shown(home)}, known only to the process that described it; "
            "expected one that can be imported"
        )
    if kind == "type" and home in SPEC_TYPES:
        return {name: entry for name, entry in spec.items() if name != "type"}
    if not is_address(home):
        expected = "MODULE:NAME" if kind == "function" else "a type that can stand in a spec"
        guess = did_you_mean(home, SPEC_TYPES) if kind == "type" else ""
        raise InputError(f"{where}.{kind} is {shown(home)}{guess}; expected {expected}")
    if not allow_imports:
        raise InputError(
            f"{where}.{kind} is {shown(home)}; expected nothing that must be imported from outside "
            "windfall, unless allow_imports=True"
        )
    return {name: entry for name, entry in spec.items() if name != kind}


def _made(spec: Any, where: str) -> Any:
    """What a spec that was checked describes."""
    if is_plain(spec) or is_table(spec):
        return spec
    if isinstance(spec, list):
        return [
            entry if is_plain(entry) else _made(entry, f"{where}[{i}]")
            for i, entry in enumerate(spec)
        ]
    if "type" not in spec:
        return _function(spec["function"], where)
    cls = _class(spec["type"], where)
    arguments = {
        name: _made(entry, f"{where}.{name}") for name, entry in spec.items() if name != "type"
    }
    return _constructed(cls, arguments, where)


def _function(home: str, where: str) -> Any:
    function = _imported(home, where)
    if isinstance(function, type) or not callable(function):
        raise InputError(f"{where}.function is {home!r}; expected the address of a function")
    return function


def _class(name: str, where: str) -> type:
    if name in SPEC_TYPES:
        return find(name)
    cls = _imported(name, where)
    if not isinstance(cls, type) or not takes_part(cls):
        raise InputError(
            f"{where}.type is {name!r}; expected a class derived from one of windfall's: a kernel, "
            "mean function, prior, acquisition, model or policy"
        )
    return cls


def _imported(home: str, where: str) -> Any:
    try:
        return imported(home)
    except InputError as error:
        raise InputError(f"{where}: {error}") from error


def _constructed(cls: type, arguments: dict[str, Any], where: str) -> Any:
    make = getattr(cls, "from_spec_arguments", cls)
    known = inspect.signature(make).parameters
    for name in arguments:
        if name not in known:
            raise InputError(
                f"{where} has an argument {name!r}{did_you_mean(name, known)}; expected "
                f"{_those_of(cls, known)}"
            )
    for name, parameter in known.items():
        if parameter.default is parameter.empty and name not in arguments:
            raise InputError(f"{where} has no argument {name!r}; expected {_those_of(cls, known)}")
    try:
        return make(**arguments)
    except InputError as error:
        raise InputError(f"{where}: {_in_one_line(error)}") from None
    except Exception as error:  # what a constructor does not check, and the user's own constructors
        reason = f"{type(error).__name__}: {_in_one_line(error)[:200]}"
        raise InputError(
            f"{where} is {shown(arguments)}; expected arguments that {cls.__name__} takes: {reason}"
        ) from error


def _in_one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _those_of(cls: type, known: Any) -> str:
    return f"those of {cls.__name__}: {', '.join(known) or 'none'}"
