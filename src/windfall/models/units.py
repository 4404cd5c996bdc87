"""The way from points of the unit box to features in the user's units, inside compiled code."""

import jax.numpy as jnp
import numpy as np
from jax.tree_util import Partial

from windfall.space import Arms, Inputs, Parameters
from windfall.space.joint import Joint
from windfall.space.spacing import moved

__all__ = ["joint_units", "user_units"]


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
        box = space.unit_box
        return Partial(_spread, box.low, box.span, box.spacing)
    assert isinstance(space, Parameters)
    return Partial(_decoded, space.columns)


def joint_units(space: Joint) -> Partial:
    """A function of unit points and a context's columns: features, then the context's numbers.

    The bounds of the context must be given.

    Example:
        >>> import numpy as np
        >>> from windfall.space import Arms, Context
        >>> context = Context({"load": (0, 10)})
        >>> joint = Joint(Arms([[1.0], [3.0]]), context, context.frame(None))
        >>> joint_units(joint)(np.array([[0.5], [1.0]]), np.array([0.5])).tolist()
        [[2.0, 5.0], [3.0, 5.0]]
    """
    assert space.context is not None
    assert space.context.space is not None
    return Partial(_both, user_units(space.space), user_units(space.context.space))


def _both(units, others, x, context):
    features, known = units(x), others(context[None])
    return jnp.concatenate([features, jnp.tile(known, (x.shape[0], 1))], axis=1)


def _first(like, units, x):
    return units(x[:, : like.shape[0]])  # a shape is known also where numbers are traced


def _spread(low, span, spacing, x):
    columns = [
        column if places is None else moved(column, places.to, places.at, jnp)
        for column, places in zip(x.T, spacing, strict=True)
    ]
    return low + span * (x if all(p is None for p in spacing) else jnp.stack(columns, axis=1))


def _decoded(columns, x):
    return columns.natural(x, jnp)
