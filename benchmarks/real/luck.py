"""Rewards by windfall's own key scheme, for players that are not windfall's.

Whoever pulls an arm in a trial's round gets what a windfall policy would have got for it.
"""

import jax
import numpy as np

from windfall.problems import Problem
from windfall.runtime.execution import float64
from windfall.simulation.noise import noise_of

_NOISE = 1  # the stream of the noise in windfall.simulation.rollout; a test holds them together


@float64
def rewards(problem: Problem, seed: int, trial: int, t: int, arms: np.ndarray) -> np.ndarray:
    """Of the arms pulled in round t: all initial arms together in round 0, then one by one."""
    key = jax.random.fold_in(jax.random.key(np.uint32(seed)), np.uint32(trial))
    key = jax.random.fold_in(jax.random.fold_in(key, _NOISE), t)
    noise = noise_of(problem).draw(key, np.asarray(arms, np.int32))
    return problem.payoffs(trial)[arms] + np.asarray(noise)
