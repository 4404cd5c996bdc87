"""What a policy's model attended to at the end of a trial, worked out again from its rewards."""

import numpy as np

from windfall.compare.experiment import Run
from windfall.problems import Problem
from windfall.simulation.results import Result
from windfall.space import Arms
from windfall.study.bandit import Bandit

__all__ = ["final_ratio", "representative"]


def representative(result: Result, count: int) -> list[int]:
    """Trials spread evenly over the ranking by R_T/T, the better ones first.

    Of two: those at the first and the third quartile.
    """
    order = np.argsort(result.mean_regret[:, -1], kind="stable")
    ranks = (np.arange(count) + 0.5) / count * result.trials
    return [int(order[rank]) for rank in np.unique(ranks.astype(int))]


def final_ratio(
    run: Run, problem: Problem, result: Result, trial: int, features: np.ndarray
) -> np.ndarray:
    """The likelihood ratio w at any features after the last round of a trial.

    The model is fitted once, to all rewards. Results of old versions have the reward of the best
    initial arm only; for the others the noise-free payoff is taken.
    """
    initial = result.initial[trial]
    first = problem.payoffs(trial)[initial] if result.first is None else result.first[trial]
    arms = Arms(problem.arms, problem.feature_names, problem.box)
    bandit = Bandit(arms, run.policy, seed=run.seed, initial=len(initial))
    for arm, reward in zip(initial, first, strict=True):
        bandit.tell(int(arm), reward)
    for arm, reward in zip(result.arms[trial, 1:], result.rewards[trial, 1:], strict=True):
        bandit.tell(int(arm), reward)
    return bandit.explain(features)["ratio"]
