"""Which inputs carry a sparse model: those that tell most about all the others.

The greedy pivots of a Cholesky factorisation of the kernel matrix: one after the other the input
whose payoff is least explained by those chosen before it, in O(n m²) for m of n inputs and without
ever making the n × n matrix. The inputs that paid most come first, since a policy looks at nothing
as closely as at their neighbourhood.

Reference: Burt, Rasmussen, van der Wilk, *Convergence of Sparse Variational Inference in Gaussian
Process Regression* (2020).
"""

import jax
import jax.numpy as jnp
from jaxtyping import Int

from windfall.models.gp.kernels import Kernel
from windfall.models.gp.observations import Observations
from windfall.runtime.arrays import Array

__all__ = ["NONE", "carriers_among", "pivots", "some"]

#: Stands for no input.
NONE = -1
#: The share of the inputs chosen that are to be among those that paid most.
_BEST = 0.25
#: Of so many inputs those that carry the model are chosen.
_ASKED = 2048
#: Less than this share of its variance left: an input that is explained already.
_EXPLAINED = 1e-8


def carriers_among(kernel: Kernel, observations: Observations, count: int) -> Int[Array, " m"]:
    """The slots of the ``pivots``; of many inputs only some are asked, however many there are."""
    asked, slots = some(observations, min(_ASKED, observations.capacity))
    found = pivots(kernel, asked, count)
    return jnp.where(found == NONE, NONE, slots[found]).astype(jnp.int32)


def pivots(kernel: Kernel, observations: Observations, count: int) -> Int[Array, " m"]:
    """The slots of the inputs that explain most; ``NONE`` once nothing is left to explain.

    Args:
        kernel: Prior covariance of the payoffs.
        observations: The rewards.
        count: m, at most as many as there are slots.
    """
    x, live = observations.features, observations.live
    prior = jnp.where(live, kernel.diagonal(x), 0.0)
    mean = jnp.where(live, observations.mean, -jnp.inf)
    best = live & (mean >= jnp.sort(mean)[-max(int(_BEST * count), 1)])

    def choose(i, carry):
        rows, left, chosen = carry
        open_ = left > _EXPLAINED * prior
        # No input has more left than the largest variance: with that added, the best come first.
        urgency = jnp.where(open_, left + jnp.where(best, jnp.max(prior), 0.0), -jnp.inf)
        at = jnp.argmax(urgency)
        found = urgency[at] > 0
        row = kernel.gram(x[at][None], x)[0] - rows[:, at] @ rows
        row = jnp.where(found & live, row / jnp.sqrt(jnp.where(found, left[at], 1.0)), 0.0)
        left = jnp.where(jnp.arange(len(left)) == at, 0.0, left - row**2)
        slot = jnp.where(found, at, NONE).astype(chosen.dtype)
        return rows.at[i].set(row), left, chosen.at[i].set(slot)

    nothing = (
        jnp.zeros((count, len(prior)), prior.dtype),
        prior,
        jnp.full(count, NONE, jnp.int32),
    )
    return jax.lax.fori_loop(0, count, choose, nothing)[2]


def some(observations: Observations, most: int) -> tuple[Observations, Int[Array, " m"]]:
    """As many of the inputs with their rewards, in order, and their slots; all if there are fewer.

    A quarter of them are those that paid most, the others come evenly from first to last: a narrow
    hill is hit by few of these, and of how narrow it is they would say nothing.

    Args:
        observations: The rewards.
        most: How many, at most as many as there are slots.
    """
    all_ = jax.tree.map(jnp.asarray, observations)
    rank = jnp.argsort(jnp.argsort(jnp.where(all_.live, -all_.mean, jnp.inf)))
    best = all_.live & (rank < int(_BEST * most))
    others = all_.live & ~best
    place, left = jnp.cumsum(others) - 1, jnp.maximum(jnp.sum(others), 1)
    wanted = most - jnp.sum(best)
    # Of so many steps of wanted/left each, these reach a new number.
    taken = best | (others & ((place + 1) * wanted // left > place * wanted // left))
    slots = jnp.nonzero(taken, size=most, fill_value=observations.capacity - 1)[0]
    found = Observations(
        all_.features[slots],
        all_.count[slots],
        all_.mean[slots],
        all_.squares[slots],
        all_.known[slots],
        jnp.sum(taken).astype(jnp.int32),
    )
    return found, slots
