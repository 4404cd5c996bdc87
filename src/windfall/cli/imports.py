"""MODULE:NAME on a command line: a thing of the user's own."""

import importlib
import os
import sys
from types import ModuleType
from typing import Any

from windfall.errors import InputError

__all__ = ["named"]


def named(what: str, text: str, example: str) -> Any:
    """What NAME stands for in a module that Python finds, also in the current folder.

    Args:
        what: What the user is naming, for messages.
        text: MODULE:NAME.
        example: Of how it could look.

    >>> named("function", "math:sqrt", "mine:run")(9.0)
    3.0
    >>> named("function", "math.sqrt", "mine:run")
    Traceback (most recent call last):
    windfall.errors.InputError: function is 'math.sqrt'; expected MODULE:NAME, such as mine:run
    """
    module_name, colon, name = text.partition(":")
    if not module_name or not colon or not name.isidentifier():
        raise InputError(f"{what} is {text!r}; expected MODULE:NAME, such as {example}")
    if os.getcwd() not in sys.path:  # the command `windfall`, unlike `python -m`, leaves it out
        sys.path.insert(0, os.getcwd())
    module = _module(what, text, module_name)
    if not hasattr(module, name):
        from windfall.checks import did_you_mean  # here, so that --help does not wait for NumPy

        suggestion = did_you_mean(name, dir(module))
        raise InputError(f"{what} is {text!r}; module {module_name!r} has no {name!r}{suggestion}")
    return getattr(module, name)


def _module(what: str, text: str, name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:  # the user's module may do anything
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if missing is not None and f"{name}.".startswith(f"{missing}."):
            remedy = "call windfall from its folder or name that in PYTHONPATH"
            if name.endswith(".py"):
                remedy = f"write {text.replace('.py:', ':')}"
            raise InputError(
                f"{what} is {text!r}; there is no module {missing!r}: {remedy}"
            ) from error
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise InputError(f"{what} is {text!r}; importing {name!r} fails with {reason}") from error
