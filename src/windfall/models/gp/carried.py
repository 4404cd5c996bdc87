"""Mean rewards as far as a few inputs carry them: the matrices of ``windfall.models.gp.sparse``."""

import jax.numpy as jnp
from jaxtyping import Bool, Float

from windfall.models.gp.linalg import lower_half
from windfall.runtime.arrays import Array

__all__ = ["carried"]


def carried(
    white: Float[Array, "m c"],
    prior: Float[Array, " c"],
    noise: Float[Array, " c"],
    y: Float[Array, " c"],
    live: Bool[Array, " c"],
) -> tuple[Float[Array, " c"], Float[Array, " c"], Float[Array, "m m"], Float[Array, " m"]]:
    """d, λ, the Cholesky factor of B and t: what is open, how rewards scatter, what they tell.

    Args:
        white: V = W k(Z, X), 0 in free slots.
        prior: k(x, x) of each slot.
        noise: σ²/n of each slot.
        y: The mean rewards.
        live: Which slots count.
    """
    open_ = jnp.maximum(prior - jnp.sum(white**2, axis=0), 0.0)
    spread = jnp.where(live, open_ + noise, 1.0)
    matrix = jnp.eye(len(white)) + lower_half(white / spread, white)
    factor = jnp.linalg.cholesky(matrix, symmetrize_input=False)
    return open_, spread, factor, white @ (y / spread)
