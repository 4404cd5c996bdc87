"""Optuna's GP sampler on a box; runs in the peers' environment, which has no windfall.

Questions and answers are those of ``botorch_peer``: the points of the unit box evaluated so far and
their rewards in, the next point out. The sampler knows that the payoffs have no noise.
"""

import json
import sys
import warnings
from importlib.metadata import version
from typing import Any

import optuna
import torch
from optuna.distributions import FloatDistribution


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


def main() -> None:
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # the sampler calls itself experimental
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    versions = {name: version(name) for name in ("optuna", "torch")}
    for line in sys.stdin:
        question = json.loads(line)
        try:
            answer = {"x": propose(question)} if question else {"versions": versions}
        except Exception as error:  # the run is lost, the next one is not
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
