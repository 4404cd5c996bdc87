"""Which of many points have been tried, without comparing each with each."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int, UInt

from windfall.runtime.arrays import Array
from windfall.runtime.modules import Module

__all__ = ["Lookup"]

_ODD = 0x9E3779B97F4A7C15


class Lookup(Module):
    """Rows of numbers, found by sorted hashes of their bits: O(m log n) for m points.

    Attributes:
        rows: The rows.
        hashes: Of the rows, sorted.
        order: The row of each hash.
    """

    rows: Float[Array, "n d"]
    hashes: UInt[Array, " n"]
    order: Int[Array, " n"]

    @classmethod
    def of(cls, rows: Float[Array, "n d"]) -> "Lookup":
        """A lookup of some rows; of equal ones the first is found.

        Example:
            >>> import jax
            >>> with jax.enable_x64(True):
            ...     lookup = Lookup.of(jnp.array([[0.0, 1.0], [0.5, 0.5]]))
            ...     found, there = lookup(jnp.array([[0.5, 0.5], [1.0, 0.0]]))
            >>> found[0].tolist(), there.tolist()
            (1, [True, False])
        """
        hashes = _hash(rows)
        order = jnp.argsort(hashes, stable=True)
        return cls(jnp.asarray(rows), hashes[order], order.astype(jnp.int32))

    @classmethod
    def nothing(cls, rows: int, columns: int) -> "Lookup":
        """In which nothing is found, as host arrays."""
        order = np.arange(rows, dtype=np.int32)
        return cls(np.full((rows, columns), np.nan), np.zeros(rows, np.uint64), order)

    def __call__(self, x: Float[Array, "m d"]) -> tuple[Int[Array, " m"], Bool[Array, " m"]]:
        """For each point a row, and whether the two are equal."""
        at = jnp.searchsorted(self.hashes, _hash(x))
        row = jnp.asarray(self.order)[jnp.minimum(at, len(self.order) - 1)]
        return row, jnp.all(jnp.asarray(self.rows)[row] == x, axis=1)

    def times(self, x: Float[Array, "m d"]) -> Int[Array, " m"]:
        """How many rows each point is."""
        wanted = _hash(x)
        first, past = (jnp.searchsorted(self.hashes, wanted, side=s) for s in ("left", "right"))
        return jnp.where(self(x)[1], past - first, 0).astype(jnp.int32)


def _hash(x: Float[Array, "n d"]) -> UInt[Array, " n"]:
    x = jax.lax.stop_gradient(jnp.where(x == 0, 0.0, x))  # of the two zeros one
    bits = jax.lax.bitcast_convert_type(x.astype(jnp.float64), jnp.uint64)
    total = jnp.zeros(x.shape[0], jnp.uint64)
    for i in range(x.shape[1]):
        total = (total ^ bits[:, i]) * jnp.uint64(_ODD)
        total = total ^ (total >> jnp.uint64(29))
    return total
