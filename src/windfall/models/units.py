"""The way from points of the unit box to features in the user's units, inside compiled code."""

import jax.numpy as jnp
from jax.tree_util import Partial

from windfall.space import Arms, Parameters, Space

__all__ = ["user_units"]


def user_units(space: Space) -> Partial:
    """A function of (m, columns) unit points, made once when a study begins.

    Example:
        >>> import numpy as np
        >>> from windfall.space import Box
        >>> user_units(Box([0, 0], [1, 10]))(np.array([[0.5, 0.5]])).tolist()
        [[0.5, 5.0]]
    """
    if isinstance(space, Arms):
        return Partial(_affine, space.low, space.span)
    assert isinstance(space, Parameters)
    return Partial(_decoded, space.columns)


def _affine(low, span, x):
    return low + span * x


def _decoded(columns, x):
    return columns.natural(x, jnp)
