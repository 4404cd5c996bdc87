"""Known inequalities: which points of a box are allowed."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from windfall.checks import finite
from windfall.errors import InputError

__all__ = ["AtMost", "Constraint", "check_constraints"]

#: A function of the parameters by name; a point is allowed where it is 0 or more.
Constraint = Callable[[Mapping[str, Any]], Any]


class AtMost:
    """The linear constraint Σ coefficient · parameter ≤ bound.

    Example:
        >>> AtMost({"x": 1.0, "y": 2.0}, 3.0)({"x": 1.0, "y": 0.5})
        1.0
    """

    def __init__(self, coefficients: Any, bound: Any):
        """A coefficient for each parameter that takes part, in the user's units."""
        if not isinstance(coefficients, Mapping) or not coefficients:
            raise InputError(
                f"coefficients is {coefficients!r}; expected numbers by name, such as {{'x': 1.0}}"
            )
        self.coefficients = {
            name: finite(f"coefficient of {name}", value) for name, value in coefficients.items()
        }
        if not any(self.coefficients.values()):
            raise InputError(f"coefficients is {coefficients!r}; expected one that is not 0")
        self.bound = finite("bound", bound)

    def __call__(self, parameters: Mapping[str, Any]) -> Any:
        """How far below the bound; negative where it is exceeded."""
        total = sum(c * parameters[name] for name, c in self.coefficients.items())
        return self.bound - total

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AtMost) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        """The expression that makes this constraint again."""
        return f"AtMost({self.coefficients!r}, {self.bound!r})"


def check_constraints(
    constraints: Any, names: Sequence[str], choices: Sequence[str]
) -> tuple[Constraint, ...]:
    """The constraints of a space with parameters of these names, some of them choices."""
    listed = [constraints] if callable(constraints) else constraints
    if isinstance(listed, str | bytes | Mapping):
        raise InputError(f"constraints is {constraints!r}; expected a list of AtMost or functions")
    try:
        listed = tuple(listed)
    except TypeError:
        raise InputError(
            f"constraints is {constraints!r}; expected a list of AtMost or functions"
        ) from None
    for constraint in listed:
        if not callable(constraint):
            raise InputError(
                f"constraint is {constraint!r}; expected AtMost or a function of the parameters"
            )
        if isinstance(constraint, AtMost):
            for name in constraint.coefficients:
                if name not in names or name in choices:
                    wanted = ", ".join(n for n in names if n not in choices)
                    raise InputError(
                        f"{constraint!r} names {name!r}; expected numeric parameters: {wanted}"
                    )
    return listed
