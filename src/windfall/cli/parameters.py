"""Parameters as a command line writes them: ``x=0:1``, ``rate=1e-4:1e-1:log``, ``kind=a,b``."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from windfall.errors import InputError
from windfall.space import Categorical, Integer, Parameters, Real

__all__ = ["known_before", "parameters"]


def parameters(
    boxes: Iterable[str] = (), integers: Iterable[str] = (), choices: Iterable[str] = ()
) -> Parameters:
    """The space that the options ``--box``, ``--integer`` and ``--choice`` describe.

    >>> parameters(["x=0:1", "rate=1e-4:1e-1:log"], ["layers=1:8"], ["kind=relu,tanh"]).parameters
    {'x': Real(0.0, 1.0), 'rate': Real(0.0001, 0.1, log=True),
     'layers': Integer(1, 8), 'kind': Categorical(['relu', 'tanh'])}
    >>> parameters(["x=0"])
    Traceback (most recent call last):
    windfall.errors.InputError: --box is 'x=0'; expected NAME=LOW:HIGH or NAME=LOW:HIGH:log
    """
    found: dict[str, Real | Integer | Categorical] = {}
    for option, texts, read in (
        ("box", boxes, _range(float, Real)),
        ("integer", integers, _range(int, Integer)),
        ("choice", choices, _choice),
    ):
        for text in texts:
            name, equals, rest = text.partition("=")
            if not equals or not name.isidentifier():
                raise InputError(f"--{option} is {text!r}; expected {_FORMS[option]}")
            if name in found:
                raise InputError(f"--{option} {text!r}: there is another {name!r}; rename one")
            try:
                found[name] = read(rest)
            except InputError as error:
                raise InputError(f"--{option} {text!r}: {error}") from error
            except ValueError:
                raise InputError(f"--{option} is {text!r}; expected {_FORMS[option]}") from None
    if not found:
        raise InputError("no parameters; give at least one --box, --integer or --choice")
    return Parameters(found)


def known_before(texts: Sequence[str]) -> list[str] | Parameters | None:
    """What the option ``--context`` describes: names, or parameters with their bounds or values.

    >>> known_before(["load", "heat"])
    ['load', 'heat']
    >>> known_before(["load=0:10", "kind=a,b"]).parameters
    {'load': Real(0.0, 10.0), 'kind': Categorical(['a', 'b'])}
    """
    bounded = [text for text in texts if "=" in text]
    if not bounded:
        return list(texts) or None
    if len(bounded) < len(texts):
        raise InputError(
            f"--context is {list(texts)}; expected bounds for all of them, or for none"
        )
    return parameters([t for t in texts if ":" in t], (), [t for t in texts if ":" not in t])


_FORMS = {
    "box": "NAME=LOW:HIGH or NAME=LOW:HIGH:log",
    "integer": "NAME=LOW:HIGH or NAME=LOW:HIGH:log, whole numbers",
    "choice": "NAME=FIRST,SECOND,...",
}


def _range(number: Callable[[str], Any], kind: type[Real] | type[Integer]) -> Callable[[str], Any]:
    def read(text: str) -> Real | Integer:
        low, high, *scale = text.split(":")
        if scale not in ([], ["log"]):
            raise ValueError
        return kind(number(low), number(high), log=bool(scale))

    return read


def _choice(text: str) -> Categorical:
    """Numbers if all of them are, and finite, as logs and JSON need them; else text."""
    texts = [choice.strip() for choice in text.split(",")]
    if len(texts) < 2 or not all(texts):
        raise ValueError
    for number in (int, _finite):
        try:
            return Categorical(tuple(number(choice) for choice in texts))
        except InputError:
            raise
        except ValueError:
            continue
    return Categorical(tuple(texts))


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError
    return number
