"""The same rounds with BoTorch; runs in the peers' environment, which has no windfall.

A round is what BoTorch's tutorials do: a ``SingleTaskGP`` on standardised rewards,
``fit_gpytorch_mll``, and the upper confidence bound of every arm in one batch. The arms, the
payoffs and the initial arms are those of ``benchmarks.rounds``.
"""

import time
import warnings
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
from botorch.acquisition import UpperConfidenceBound
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.transforms import Standardize
from gpytorch.mlls import ExactMarginalLogLikelihood

from benchmarks import part


def choose(arms: torch.Tensor, pulled: list[int], rewards: list[float], beta: float) -> int:
    """One round: fit, then the arm with the highest upper confidence bound."""
    y = torch.tensor(rewards, dtype=torch.float64)[:, None]
    model = SingleTaskGP(arms[pulled], y, outcome_transform=Standardize(m=1))
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    with torch.no_grad():
        # One arm per batch entry: faster than one joint posterior of all arms.
        return int(UpperConfidenceBound(model, beta=beta)(arms[:, None, :]).argmax())


def play(problem: Any, trial: int, decisions: int) -> float:
    """Seconds for the decisions of a trial."""
    rng = np.random.default_rng(trial)
    noise, payoff = float(problem["noise"]), problem["payoff"]
    arms = torch.tensor(problem["arms"], dtype=torch.float64)
    pulled = problem["initial"][trial].tolist()
    rewards = [payoff[arm] + noise * rng.standard_normal() for arm in pulled]
    begin = time.perf_counter()
    for _ in range(decisions):
        arm = choose(arms, pulled, rewards, beta=float(problem["kappa"]) ** 2)
        pulled.append(arm)
        rewards.append(payoff[arm] + noise * rng.standard_normal())
    return time.perf_counter() - begin


def measure(folder: Path, quick: bool) -> dict[str, Any]:
    del quick  # the file says how many trials and decisions
    warnings.simplefilter("ignore")  # about fits that it then tries again
    with np.load(folder / part.TRIALS_FILE) as file:
        problem = dict(file)
    decisions = int(problem["decisions"])
    threads = sorted({torch.get_num_threads(), 1})
    seconds: dict[int, list[float]] = {count: [] for count in threads}
    play(problem, 0, min(3, decisions))
    for trial in range(len(problem["initial"])):
        for count in threads:  # in turn: a busy machine slows all alike
            torch.set_num_threads(count)
            seconds[count].append(play(problem, trial, decisions))
    per_round = {count: 1e3 * median(times) / decisions for count, times in seconds.items()}
    best = min(threads, key=lambda count: per_round[count])
    return {
        "ms": per_round[best],
        "threads": best,
        "by_threads_ms": per_round,
        "trials_ms": [1e3 * s / decisions for s in seconds[best]],
        "versions": {name: version(name) for name in ("botorch", "gpytorch", "torch")},
    }


if __name__ == "__main__":
    part.main(measure)
