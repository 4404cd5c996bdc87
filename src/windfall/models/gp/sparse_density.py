"""How probable rewards are to a sparse model: ``windfall.models.gp.sparse`` has the symbols."""

from typing import TYPE_CHECKING

import jax.numpy as jnp
from jax.scipy.linalg import solve_triangular
from jaxtyping import Float, Int

from windfall.models.gp.linalg import lower_product
from windfall.runtime.arrays import Array

if TYPE_CHECKING:
    from windfall.models.gp.sparse import Sparse

__all__ = ["forms", "left_out", "log_density"]


def forms(posterior: "Sparse") -> Float[Array, "2 2"]:
    """[ȳ 1]ᵀ A⁻¹ [ȳ 1], as if the latest inputs were early ones.

    What is late changes from input to input and takes the kernel with it: only with one and the
    same kernel does every reward add the square of its own surprise.
    """
    late, (spread, y) = posterior.late, _early(posterior)
    both = jnp.stack([y, jnp.where(posterior.early, 1.0, 0.0)], axis=1)
    up = posterior.sums.root @ posterior.sums.standardised(posterior.scale)
    ones = jnp.where(late.live, 1.0 - late.turned.T @ up[:, 1], 0.0)
    factor = jnp.linalg.cholesky(late.alone(posterior.late_open()))
    half = solve_triangular(factor, jnp.stack([late.away, ones], axis=1), lower=True)
    return both.T @ (both / spread[:, None]) - up.T @ up + half.T @ half


def log_density(posterior: "Sparse") -> Float[Array, ""]:
    """−½ (ȳᵀA⁻¹ȳ + log|A|) by Woodbury's formula and Sylvester's: |A| = |B| Π λ_i |A_L|."""
    sums, late, (spread, y) = posterior.sums, posterior.late, _early(posterior)
    up = sums.root @ sums.standardised(posterior.scale)[:, 0]
    squares = jnp.sum(y**2 / spread) - up @ up + late.weights @ late.away
    volume = sums.volume + jnp.sum(jnp.log(jnp.diagonal(late.whitener)))
    return volume - 0.5 * (squares + jnp.sum(jnp.log(spread)))


def left_out(posterior: "Sparse", slot: Int[Array, ""]) -> Float[Array, ""]:
    """(A⁻¹ȳ)_i/(A⁻¹)_ii; of an early input by Woodbury's formula, with λ_i taken out of both."""
    late, (spread, _) = posterior.late, _early(posterior)
    cross, _ = posterior.crossed(jnp.asarray(posterior.observations.features)[slot][None])
    white = lower_product(posterior.whitener, cross)[:, 0]
    turned = posterior.sums.root @ white
    carried = jnp.sum(turned**2) - jnp.sum((late.whitener @ (turned @ late.turned)) ** 2)
    away = posterior.observations.mean[slot] - posterior.level @ white
    row = jnp.clip(slot - late.begin, 0, len(late.live) - 1)
    column = late.whitener[:, row]
    lately = late.weights[row] / (column @ column)
    return jnp.where(posterior.early[slot], away / (1.0 - carried / spread[slot]), lately)


def _early(posterior: "Sparse") -> tuple[Float[Array, " c"], Float[Array, " c"]]:
    """λ of early slots and their rewards; 1 and 0 elsewhere."""
    observations = posterior.observations
    spread = posterior.sums.open + observations.noise(posterior.hyper.noise)
    early = posterior.early
    return jnp.where(early, spread, 1.0), jnp.where(early, observations.mean, 0.0)
