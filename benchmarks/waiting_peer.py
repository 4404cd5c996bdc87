"""The studies of ``waiting`` with BoTorch and Optuna; runs in the peers' environment.

BoTorch does what its tutorials do: ``SingleTaskGP``, ``fit_gpytorch_mll``, and log EI over the list
or by ``optimize_acqf`` with 10 restarts of 512 raw samples. Optuna runs its GP sampler. Each study
is a process of its own; a space that a peer does not have is left out.
"""

import json
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

from benchmarks import part
from benchmarks.waiting_cases import ASKS, CASES, KINDS

TIMEOUT = 1200


def botorch(name: str) -> None:
    import numpy as np
    import torch
    from botorch.acquisition import LogExpectedImprovement
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from botorch.models.transforms import Standardize
    from botorch.optim import optimize_acqf
    from gpytorch.mlls import ExactMarginalLogLikelihood

    torch.manual_seed(0)
    case, rng = CASES[name], np.random.default_rng(0)
    arms = rng.random((case.initial, 6)) if case.arms is None else case.arms
    every = torch.tensor(arms, dtype=torch.float64)
    x = every[torch.as_tensor(rng.permutation(len(arms))[: case.initial])]
    y = [case.payoff(row) for row in x.numpy()]
    bounds = torch.tensor([[0.0] * 6, [1.0] * 6], dtype=torch.float64)
    while len(x) < ASKS:
        rewards = torch.tensor(y, dtype=torch.float64)[:, None]
        model = SingleTaskGP(x, rewards, outcome_transform=Standardize(m=1))
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        score = LogExpectedImprovement(model, best_f=rewards.max())
        if case.arms is None:
            new, _ = optimize_acqf(score, bounds, q=1, num_restarts=10, raw_samples=512)
        else:
            with torch.no_grad():
                new = every[int(score(every[:, None, :]).argmax())][None]
        x = torch.cat([x, new])
        y.append(case.payoff(new[0].numpy()))


def optuna(name: str) -> None:
    import optuna as peer

    peer.logging.set_verbosity(peer.logging.ERROR)
    case = CASES[name]

    def slack(trial: Any) -> tuple[float]:
        return (0.3 - trial.params["x"] - trial.params["y"],)

    sampler = peer.samplers.GPSampler(
        seed=0, n_startup_trials=case.initial, constraints_func=slack if name == "mixed" else None
    )
    study = peer.create_study(direction="maximize", sampler=sampler)

    def objective(trial: Any) -> float:
        if name == "box":
            return case.payoff([trial.suggest_float(f"x{i}", 0.0, 1.0) for i in range(6)])
        x, y = trial.suggest_float("x", 0, 1), trial.suggest_float("y", 0.01, 1, log=True)
        n, kind = trial.suggest_int("n", 1, 8), trial.suggest_categorical("kind", KINDS)
        return case.payoff([x, y, n, KINDS.index(kind)])

    study.optimize(objective, n_trials=ASKS)


PEERS = {"botorch": (botorch, ("list", "box", "one-hot")), "optuna": (optuna, ("box", "mixed"))}


def measure(folder: Path, quick: bool) -> dict[str, Any]:
    del folder
    numbers: dict[str, Any] = {}
    for peer, (_, names) in PEERS.items():
        for name in names[:1] if quick else names:
            begin = time.perf_counter()
            command = [sys.executable, "-m", "benchmarks.waiting_peer", "study", peer, name]
            subprocess.run(command, check=True, timeout=TIMEOUT, stdout=subprocess.DEVNULL)
            numbers.setdefault(name, {})[peer] = time.perf_counter() - begin
    return numbers


if __name__ == "__main__":
    if sys.argv[1] == "study":
        warnings.simplefilter("ignore")
        PEERS[sys.argv[2]][0](sys.argv[3])
        print(json.dumps("done"))
    else:
        part.main(measure)
