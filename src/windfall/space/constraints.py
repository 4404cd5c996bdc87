"""Known inequalities: which points of a box are allowed."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from windfall.checks import finite
from windfall.errors import InputError
from windfall.naming import name_of
from windfall.runtime.given import Coefficients, Number
from windfall.specs import by_name

__all__ = ["AtMost", "Constraint", "check_constraints", "evaluate"]

#: A function of the parameters by name; a point is allowed where it is 0 or more.
Constraint = Callable[[Mapping[str, Any]], Any]


class AtMost:
    """The linear constraint Σ coefficient · parameter ≤ bound.

    Example:
        >>> AtMost({"x": 1.0, "y": 2.0}, 3.0)({"x": 1.0, "y": 0.5})
        1.0
    """

    def __init__(self, coefficients: Coefficients, bound: Number):
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

    @classmethod
    def from_spec_arguments(cls, coefficients: Any, bound: Any) -> "AtMost":
        return cls(by_name("coefficients", coefficients), bound)

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
        _check_traceable(constraint, names)
    return listed


def _check_traceable(constraint: Constraint, names: Sequence[str]) -> None:
    """Refuse what JAX cannot trace to one number, before a study starts."""
    import jax  # only where there are constraints

    with jax.enable_x64(True):
        jax.eval_shape(partial(evaluate, constraint, names), np.zeros(len(names)))


def evaluate(constraint: Constraint, names: Sequence[str], numbers: Any) -> Any:
    """A constraint at one point, in JAX; what it cannot do is an error of the input."""
    import jax.numpy as jnp

    name = name_of(constraint)
    try:
        value = jnp.asarray(constraint(dict(zip(names, numbers, strict=True))))
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(
            f"constraint {name} failed: {type(error).__name__}: {reason}; expected a function of "
            "the parameters by name, written with jax.numpy"
        ) from error
    if value.ndim > 0:
        raise InputError(
            f"constraint {name} returned an array of shape {value.shape}; expected one number, "
            "0 or more where the point is allowed"
        )
    if value.dtype == bool:
        # As a number False is 0, and 0 is allowed.
        raise InputError(
            f"constraint {name} returned True or False; expected a number that is 0 or more where "
            "the point is allowed, such as 0.5 - p['x'] for p['x'] <= 0.5"
        )
    return value
