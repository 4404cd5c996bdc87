"""What models say about rows of a log that they have not seen: cross-fitting.

Rows are dealt to folds. For each fold a model learns from the rows of the others; it predicts the
fold's payoffs and, if the target is a policy, decides what that would do in the fold's contexts.
"""

import dataclasses
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from windfall.errors import NumericalError
from windfall.evaluation.log import Log
from windfall.models.base import Belief, Model
from windfall.models.capacity import bucket
from windfall.policy import Policy, State, situated
from windfall.policy.propensity import chances
from windfall.runtime.execution import float64
from windfall.runtime.programs import program
from windfall.study import compiled
from windfall.study.pull import Pull

__all__ = ["Learning", "dealt", "policy_chances", "predictions"]

#: Points are predicted, and decisions made, in blocks of one size: one compilation.
_BLOCK, _PLACES = 4096, 64


@dataclass(frozen=True)
class Learning:
    """How models learn from a log.

    Attributes:
        model: The model.
        most: From how many distinct inputs it learns at most, drawn at random where there are more.
        seed: Determines folds, draws and searches.
    """

    model: Model
    most: int
    seed: int


def dealt(rows: int, folds: int, seed: int) -> np.ndarray:
    """The fold of each row: folds of equal size, give or take one, rows at random.

    Example:
        >>> np.bincount(dealt(11, 3, seed=0)).tolist()
        [4, 4, 3]
    """
    return np.random.default_rng(seed).permutation(np.arange(rows) % folds)


@float64
def learned(learning: Learning, log: Log, rows: np.ndarray) -> Belief:
    """What a model believes that has seen some rows (their numbers) and no others."""
    points = log.points[rows]
    _, inverse = np.unique(points, axis=0, return_inverse=True)
    inverse = inverse.reshape(-1)
    distinct = int(inverse.max()) + 1
    if distinct > learning.most:
        kept = np.random.default_rng(learning.seed).permutation(distinct)[: learning.most]
        chosen = np.isin(inverse, kept)
        rows, points, distinct = rows[chosen], points[chosen], learning.most
    pulls = [Pull((), float(paid)) for paid in log.reward[rows]]
    empty = learning.model.begin(log.inputs, bucket(distinct))
    belief = compiled.note(empty, points, pulls)
    key = compiled.study_key(np.uint32(learning.seed))
    belief, _ = compiled.search(learning.model, key, np.int32(len(pulls)), belief)
    belief = compiled.condition(learning.model, belief)
    trouble = belief.trouble()
    if trouble is not None:
        raise NumericalError(trouble)
    return belief


def predictions(belief: Belief, log: Log, rows: np.ndarray) -> np.ndarray:
    """q̂: the mean payoff of every arm in the contexts of some rows, (rows, M)."""
    size = log.space.size
    contexts = np.repeat(log.context[rows], size, axis=0)
    points = np.concatenate([np.tile(log.space.points, (len(rows), 1)), contexts], axis=1)
    means = np.concatenate([np.asarray(_mean(belief, x)) for x in _blocks(points, _BLOCK)])
    return means[: len(points)].reshape(len(rows), size)


def _blocks(rows: np.ndarray, size: int) -> np.ndarray:
    """Rows in blocks of this size, the last one filled up with the last row."""
    missing = -len(rows) % size
    filled = np.concatenate([rows, np.repeat(rows[-1:], missing, axis=0)])
    return filled.reshape(-1, size, *rows.shape[1:])


@program
def _mean(belief: Belief, x):
    mean = belief.mean(x)
    return belief.in_rewards(mean, jnp.zeros_like(mean))[0]


def policy_chances(
    policy: Policy, belief: Belief, log: Log, rows: np.ndarray, seed: int, draws: int
) -> np.ndarray:
    """π: what a policy with this belief would do in the place of some rows, (rows, M)."""
    begun = float64(policy.begin)(compiled.study_key(np.uint32(seed)), log.space, inputs=log.inputs)
    state = dataclasses.replace(begun, belief=belief, pulls=np.int32(len(log) - len(rows)))
    width = log.context.shape[1]
    places = np.concatenate([log.context[rows], log.available[rows]], axis=1)
    distinct, inverse = np.unique(places, axis=0, return_inverse=True)
    blocks = _blocks(distinct, 1 if len(distinct) == 1 else _PLACES)
    found = [
        np.asarray(_chances(policy, state, block[:, :width], block[:, width:] > 0, draws))
        for block in blocks
    ]
    return np.concatenate(found)[inverse.reshape(-1)]


@program
def _chances(policy: Policy, state: State, contexts, available, draws: int):
    def one(place):
        context, among = place
        here = situated(state, context if context.shape[0] else None)
        return chances(policy, here, draws, among)

    return jax.lax.map(one, (contexts, available))
