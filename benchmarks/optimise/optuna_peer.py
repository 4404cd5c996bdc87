"""Optuna's GP sampler on a box; runs in the peers' environment, which has no windfall.

Questions are those of ``proposing``. The sampler knows that the payoffs have no noise.
"""

from typing import Any

import optuna
import torch
from optuna.distributions import FloatDistribution

from benchmarks.optimise.proposing import answer_all


def propose(question: dict[str, Any]) -> list[float]:
    torch.manual_seed(question["seed"])
    sampler = optuna.samplers.GPSampler(
        seed=question["seed"], n_startup_trials=0, deterministic_objective=True
    )
    study = optuna.create_study(direction="maximize", sampler=sampler)
    names = [f"x{i}" for i in range(len(question["x"][0]))]
    space = {name: FloatDistribution(0.0, 1.0) for name in names}
    for point, reward in zip(question["x"], question["y"], strict=True):
        params = dict(zip(names, point, strict=True))
        study.add_trial(optuna.trial.create_trial(params=params, distributions=space, value=reward))
    trial = study.ask(space)
    return [trial.params[name] for name in names]


if __name__ == "__main__":
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    answer_all(propose, ("optuna", "torch"))
