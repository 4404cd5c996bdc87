"""The logs in which ``windfall optimize`` kept its calls before it kept studies: they are read.

A log is a file of JSON lines. The first says what the study is, every further one is a call of the
user's function; a line that a kill cut short is left out.
"""

import json
from pathlib import Path
from typing import Any

from windfall.errors import InputError
from windfall.study.function_study import Call

__all__ = ["logged"]

FORMAT = 1


def logged(path: Path, settings: dict[str, Any]) -> list[Call]:
    """The calls in a log, in the order of their numbers.

    Args:
        path: The log.
        settings: What must be the same in it.
    """
    try:
        whole, _, _ = path.read_bytes().rpartition(b"\n")
    except OSError as error:
        raise InputError(
            f"log {str(path)!r} cannot be read ({error.strerror}); choose another file"
        ) from error
    first, *lines = whole.split(b"\n")
    header = _parsed(first)
    if header.get("windfall_study") != FORMAT or "settings" not in header:
        raise InputError(f"log {str(path)!r} is no log of windfall optimize; choose another file")
    for name, now in settings.items():
        then = header["settings"].get(name)
        if then != now:
            raise InputError(
                f"log {str(path)!r} was begun with {name} {_text(then)}, this study has"
                f" {_text(now)}; use the same settings or another log"
            )
    return sorted((_call(path, line, n) for n, line in enumerate(lines, 2)), key=lambda c: c.number)


def _call(path: Path, line: bytes, number: int) -> Call:
    value = _parsed(line)
    try:
        return Call(*(value[name] for name in ("number", "parameters", "value", "failed")))
    except KeyError:
        raise InputError(
            f"log {str(path)!r} is damaged in line {number}; mend it or choose another file"
        ) from None


def _parsed(line: bytes) -> dict[str, Any]:
    """What a line holds; nothing where it is damaged."""
    try:
        value = json.loads(line)
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
