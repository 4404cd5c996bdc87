"""What reading, writing and comparing specs share: above all where things are defined."""

import sys
from importlib import import_module
from itertools import chain
from types import BuiltinFunctionType, MethodDescriptorType, WrapperDescriptorType
from typing import Any

import numpy as np

from windfall.errors import InputError
from windfall.registry import BASES, SPEC_TYPES

__all__ = [
    "DEEPEST",
    "NAMES",
    "address",
    "are_pairs",
    "imported",
    "inside",
    "is_address",
    "is_plain",
    "is_table",
    "shown",
    "takes_part",
]

#: Specs are nested at most this deep, so that neither writing nor reading one exhausts the stack.
DEEPEST = 64
#: The types that can stand in a spec: where each is defined → its name.
NAMES = {home: name for name, home in SPEC_TYPES.items()}
_ANCESTORS = {*NAMES, *BASES}
#: The script that is being run is called so, also in processes that it starts.
_SCRIPTS = ("__main__", "__mp_main__")
_IN_C = (BuiltinFunctionType, MethodDescriptorType, WrapperDescriptorType)


def address(value: Any) -> str:
    """``module:name`` of a function or a class.

    >>> address(InputError)
    'windfall.errors:InputError'
    """
    return f"{getattr(value, '__module__', None)}:{value.__qualname__}"


def is_address(text: Any) -> bool:
    """Whether a text has the form ``module:name``."""
    if not isinstance(text, str) or text.count(":") != 1:
        return False
    return all(part.isidentifier() for part in text.replace(":", ".").split("."))


def imported(text: str) -> Any:
    """What an address leads to: a class or a function that is defined right there.

    Not what a module has merely imported (``mine:os.system``), and nothing written in C
    (``builtins:eval``): neither is how a user's own function or class is written.
    """
    module, _, name = text.partition(":")
    if module in _SCRIPTS:
        raise InputError(f"{text!r} is in the script that is run; move it to a module")
    try:
        value = import_module(module)
        for part in name.split("."):
            value = getattr(value, part)
    except (Exception, SystemExit) as error:  # a user's module may do anything
        raise InputError(f"importing {text!r} fails with {_reason(error)}") from error
    if not hasattr(value, "__qualname__") or address(value) != text or isinstance(value, _IN_C):
        raise InputError(f"{text!r} is {shown(value)}, which is not defined there")
    return value


def takes_part(cls: type) -> bool:
    """Whether a class can stand in a spec: a type of windfall's, or derived from one."""
    return any(address(ancestor) in _ANCESTORS for ancestor in cls.__mro__)


def are_pairs(entries: list[Any]) -> bool:
    """Whether a list is a mapping: ``[name, value]`` each, all names different."""
    good = all(isinstance(e, list) and len(e) == 2 and isinstance(e[0], str) for e in entries)
    return good and len({name for name, _ in entries}) == len(entries)


def inside(where: str, name: str) -> str:
    """The place of something by its name, in one line whatever the name.

    >>> inside("space.parameters", "heat")
    'space.parameters.heat'
    """
    label = name if name.isprintable() else repr(name)
    return f"{where}.{label}" if where else label


def is_plain(value: Any) -> bool:
    """Whether a value stands for itself in JSON: None, True, False, text, a number.

    A number is one that a float can hold: not NaN, not infinite, no huge int.
    """
    if type(value) in (int, float):
        return abs(value) <= sys.float_info.max
    return value is None or type(value) in (bool, str)


def is_table(value: Any) -> bool:
    """Whether a value is a list of lists of floats, all finite: seen at once, if there are many."""
    if not isinstance(value, list) or set(map(type, value)) != {list}:
        return False
    if set(map(type, chain.from_iterable(value))) != {float} or len(set(map(len, value))) != 1:
        return False
    return bool(np.isfinite(np.array(value)).all())


def shown(value: Any, limit: int = 100) -> str:
    """A value in a message: in one line, and not too long."""
    if type(value) is int and not is_plain(value):
        return "a whole number beyond all floats"
    text = " ".join(repr(value).split())
    return text if len(text) <= limit else text[: limit - 3] + "..."


def _reason(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())
