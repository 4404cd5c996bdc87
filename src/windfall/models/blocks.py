"""Many points at once, or block by block: memory stays bounded, and so does a compiler's bug."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Float

from windfall.runtime.arrays import Array
from windfall.runtime.execution import on_accelerator

__all__ = ["in_blocks"]

#: What is computed for many points is computed in blocks whose working set stays below this.
MEMORY_BUDGET = 256 * 2**20
#: And never for more points than this at once: jaxlib 0.10.2 silently miscompiles a small matrix
#: product that is squared and summed over more (jax issue 39103), as a user's kernel or mean may.
MOST_ROWS = 16_384
#: An accelerator has no such bug, and is idle between small blocks: fewer and larger ones. Not as
#: large as its memory allows, since many trials may be played side by side.
ACCELERATOR_BUDGET = 2**30


def in_blocks(function: Callable[..., Any], x: Float[Array, "m d"], width: int) -> Any:
    """Apply to all points at once, or block by block when there are too many.

    Args:
        function: Maps (rows, d) points to one number or several per point.
        x: The points.
        width: Numbers that the function holds per point; three such arrays are allowed for.
    """
    rows = most_rows(width)
    if x.shape[0] <= rows:
        return function(x)
    blocks = -(-x.shape[0] // rows)
    rows = -(-x.shape[0] // blocks)
    padded = jnp.pad(x, ((0, blocks * rows - x.shape[0]), (0, 0)), mode="edge")
    out = jax.lax.map(function, padded.reshape(blocks, rows, -1))
    return jax.tree.map(lambda a: a.reshape(-1)[: x.shape[0]], out)


def most_rows(width: int) -> int:
    """How many points are computed at once where each holds so many numbers."""
    if on_accelerator():
        return max(1, ACCELERATOR_BUDGET // (3 * width * 8))
    return min(max(1, MEMORY_BUDGET // (3 * width * 8)), MOST_ROWS)
