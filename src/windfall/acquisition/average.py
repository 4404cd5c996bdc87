"""Acquisitions under full Bayes: every score averages over samples of the hyper-parameters."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from windfall.acquisition.base import Acquisition, Score, Situation
from windfall.models.base import Belief
from windfall.runtime.execution import map_lanes

__all__ = ["Average", "focus"]


class Average(Score):
    """The mean of the scores of all members: mean_s a_s(x).

    Attributes:
        scores: One score for each member, stacked.
    """

    scores: Score

    def __call__(self, x):
        return self.scores.average(map_lanes(lambda score: score(x), self.scores))

    @property
    def settled(self):
        each = self.scores.settled
        return None if each is None else jnp.all(each)

    def ratio(self, x):
        return jnp.mean(map_lanes(lambda score: score.ratio(x), self.scores), axis=0)


def focus(
    acquisition: Acquisition, key: PRNGKeyArray, belief: Belief, situation: Situation, setup: Any
) -> Score:
    """The acquisition's score for this round, whatever the belief.

    Thompson sampling needs no average: a draw from an ensemble is that of a member at random and of
    its function, while the mean of several draws would not be a draw.
    """
    if belief.members is None or not acquisition.averages:
        return acquisition.focus(key, belief, situation, setup)
    keys = jax.random.split(key, belief.members)
    return Average(
        belief.each(lambda one, key: acquisition.focus(key, one, situation, setup), keys)
    )
