"""The one matrix routine that libraries do badly: the inverse of a triangular factor."""

import jax.numpy as jnp
from jax.scipy.linalg import solve_triangular
from jaxtyping import Float

from windfall.runtime.arrays import Array

__all__ = ["triangular_inverse"]

#: Up to here a solve takes no longer than products of halves; and each of those is to be compiled.
_LEAF = 32


def triangular_inverse(factor: Float[Array, "n n"]) -> Float[Array, "n n"]:
    """L⁻¹ of a lower-triangular matrix, by halves.

        [A 0]⁻¹   [    A⁻¹      0 ]
        [B C]   = [−C⁻¹BA⁻¹   C⁻¹]

    Nearly all the work is matrix products. A triangular solve against the identity costs about
    twice as much from 64 on with one BLAS thread (``benchmarks/linalg.py``), and many times as much
    where BLAS splits it over threads.

    Example:
        >>> import jax.numpy as jnp
        >>> triangular_inverse(jnp.array([[2.0, 0.0], [1.0, 1.0]]))
        Array([[ 0.5,  0. ],
               [-0.5,  1. ]], dtype=float32)
    """
    size = factor.shape[0]
    if size <= _LEAF:
        return solve_triangular(factor, jnp.eye(size, dtype=factor.dtype), lower=True)
    half = size // 2
    upper = triangular_inverse(factor[:half, :half])
    lower = triangular_inverse(factor[half:, half:])
    corner = -lower @ (factor[half:, :half] @ upper)
    zeros = jnp.zeros((half, size - half), factor.dtype)
    return jnp.block([[upper, zeros], [corner, lower]])
