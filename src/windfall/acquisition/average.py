"""Acquisitions under full Bayes: every score averages over samples of the hyper-parameters."""

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from windfall.acquisition.base import Acquisition, Score, Situation
from windfall.acquisition.thompson import TS
from windfall.models.gp.ensemble import Ensemble
from windfall.models.gp.posterior import Posterior
from windfall.runtime.execution import map_lanes

__all__ = ["Average", "focus"]


class Average(Score):
    """The mean of the scores of all members: mean_s a_s(x).

    Attributes:
        scores: One score for each member, stacked.
    """

    scores: Score

    def __call__(self, x, prior):
        values = map_lanes(lambda score: score(x, prior), self.scores)
        return self.scores.average(values)

    def ratio(self, x, prior):
        ratios = map_lanes(lambda score: score.ratio(x, prior), self.scores)
        return jnp.mean(ratios, axis=0)


def focus(
    acquisition: Acquisition, key: PRNGKeyArray, posterior: Posterior, situation: Situation
) -> Score:
    """The acquisition's score for this round, whatever the posterior.

    Thompson sampling needs no average: a draw from an ensemble is that of a member at random and of
    its function, while the mean of several draws would not be a draw.
    """
    if not isinstance(posterior, Ensemble) or isinstance(acquisition, TS):
        return acquisition.focus(key, posterior, situation)
    keys = jax.random.split(key, posterior.size)
    return Average(posterior.each(lambda one, key: acquisition.focus(key, one, situation), keys))
