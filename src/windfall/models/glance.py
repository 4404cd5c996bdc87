"""A first look at many points: single precision, feature by feature, and how far off that may be.

Most arms of a long list are far from winning, which a rough look can tell with certainty: whoever
looks says how much too high an answer may have to be taken so that the true one is not above it.
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from windfall.runtime.arrays import Array
from windfall.runtime.execution import on_accelerator
from windfall.runtime.modules import Module

__all__ = ["UNIT", "Glance", "pass_over"]

#: Half the distance from 1 to the next number in single precision: the error of one rounding.
UNIT = 2.0**-24


class Glance(Module):
    """Points of the unit box in single precision.

    Attributes:
        x: A row for each feature: neighbours in memory are what processors compute at once.
        reach: The largest size of each feature, among all points that are ever looked at.
    """

    x: Float[Array, "d m"]
    reach: Float[Array, " d"]

    @classmethod
    def blocks(cls, points: np.ndarray, rows: int) -> "Glance":
        """A stack of glances at so many neighbouring points each; the last two may overlap.

        Example:
            >>> Glance.blocks(np.array([[0.0], [0.25], [0.5]]), 2).x.tolist()
            [[[0.0, 0.25]], [[0.25, 0.5]]]
        """
        starts = cls.starts(len(points), rows)
        x = np.stack([points[at : at + rows].T.astype(np.float32) for at in starts])
        return cls.stack(x, np.abs(points).max(axis=0))

    @classmethod
    def stack(cls, x: Float[Array, "b d m"], reach: Float[Array, " d"]) -> "Glance":
        """Several glances, one after the other."""
        # Not by the constructor: a stack has other shapes than it is annotated with.
        one = cls(np.zeros((len(reach), 0), np.float32), np.zeros(len(reach)))
        return eqx.tree_at(lambda glance: (glance.x, glance.reach), one, (x, reach))

    @staticmethod
    def starts(points: int, rows: int) -> np.ndarray:
        """Where the blocks begin."""
        return np.minimum(np.arange(0, points, rows), points - rows)


def pass_over(
    look: Callable[..., tuple[Array, Any]], items: tuple[Array, ...], rows: int | Int[Array, ""]
) -> tuple[Array, Any]:
    """Σ s and max(h, 0) for each of m points, (s, h) = look(item) over the first of n items.

    One item after the other: nothing of size n × m is made. An accelerator would wait between the
    turns of such a loop; it looks at all at once, and its compiler makes one loop of look and sum.

    Args:
        look: What an item says of all points: two arrays, or one and None.
        items: Arrays with a row for each item.
        rows: How many rows count.

    Example:
        >>> points = jnp.array([1.0, 2.0])
        >>> pass_over(lambda a: (a * points, None), (jnp.array([3.0, 5.0, 7.0]),), 2)[0].tolist()
        [8.0, 16.0]
    """
    if on_accelerator():
        counts = (jnp.arange(len(items[0])) < rows)[:, None]
        shares, heights = jax.tree.map(
            lambda each: jnp.where(counts, each, 0.0), jax.vmap(look)(*items)
        )
        highest = None if heights is None else jnp.max(heights, axis=0, initial=0.0)
        return jnp.sum(shares, axis=0), highest

    def add(i, carry):
        total, highest = carry
        share, height = look(*(array[i] for array in items))
        return total + share, None if height is None else jnp.maximum(highest, height)

    shapes = jax.eval_shape(look, *(array[0] for array in items))
    nothing = jax.tree.map(lambda shape: jnp.zeros(shape.shape, shape.dtype), shapes)
    return jax.lax.fori_loop(0, rows, add, nothing)
