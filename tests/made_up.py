"""Results made by hand, for tests that need no simulation."""

import numpy as np

from windfall.simulation.results import Result


def made_up(
    regret, label: str = "lw-ucb", *, problem: str = "made-up", seed: int = 0, arms=None
) -> Result:
    """A result with this (trials, rounds) regret; its pulls are arms 0, 1, 2 in turn."""
    regret = np.asarray(regret, float)
    trials, rounds = regret.shape
    pulled = np.tile(np.arange(rounds) % 3, (trials, 1)) if arms is None else np.asarray(arms)
    return Result(
        problem=problem,
        policy="made up",
        label=label,
        seed=seed,
        regret=regret,
        arms=pulled,
        rewards=-regret,
        initial=np.tile([0, 1, 2], (trials, 1)),
        timings={"total": 2.0, "compile": 0.5, "trial_rounds": trials * (rounds - 1)},
    )
