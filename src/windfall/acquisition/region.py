"""A region of parameters: which unit points exist, and, in compiled code, which are allowed."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from windfall.runtime.arrays import Array
from windfall.runtime.modules import Module
from windfall.space import Parameters
from windfall.space.columns import Columns
from windfall.space.constraints import evaluate

__all__ = ["Region"]


class Region(Module):
    """A box with whole numbers, choices and constraints, inside compiled code.

    Bounds are arrays, so that boxes of one shape share their programs; only constraints, which are
    functions, make a program of their own.

    Attributes:
        columns: What the columns of the unit box mean.
        names: The parameters' names, where constraints need them.
        constraints: Functions of the parameters by name, 0 or more where a point is allowed.
        mixed: Whether there are whole numbers or choices.
    """

    columns: Columns
    names: tuple[str, ...] = eqx.field(static=True)
    constraints: tuple[Callable, ...] = eqx.field(static=True)
    mixed: bool = eqx.field(static=True)

    @classmethod
    def of(cls, space: Parameters) -> "Region":
        """The region of a space."""
        names = space.names if space.constraints else ()
        return cls(space.columns, names, space.constraints, bool(space.columns.discrete.any()))

    def natural(self, x: Float[Array, "m c"]) -> Float[Array, "m p"]:
        """The parameters' numbers in the user's units."""
        return self.columns.natural(x, jnp)

    def snap(self, x: Float[np.ndarray, "m c"]) -> Float[np.ndarray, "m c"]:
        """The nearest points that exist; on the host."""
        return self.columns.snap(x) if self.mixed else np.clip(x, 0.0, 1.0)

    @property
    def free(self) -> Bool[Array, " c"]:
        """Which columns can move a little."""
        return ~self.columns.discrete

    def slack(self, x: Float[Array, " c"]) -> Float[Array, " k"]:
        """How far a point is from breaking each constraint; negative: broken."""
        numbers = self.natural(x[None])[0]
        values = [evaluate(constraint, self.names, numbers) for constraint in self.constraints]
        return jnp.stack([jnp.asarray(value, x.dtype) for value in values])

    def feasible(self, x: Float[Array, "m c"]) -> Bool[Array, " m"]:
        """Which points keep to all constraints; a constraint that is NaN is broken."""
        if not self.constraints:
            return jnp.ones(x.shape[0], bool)
        return jnp.all(jax.vmap(self.slack)(x) >= 0, axis=1)

    def neighbours(self, x: Float[np.ndarray, " c"]) -> Float[np.ndarray, "moves c"]:
        """The points one step away: whole numbers one up or down, each other choice; on the host.

        A column that moves freely, or cannot move this way, gives the point itself.
        """
        columns = self.columns
        values, eye = columns.values(x), np.eye(len(x))
        up, down = (
            columns.scaled(np.clip(values + step * eye, columns.low, columns.high))
            for step in (columns.whole, -1.0 * columns.whole)
        )
        mine = columns.group[:, None] == columns.group[None, :]
        other = np.where(mine & columns.hot, eye, x)
        up = np.where(columns.hot[:, None], other, np.where(columns.whole, up, x))
        return np.concatenate([up, np.where(columns.whole, down, x)])
