"""Runs that cost nothing, for tests of what is made of them."""

import numpy as np

from windfall.compare.experiment import Run
from windfall.problems import Problem
from windfall.simulation.results import Result


def by_chance(run: Run, problem: Problem) -> Result:
    """A run whose arms were drawn by lot: it costs nothing and its numbers hang together."""
    rng = np.random.default_rng(len(run.label))
    pool = np.arange(problem.size) if problem.initial_pool is None else problem.initial_pool
    initial = np.stack([rng.permutation(pool)[:3] for _ in range(run.trials)])
    arms = rng.integers(0, problem.size, (run.trials, run.rounds))
    payoffs = np.stack([problem.payoffs(i) for i in range(run.trials)])
    for trial in range(run.trials):
        arms[trial, 0] = initial[trial][np.argmax(payoffs[trial][initial[trial]])]
    paid = np.take_along_axis(payoffs, arms, axis=1)
    return Result(
        problem=problem.name,
        policy=repr(run.policy),
        seed=run.seed,
        regret=payoffs.max(axis=1, keepdims=True) - paid,
        arms=arms,
        rewards=paid,
        initial=initial,
        label=run.label,
        settings={"arms": problem.size, "backend": "cpu"},
        timings={"total": 3.0, "compile": 1.0, "trial_rounds": run.trials * (run.rounds - 1)},
    )
