"""The way from points of the unit box to features in the user's units, inside compiled code."""

import jax.numpy as jnp
import numpy as np
from jax.tree_util import Partial

from windfall.space import Arms, Inputs, Parameters
from windfall.space.joint import Joint

__all__ = ["user_units"]


def user_units(space: Inputs) -> Partial:
    """A function of (m, columns) unit points, made once when a study begins.

    Where there are contexts, only the features of the arm or point are given.

    Example:
        >>> import numpy as np
        >>> from windfall.space import Box
        >>> user_units(Box([0, 0], [1, 10]))(np.array([[0.5, 0.5]])).tolist()
        [[0.5, 5.0]]
    """
    if isinstance(space, Joint):
        return Partial(_first, np.zeros(space.space.dimension), user_units(space.space))
    if isinstance(space, Arms):
        return Partial(_affine, space.low, space.span)
    assert isinstance(space, Parameters)
    return Partial(_decoded, space.columns)


def _first(like, units, x):
    return units(x[:, : like.shape[0]])  # a shape is known also where numbers are traced


def _affine(low, span, x):
    return low + span * x


def _decoded(columns, x):
    return columns.natural(x, jnp)
