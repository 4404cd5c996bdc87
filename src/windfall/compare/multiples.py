r"""Losses of policies on several problems as multiples of the best reference policy's.

Losses on different problems have different units, so that only ratios can be averaged. With
:math:`m_{pk}` what policy k lost on problem p, the ratio is

.. math:: \rho_{pk} = \frac{\max(m_{pk}, f_p)}{\min_{k' \in \text{reference}} \max(m_{pk'}, f_p)},

below 1 where the policy is better than the best of the reference policies. The floor
:math:`f_p` is 1 % of the regret of pulling arms at random, :math:`\max f - \bar f` in the mean over
trials: losses below it count as equal, and a loss of 0 has a finite ratio.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from windfall.errors import InputError
from windfall.problems import Problem

__all__ = ["Multiples", "floor", "geometric_mean"]

#: Losses below this share of a random arm's regret count as equal.
FLOOR = 0.01
#: A policy is close to the best one if it loses at most this share more.
CLOSE = 0.05


@dataclass(frozen=True, eq=False)
class Multiples:
    """Policies (columns) on problems (rows).

    Attributes:
        values: (problems, policies) what each policy lost.
        floors: (problems,) the loss below which policies count as equal.
        reference: Columns of the policies whose best is the measure of all.
    """

    values: np.ndarray
    floors: np.ndarray
    reference: Sequence[int]

    @cached_property
    def floored(self) -> np.ndarray:
        """(problems, policies) losses raised to the floor."""
        return np.maximum(self.values, self.floors[:, None])

    @cached_property
    def ratios(self) -> np.ndarray:
        """(problems, policies) losses as multiples of the best reference policy's."""
        return self.floored / self.floored[:, list(self.reference)].min(axis=1, keepdims=True)

    @property
    def close(self) -> np.ndarray:
        """(policies,) share of the problems on which a policy is within 5 % of the best of all."""
        best = self.floored.min(axis=1, keepdims=True)
        return np.mean(self.floored <= (1 + CLOSE) * best, axis=0)

    @property
    def worst(self) -> np.ndarray:
        """(policies,) the largest ratio."""
        return self.ratios.max(axis=0)

    def mean(self, rows: Sequence[int]) -> np.ndarray:
        """(policies,) geometric mean of the ratios over these problems."""
        return geometric_mean(self.ratios[list(rows)])


def floor(problem: Problem, trials: int) -> float:
    """1 % of the regret of a random arm, in the mean over trials.

    >>> floor(Problem(arms=[[0.0], [1.0]], payoff=[0.0, 1.0]), trials=3)
    0.005
    """
    rows = np.stack([problem.payoffs(trial) for trial in range(min(trials, problem.snapshots))])
    regret = float(np.mean(rows.max(axis=1) - rows.mean(axis=1)))
    if regret == 0.0:
        raise InputError(
            f"problem {problem.name!r} pays the same at every arm, so that nothing can be compared "
            "on it; leave it out"
        )
    return FLOOR * regret


def geometric_mean(values: np.ndarray) -> np.ndarray:
    """Of every column.

    >>> geometric_mean(np.array([[0.5, 1.0], [2.0, 9.0]])).round(12).tolist()
    [1.0, 3.0]
    """
    return np.exp(np.mean(np.log(values), axis=0))
