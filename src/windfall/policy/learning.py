"""How a state notes rewards and learns from them, and how it is seen in a context.

The same for every policy with the same model.
"""

import dataclasses

import jax
import jax.numpy as jnp
from jaxtyping import Bool, Float, PRNGKeyArray

from windfall.models.base import Belief, FitInfo, Model, Reward
from windfall.models.situated import Situated, joined
from windfall.policy.state import FIT, Count, State, key_of
from windfall.runtime.arrays import Array

__all__ = ["due", "learn", "observe", "search", "situated"]


def observe(
    state: State,
    choice: Array,
    reward: Float[Array, ""],
    context: Float[Array, " c"] | None = None,
) -> State:
    """Note a reward without learning from it yet (several may come at once).

    A choice is the number of an arm, or a point of the unit box.
    """
    x = state.candidates.point(choice)
    x = x if context is None else joined(x[None], context)[0]
    belief = state.belief.observe(x, Reward(reward))
    return dataclasses.replace(state, belief=belief, pulls=state.pulls + 1)


def learn(model: Model, state: State) -> State:
    """Bring the belief up to date with all rewards: a search if one is due, then conditioning."""

    def found(state: State) -> State:
        belief, _ = search(model, state.key, state.pulls, state.belief)
        return dataclasses.replace(state, belief=belief, searched=state.pulls)

    def conditioned(state: State) -> State:
        return dataclasses.replace(state, belief=model.condition(state.belief))

    if model.refit_every == 1 and not state.belief.thrifty:
        return conditioned(found(state))
    state = jax.tree.map(jnp.asarray, state)
    if not state.belief.thrifty:
        now = due(state.pulls, state.searched, state.initial, model.refit_every)
        return conditioned(jax.lax.cond(now, found, lambda state: state, state))
    state = conditioned(state)
    outdated = state.belief.outdated()
    now = due(state.pulls, state.searched, state.initial, model.refit_every, outdated)
    return jax.lax.cond(now, lambda state: conditioned(found(state)), lambda state: state, state)


def situated(state: State, context: Float[Array, " c"] | None) -> State:
    """A learned state as it is seen in a context; as it is where there is none."""
    if context is None:
        return state
    return dataclasses.replace(state, belief=Situated.at(state.belief, context))


def search(
    model: Model, key: PRNGKeyArray | None, pulls: Count, belief: Belief
) -> tuple[Belief, FitInfo]:
    """The belief with hyper-parameters found anew, and how the search ended.

    Args:
        model: How payoffs are learned.
        key: Randomness of the study.
        pulls: How many rewards there are.
        belief: They, and the hyper-parameters to start from.
    """
    return model.search(key_of(key, FIT, pulls), belief)


def due(
    pulls: Count,
    searched: Count,
    initial: Count,
    every: int,
    outdated: bool | Bool[Array, ""] = True,
) -> bool | Bool[Array, ""]:
    """Whether a search is due: at the first choice, then on every so many rewards.

    Where a search is dear, only if the last one is ``outdated``, too.

    >>> [t for t in range(3, 12) if due(t, t - 1, 3, 4)]
    [3, 7, 11]
    """
    another = (pulls - initial) // every > (searched - initial) // every
    return (searched < 0) | (another & outdated)
