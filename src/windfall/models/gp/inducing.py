"""Which inputs carry a sparse model: those that tell most about what may be chosen.

The greedy pivots of a Cholesky factorisation of the kernel matrix: one after the other the input
whose payoff is least explained by those chosen before it, in O(n m²) for m of n inputs and without
ever making the n × n matrix. What is left of a variance counts the more, the more an input is
expected to pay: a policy looks at nothing as closely as at the best, and what it does not choose
may stay vague. By what is expected, and not by the rewards: an input that carries the model counts
for more than its neighbours, and those whose reward was luck would raise them all.

Reference: Burt, Rasmussen, van der Wilk, *Convergence of Sparse Variational Inference in Gaussian
Process Regression* (2020).
"""

import jax
import jax.numpy as jnp
from jaxtyping import Bool, Float, Int

from windfall.models.gp.evidence import Hyper
from windfall.models.gp.kernels import Kernel
from windfall.models.gp.linalg import lower_product
from windfall.models.gp.observations import Observations
from windfall.models.gp.posterior import whiten
from windfall.models.gp.sums import summed
from windfall.runtime.arrays import Array

__all__ = ["NONE", "carriers_among", "expected", "interest", "pivots", "some", "whitener_of"]

#: Stands for no input.
NONE = -1
#: The share of the inputs asked that are to be those that paid most.
_BEST = 0.25
#: Of so many inputs those that carry the model are chosen.
_ASKED = 2048
#: Less than this share of its variance left: an input that is explained already.
_EXPLAINED = 1e-8
#: The weight of an input is exp(2μ), in deviations of the rewards; beyond so many all are alike.
_STEEP, _HIGHEST = 2.0, 3.0
#: What is expected rests on such a share of the inputs that are to be chosen.
_FIRST = 0.25


def carriers_among(hyper: Hyper, observations: Observations, count: int) -> Int[Array, " m"]:
    """The slots of the inputs that are to carry the model.

    Twice: a few are chosen by the rewards, and then all by what those few lead to expect. Of many
    inputs only some are asked, however many there are.

    Args:
        hyper: Hyper-parameters, what is unknown of the mean function among them.
        observations: The rewards, standardised.
        count: How many, at most as many as there are slots.
    """
    asked, slots = some(observations, min(_ASKED, observations.capacity))
    few = max(int(_FIRST * count), 1)
    first = pivots(hyper.kernel, asked, few, interest(asked.mean))
    weights = interest(expected(hyper, asked, first))
    found = pivots(hyper.kernel, asked, count, weights)
    return jnp.where(found == NONE, NONE, slots[found]).astype(jnp.int32)


def interest(mean: Float[Array, " n"]) -> Float[Array, " n"]:
    """How much what is unknown of an input matters to a policy, if it is expected to pay so much.

    Example:
        >>> [round(float(w), 3) for w in interest(jnp.array([-1.0, 0.0, 1.0, 9.0]))]
        [0.135, 1.0, 7.389, 403.429]
    """
    return jnp.exp(_STEEP * jnp.minimum(mean, _HIGHEST))


def expected(
    hyper: Hyper, observations: Observations, chosen: Int[Array, " m"]
) -> Float[Array, " n"]:
    """E f at the inputs themselves if these carry the model and all others are early ones.

    The symbols are those of ``windfall.models.gp.sparse``.
    """
    kernel, there = hyper.kernel, chosen != NONE
    x, live = jnp.asarray(observations.features), observations.live
    z = x[jnp.maximum(chosen, 0)]
    whitener, _ = whitener_of(kernel, z, there)
    white = lower_product(whitener, jnp.where(there[:, None], kernel.gram(z, x), 0.0))
    noise = observations.noise(hyper.noise)
    sums = summed(white, kernel.diagonal(x), noise, observations, live)
    carried = (sums.root @ sums.told[:, 0]) @ sums.root @ white
    gain = sums.open / (sums.open + noise)
    return carried + gain * (observations.mean - carried)


def whitener_of(
    kernel: Kernel, z: Float[Array, "m d"], there: Bool[Array, " m"]
) -> tuple[Float[Array, "m m"], Bool[Array, ""]]:
    """W, the inverse of the Cholesky factor of k(Z, Z), and whether there is one."""
    gram = kernel.gram(z, z)
    return whiten(jnp.where(there[:, None] & there, gram, jnp.eye(len(z), dtype=gram.dtype)), there)


def pivots(
    kernel: Kernel, observations: Observations, count: int, weights: Float[Array, " n"]
) -> Int[Array, " m"]:
    """The slots of the inputs that explain most; ``NONE`` once nothing is left to explain.

    Args:
        kernel: Prior covariance of the payoffs.
        observations: The rewards.
        count: m, at most as many as there are slots.
        weights: How much what is left open of each input matters.
    """
    x, live = observations.features, observations.live
    prior = jnp.where(live, kernel.diagonal(x), 0.0)

    def choose(i, carry):
        rows, left, chosen = carry
        urgency = jnp.where(left > _EXPLAINED * prior, weights * left, -jnp.inf)
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
