"""The compiled programs of a study: note rewards, search, condition, choose, tell what is believed.

Each is one compilation per shape. Lists that grow (rewards to note, pending and failed points,
points asked about) come padded to a few lengths.
"""

import dataclasses
from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from windfall import policy as rounds
from windfall.acquisition.driver import Info
from windfall.models.base import EXACT, Belief, FitInfo, Model, Reward
from windfall.models.situated import Situated
from windfall.policy import Count, Policy, State
from windfall.policy.propensity import propensity as estimated
from windfall.runtime.execution import float64
from windfall.runtime.programs import filled, program
from windfall.study.pull import Pull

__all__ = [
    "condition",
    "decide",
    "imagine",
    "moments",
    "note",
    "outdated",
    "padded",
    "propensity",
    "search",
    "select",
    "situated",
    "study_key",
    "table",
    "unconditioned",
]

#: Rewards are noted in chunks of one length, so that a study that is opened again runs the very
#: program that it ran before.
_CHUNK = 64


def note(belief: Belief, x: np.ndarray, pulls: Sequence[Pull]) -> Belief:
    """A belief that has noted rewards at (n, d) unit points."""
    for first in range(0, len(pulls), _CHUNK):
        some = pulls[first : first + _CHUNK]
        numbers = np.zeros((_CHUNK, 4))
        numbers[: len(some)] = [_numbers(pull) for pull in some]
        at = np.zeros((_CHUNK, x.shape[1]))
        at[: len(some)] = x[first : first + _CHUNK]
        belief = _note(belief, at, numbers, np.int32(len(some)))
    return belief


def _numbers(pull: Pull) -> tuple[float, float, float, float]:
    """Mean, count, squares and known variance: a ``Reward``."""
    if pull.noise is None:
        return pull.reward, float(pull.pulls), pull.squares, 0.0
    return pull.reward, 1.0, 0.0, max(pull.noise**2, EXACT)


def padded(rows: np.ndarray, fill: float) -> np.ndarray:
    """Rows filled up to one of a few lengths, powers of 4."""
    length = 4
    while length < len(rows):
        length *= 4
    filled = np.full((length, rows.shape[1]), fill)
    filled[: len(rows)] = rows
    return filled


@program
def _note(belief: Belief, x, numbers, count) -> Belief:
    def observed(i, belief: Belief) -> list:
        return jax.tree.leaves(belief.observe(x[i], Reward(*numbers[i])))

    leaves, tree = jax.tree.flatten(belief)
    # A reward changes little of a belief: the rest is handed on as it is.
    pairs = enumerate(zip(leaves, observed(0, belief), strict=True))
    changed = [place for place, (before, after) in pairs if after is not before]

    def one(i, some):
        after = observed(i, jax.tree.unflatten(tree, filled(leaves, changed, some)))
        return [after[place] for place in changed]

    some = jax.lax.fori_loop(0, count, one, [jnp.asarray(leaves[i]) for i in changed])
    return jax.tree.unflatten(tree, filled(leaves, changed, some))


@program
def search(
    model: Model, key: PRNGKeyArray | None, pulls: Count, belief: Belief
) -> tuple[Belief, FitInfo]:
    """Hyper-parameters found anew; one program for all spaces with as many columns.

    Conditioning is a program of its own, so that a study that is opened again runs the same one on
    the same numbers and chooses the same arm even where two are nearly tied.
    """
    return rounds.search(model, key, pulls, belief)


@program
def condition(model: Model, belief: Belief) -> Belief:
    """Predictions that rest on all rewards noted."""
    return model.condition(belief)


@program
def outdated(belief: Belief):
    """Whether a conditioned belief needs another search."""
    return belief.outdated()


@program
def study_key(seed):
    """The key of a study."""
    return rounds.study_key(seed)


@program
def imagine(belief: Belief, x, count) -> Belief:
    """As if the first ``count`` of some points had paid what the belief expects of them."""
    start = jax.tree.map(jnp.asarray, belief)
    return jax.lax.fori_loop(0, count, lambda i, belief: belief.imagine(x[i]), start)


