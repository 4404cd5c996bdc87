"""When rewards are equal, but for rounding."""

import jax.numpy as jnp
from jaxtyping import Bool, Float

from windfall.runtime.arrays import Array

__all__ = ["ROUNDING", "alike"]

#: Rewards that differ by less than this, relative to the largest, are equal.
ROUNDING = 1e-12


def alike(values: Float[Array, " n"], live: Bool[Array, " n"]) -> Bool[Array, ""]:
    """Whether all that count are equal to rounding, or none counts."""
    first = jnp.asarray(values)[jnp.argmax(live)]
    apart = jnp.max(jnp.where(live, jnp.abs(values - first), 0.0))
    return apart <= ROUNDING * jnp.max(jnp.where(live, jnp.abs(values), 0.0))
