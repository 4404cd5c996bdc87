"""Where choices are made: a list of arms, a box, or parameters of several kinds."""

from collections.abc import Mapping
from typing import Any

from windfall.errors import InputError
from windfall.space.arms import Arms
from windfall.space.base import Apart, Inputs, Point, Space
from windfall.space.box import Box
from windfall.space.constraints import AtMost
from windfall.space.context import Context
from windfall.space.parameter import Categorical, Integer, Real
from windfall.space.region import Parameters

__all__ = [
    "Apart",
    "Arms",
    "AtMost",
    "Box",
    "Categorical",
    "Context",
    "Inputs",
    "Integer",
    "Parameters",
    "Point",
    "Real",
    "Space",
    "as_space",
]


def as_space(given: Any) -> Space:
    """The space of whatever a user chooses from: a space, or rows of features.

    Example:
        >>> as_space([[0.0], [1.0]]).size
        2
    """
    if isinstance(given, Space):
        return given
    if given is None:
        raise InputError(
            "arms is None; expected rows of numbers, a space such as Box, or kernel_matrix"
        )
    if isinstance(given, Mapping):
        raise InputError(
            f"arms is {given!r}; expected rows of numbers, a Box, or Parameters of Real, Integer "
            "and Categorical by name"
        )
    return Arms(given)