@program
def situated(belief: Belief, context) -> Situated:
    """A belief as it is seen in a context."""
    return Situated.at(belief, context)


def decide(
    policy: Policy, begun: State, belief: Belief, pulls: Count, avoid, among
) -> tuple[int, Info]:
    """The next choice from a list, for a belief that is not conditioned yet: one program.

    It takes and gives little: where a decision takes a millisecond, every array that is handed over
    counts. What drove the choice comes in plain numbers.
    """
    parts = (begun.candidates, begun.setup, begun.key, begun.initial)
    numbers, places = _decide(policy, parts, belief, pulls, avoid, among)
    values = np.asarray(numbers).tolist()
    arm, info = jax.tree.map(lambda place: place.kind(values[place.number]), places)
    return arm, info


def unconditioned(belief: Belief) -> bool:
    """Whether a decision is what conditions it: else that was done to know if a search is due."""
    return not (belief.thrifty or belief.cumulative)


@dataclasses.dataclass(frozen=True)
class _Place:
    """Where a number stands in a row of them, and what it is."""

    number: int
    kind: type


@partial(program, wide=True)
def _decide(policy: Policy, parts: tuple, belief: Belief, pulls, avoid, among) -> tuple[Any, Any]:
    candidates, setup, key, initial = parts
    known = policy.model.condition(belief)
    state = State(candidates, setup, key, known, pulls, initial, pulls)
    found, shape = jax.tree.flatten(policy.select(state, avoid, 0, among))
    kinds = {"b": bool, "i": int, "u": int, "f": float}
    places = [_Place(i, kinds[leaf.dtype.kind]) for i, leaf in enumerate(found)]
    return jnp.stack([leaf.astype(float) for leaf in found]), jax.tree.unflatten(shape, places)


def select(policy: Policy, state: State, avoid, ahead, among=None):
    """The next choice; see ``Policy.select``."""
    if state.candidates.listed:
        return _select(policy, state, avoid, ahead, among)
    return _search_region(policy, state, avoid, ahead)


@float64
def _search_region(policy: Policy, state: State, avoid, ahead):
    return policy.choose(*_focus(policy, state, ahead), state, avoid)


@program
def _select(policy: Policy, state: State, avoid, ahead, among):
    return policy.select(state, avoid, ahead, among)


@program
def propensity(policy: Policy, state: State, choice, avoid, ahead, among):
    """How probable a choice was; see ``windfall.policy.propensity``."""
    return estimated(policy, state, choice, avoid, ahead, among)


@program
def _focus(policy: Policy, state: State, ahead):
    return policy.focus(state, ahead)


def table(policy: Policy, state: State, x: np.ndarray, size: int = 0) -> dict[str, np.ndarray]:
    """Mean, deviation, attention and score at some points; see ``moments``."""
    columns = _table(policy, state, _sized(x, size))
    names = ("mean", "std", "ratio", "acquisition")
    return {n: np.asarray(c)[: len(x)] for n, c in zip(names, columns, strict=True)}


@program
def _table(policy: Policy, state: State, x):
    score = policy.score(state)
    belief = state.belief
    return *belief.in_rewards(*belief.moments(x)), score.ratio(x), score(x)


def moments(belief: Belief, x: np.ndarray, size: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Mean and deviation at some points.

    Args:
        belief: What is believed.
        x: The points.
        size: Of the list; all of it has a program of its own.
    """
    mean, deviation = _moments(belief, _sized(x, size))
    return np.asarray(mean)[: len(x)], np.asarray(deviation)[: len(x)]


@program
def _moments(belief: Belief, x):
    return belief.in_rewards(*belief.moments(x))


def _sized(x: np.ndarray, size: int) -> np.ndarray:
    """Points in one of a few numbers, so that no call compiles for itself; a list as it is."""
    return x if len(x) == size else padded(x, 0.5)
