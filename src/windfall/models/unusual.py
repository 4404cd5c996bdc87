"""How unusual a context is among those that came before.

A fitted model is no judge of that: where all rewards are alike it takes contexts for irrelevant.
Here a context is as unusual as it is uncertain, in a Gaussian process of a fixed kernel over the
contexts alone: where few came before, and above all on the outskirts.
"""

import jax.numpy as jnp
from jax.scipy.linalg import cho_solve, solve_triangular
from jaxtyping import Bool, Float

from windfall.models.gp.kernels import Matern52
from windfall.runtime.arrays import Array

__all__ = ["unusual"]

#: The kernel's length scale for one column, and the variance of its noise.
_LENGTHSCALE, _NOISE = 0.35, 1e-3


def unusual(
    past: Float[Array, "n c"], live: Bool[Array, " n"], context: Float[Array, " c"]
) -> Float[Array, ""]:
    """The share of earlier contexts that were at least as surprising among all others.

    With A = K + noise, a new context has the variance 1 − kᵀA⁻¹k, and one of those before, left
    out, 1/(A⁻¹)ᵢᵢ − noise. Where contexts come in no order the share is as good as uniform: it is
    below s for about a share s of them, whatever their distribution.

    Args:
        past: Earlier contexts, in the unit box.
        live: Which rows count.
        context: The one that there is now.

    Example:
        >>> past, live = jnp.linspace(0.4, 0.6, 11)[:, None], jnp.full(11, True)
        >>> [float(unusual(past, live, jnp.array([z]))) for z in (0.52, 0.9)]
        [1.0, 0.0]
    """
    kernel = Matern52(_LENGTHSCALE * past.shape[1] ** 0.5)
    both = live[:, None] & live
    gram = jnp.where(both, kernel.gram(past, past), 0.0) + jnp.where(live, _NOISE, 1.0) * jnp.eye(
        past.shape[0]
    )
    root = jnp.linalg.cholesky(gram)
    cross = jnp.where(live, kernel.gram(past, context[None])[:, 0], 0.0)
    whitened = solve_triangular(root, cross, lower=True)
    now = 1.0 - whitened @ whitened
    inverse = cho_solve((root, True), jnp.eye(past.shape[0]))
    before = 1.0 / jnp.diagonal(inverse) - _NOISE
    return jnp.sum(live & (before >= now)) / jnp.maximum(jnp.sum(live), 1)
