"""Policies as a command line names them: by name, or MODULE:NAME for the user's own."""

from collections.abc import Iterable
from typing import Any

from windfall.cli.imports import named
from windfall.errors import InputError

__all__ = ["chosen"]


def chosen(texts: Iterable[str]) -> dict[str, Any]:
    """By label, a name or the object that MODULE:NAME leads to, whose label is NAME."""
    policies: dict[str, Any] = {}
    for text in dict.fromkeys(texts):
        label = text.rpartition(":")[2]
        if label in policies:
            raise InputError(f"two policies are called {label!r}; give one of them another name")
        policies[label] = _own(text) if ":" in text else text
    return policies


def _own(text: str) -> Any:
    from windfall.acquisition.base import Acquisition
    from windfall.policy import Policy

    value = named("policy", text, "mine:POLICY")
    if isinstance(value, Policy | Acquisition):
        return value
    if isinstance(value, type) and issubclass(value, Policy | Acquisition):
        raise InputError(
            f"policy {text!r} is a class; name an object, such as one that the module makes by"
            f" {value.__name__}(...)"
        )
    raise InputError(
        f"policy {text!r} is a {type(value).__name__}; expected a windfall Policy or Acquisition"
    )
