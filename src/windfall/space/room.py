"""The constraints of a space at many points: a compiled program, found by the next process."""

import jax
import jax.numpy as jnp

from windfall.runtime.programs import program
from windfall.space.constraints import evaluate

__all__ = ["room_left"]


@program
def room_left(constraints, names, features):
    """How far each of (m, parameters) points is from breaking the constraint that it is next to."""

    def least(numbers):
        values = [evaluate(constraint, names, numbers) for constraint in constraints]
        return jnp.min(jnp.stack([jnp.asarray(value, numbers.dtype) for value in values]))

    return jax.vmap(least)(features)
