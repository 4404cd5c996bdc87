"""What libraries do badly: the inverse of a triangular factor, and products with it."""

import jax.numpy as jnp
from jax.scipy.linalg import solve_triangular
from jaxtyping import Float

from windfall.runtime.arrays import Array

__all__ = ["inner", "lower_half", "lower_product", "triangular_inverse"]

#: Up to here a solve takes no longer than products of halves; and each of those is to be compiled.
_LEAF = 32
#: Up to this size a product with all the zeros is as fast, and results stay as they always were.
_PRODUCT_LEAF = 128


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


def lower_product(lower: Float[Array, "n n"], x: Float[Array, "n m"]) -> Float[Array, "n m"]:
    """L x for a lower-triangular L by halves: nearly half of a product is zeros times something.

    Example:
        >>> lower_product(jnp.array([[2.0, 0.0], [1.0, 1.0]]), jnp.array([[1.0], [3.0]]))
        Array([[2.],
               [4.]], dtype=float32)
    """
    size = lower.shape[0]
    if size <= _PRODUCT_LEAF:
        return lower @ x
    half = size // 2
    top = lower_product(lower[:half, :half], x[:half])
    bottom = lower[half:, :half] @ x[:half] + lower_product(lower[half:, half:], x[half:])
    return jnp.concatenate([top, bottom])


def inner(lower: Float[Array, "n n"]) -> Float[Array, "n n"]:
    """LᵀL of a lower-triangular matrix by halves, in a third of the operations.

        [A 0]ᵀ[A 0]   [AᵀA + BᵀB  BᵀC]
        [B C] [B C] = [   CᵀB     CᵀC]

    Example:
        >>> inner(jnp.array([[2.0, 0.0], [1.0, 1.0]]))
        Array([[5., 1.],
               [1., 1.]], dtype=float32)
    """
    size = lower.shape[0]
    if size <= _PRODUCT_LEAF:
        return lower.T @ lower
    half = size // 2
    below, last = lower[half:, :half], lower[half:, half:]
    first = inner(lower[:half, :half]) + below.T @ below
    beside = below.T @ last
    return jnp.block([[first, beside], [beside.T, inner(last)]])


def lower_half(x: Float[Array, "n m"], y: Float[Array, "n m"]) -> Float[Array, "n n"]:
    """What is on and below the diagonal of x yᵀ; above it there may be anything.

    Example:
        >>> lower_half(jnp.array([[1.0], [2.0]]), jnp.array([[3.0], [6.0]]))
        Array([[ 3.,  6.],
               [ 6., 12.]], dtype=float32)
    """
    size = x.shape[0]
    if size <= _PRODUCT_LEAF:
        return x @ y.T
    half = size // 2
    zeros = jnp.zeros((half, size - half), x.dtype)
    first, last = lower_half(x[:half], y[:half]), lower_half(x[half:], y[half:])
    return jnp.block([[first, zeros], [x[half:] @ y[:half].T, last]])
