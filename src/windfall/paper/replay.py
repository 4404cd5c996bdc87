"""What a policy's model attended to at the end of a trial, worked out again from its rewards."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from windfall.compare.experiment import Run
from windfall.models.gp.observations import bucket
from windfall.problems import Problem
from windfall.runtime.execution import float64
from windfall.simulation.results import Result
from windfall.space import Space

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

    The model is fitted once, to all rewards. Of the initial arms only the best one's reward is on
    record; for the others the noise-free payoff is taken.
    """
    initial = result.initial[trial]
    payoffs = problem.payoffs(trial)
    first = np.where(initial == result.arms[trial, 0], result.rewards[trial, 0], payoffs[initial])
    arms = np.concatenate([initial, result.arms[trial, 1:]]).astype(np.int32)
    rewards = np.concatenate([first, result.rewards[trial, 1:]])
    space = Space.of(problem.arms, problem.box)
    capacity = bucket(min(problem.size, len(arms)))
    return np.asarray(
        _ratio(run.policy, space, capacity, len(initial), run.seed, arms, rewards,
               space.unit(features))
    )  # fmt: skip


@float64
def _ratio(policy, space, capacity, initial, seed, arms, rewards, x):
    state = policy.init(jax.random.key(seed), space, capacity=capacity, initial=initial)
    return _learned(policy, state, arms, rewards, x)


@eqx.filter_jit
def _learned(policy, state, arms, rewards, x):
    def tell(state, pull):
        return policy.observe(state, *pull), None

    state, _ = jax.lax.scan(tell, jax.tree.map(jnp.asarray, state), (arms, rewards))
    state, _ = policy.learn(state)
    return policy.score(state.key, state).ratio(x, jnp.ones(x.shape[0]))
