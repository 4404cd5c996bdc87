"""The latest inputs of a sparse model, which are exact among themselves and for all yet to come.

After the early rewards u ~ N(HᵀH t, HᵀH) (``windfall.models.gp.sums``). The latest inputs L have
the payoffs V_Lᵀu + h_L, where h has the covariance r(x, x') = k(x, x') − v(x)ᵀv(x'), so that with
G = H V_L their mean rewards scatter by

    A = GᵀG + r(L, L) + diag(σ²/n)  around  Gᵀ(H t),   α = A⁻¹ (ȳ_L − GᵀH t).
"""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int

from windfall.models.gp.observations import Observations
from windfall.models.gp.posterior import whiten
from windfall.runtime.arrays import Array
from windfall.runtime.modules import Module

__all__ = ["Late", "beginning", "early"]


class Late(Module):
    """What the latest inputs say.

    Those in the slots from ``begin`` on, as far as there is room.

    Attributes:
        begin: The slot of the first of them.
        x: The inputs.
        live: Which rows count.
        white: V_L; 0 where there is no input.
        turned: G.
        noise: σ²/n.
        whitener: The inverse of the Cholesky factor of A.
        away: ȳ_L − GᵀH t; 0 where there is no input.
        weights: α.
    """

    begin: Int[Array, ""]
    x: Float[Array, "l d"]
    live: Bool[Array, " l"]
    white: Float[Array, "m l"]
    turned: Float[Array, "m l"]
    noise: Float[Array, " l"]
    whitener: Float[Array, "l l"]
    away: Float[Array, " l"]
    weights: Float[Array, " l"]

    @classmethod
    def of(cls, begin, x, live, white, root, gram, noise, away) -> "tuple[Late, Bool[Array, '']]":
        """What they say given how far each reward is from what the early ones predict."""
        white = jnp.where(live, white, 0.0)
        turned = root @ white
        matrix = turned.T @ turned + gram - white.T @ white + jnp.diag(noise)
        there = live[:, None] & live
        whitener, regular = whiten(jnp.where(there, matrix, jnp.eye(len(live))), live)
        away = jnp.where(live, away, 0.0)
        weights = (whitener @ away) @ whitener
        return cls(begin, x, live, white, turned, noise, whitener, away, weights), regular

    @classmethod
    def nothing(cls, size: int, latest: int, dimension: int) -> "Late":
        """Before any reward, as host arrays."""
        none, nothing = np.zeros((size, latest)), np.zeros(latest)
        x, live = np.zeros((latest, dimension)), np.zeros(latest, bool)
        parts = none, none, nothing, np.eye(latest), nothing, nothing
        return cls(np.int32(0), x, live, *parts)

    def alone(self, open_: Float[Array, " l"]) -> Float[Array, "l l"]:
        """A if the h of these inputs were independent, with such variances, as the early ones'."""
        matrix = self.turned.T @ self.turned + jnp.diag(open_ + self.noise)
        return jnp.where(self.live[:, None] & self.live, matrix, jnp.eye(len(self.live)))


def beginning(used: Int[Array, ""], latest: int) -> Int[Array, ""]:
    """The slot from which on inputs count as late, if there is room for so many.

    At least a quarter of the room is taken, and less than a half: the rest is for inputs whose
    rewards are imagined. It moves by quarters.

    Example:
        >>> [int(beginning(jnp.asarray(used), 8)) for used in range(1, 9)]
        [0, 0, 0, 2, 2, 4, 4, 6]
    """
    quarter = max(latest // 4, 1)
    return jnp.maximum((used // quarter - 1) * quarter, 0)


def early(observations: Observations, begin: Int[Array, ""], latest: int) -> Bool[Array, " c"]:
    """Which slots come before the latest, or after them, where there is no room."""
    slots = jnp.arange(observations.capacity)
    return (slots < begin) | ((slots >= begin + latest) & observations.live)
