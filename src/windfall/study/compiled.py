"""The compiled programs of a study: note rewards, search, condition, choose, tell what is believed.

Each is one compilation per shape. Lists that grow (rewards to note, pending and failed points,
points asked about) come padded to a few lengths.
"""

import dataclasses
from collections.abc import Sequence

import jax
import numpy as np

from windfall import policy as rounds
from windfall.acquisition.candidates import NOWHERE
from windfall.models.base import EXACT, Belief, FitInfo, Model, Reward
from windfall.models.situated import Situated
from windfall.policy import Policy, State
from windfall.policy.propensity import propensity as estimated
from windfall.runtime.execution import float64
from windfall.runtime.programs import program
from windfall.study.pull import Pull

__all__ = [
    "condition",
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
    def one(i, belief):
        return belief.observe(x[i], Reward(*numbers[i]))

    return jax.lax.fori_loop(0, count, one, jax.tree.map(jax.numpy.asarray, belief))


def search(model: Model, state: State) -> tuple[Belief, FitInfo]:
    """Hyper-parameters found anew; one program for all spaces with as many columns.

    Conditioning is a program of its own, so that a study that is opened again runs the same one on
    the same numbers and chooses the same arm even where two are nearly tied.
    """
    return _search(model, dataclasses.replace(state, candidates=NOWHERE, setup=None))


@program
def _search(model: Model, state: State) -> tuple[Belief, FitInfo]:
    return rounds.search(model, state)


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
    start = jax.tree.map(jax.numpy.asarray, belief)
    return jax.lax.fori_loop(0, count, lambda i, belief: belief.imagine(x[i]), start)


@program
def situated(belief: Belief, context) -> Situated:
    """A belief as it is seen in a context."""
    return Situated.at(belief, context)


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


@program
def table(policy: Policy, state: State, x):
    """Mean, deviation, attention and score at some points."""
    score = policy.score(state)
    return *state.belief.moments(x), score.ratio(x), score(x)


@program
def moments(belief: Belief, x):
    """Mean and deviation at some points."""
    return belief.moments(x)
