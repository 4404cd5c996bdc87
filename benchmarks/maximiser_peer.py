"""One decision on a box with BoTorch; runs in the peers' environment, which has no windfall.

The observations are those of ``benchmarks.maximiser``. A decision is what BoTorch's tutorials do: a
``SingleTaskGP`` on standardised rewards, ``fit_gpytorch_mll``, and ``optimize_acqf`` with 10
restarts from 512 raw samples; the two halves are timed apart.
"""

import time
import warnings
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
from botorch.acquisition import LogExpectedImprovement, UpperConfidenceBound
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.transforms import Standardize
from botorch.optim import optimize_acqf
from gpytorch.mlls import ExactMarginalLogLikelihood

from benchmarks import part

RESTARTS, RAW_SAMPLES = 10, 512


def decide(x: torch.Tensor, y: torch.Tensor, name: str) -> tuple[float, float]:
    """Seconds for the fit and for the maximisation."""
    begin = time.perf_counter()
    model = SingleTaskGP(x, y, outcome_transform=Standardize(m=1))
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    middle = time.perf_counter()
    if name == "ei":
        acquisition: Any = LogExpectedImprovement(model, best_f=y.max())
    else:
        acquisition = UpperConfidenceBound(model, beta=4.0)
    bounds = torch.stack([torch.zeros(x.shape[1]), torch.ones(x.shape[1])]).double()
    optimize_acqf(acquisition, bounds, q=1, num_restarts=RESTARTS, raw_samples=RAW_SAMPLES)
    return middle - begin, time.perf_counter() - middle


def measure(folder: Path, quick: bool) -> dict[str, Any]:
    del quick  # the file says how many observations and repeats
    warnings.simplefilter("ignore")
    with np.load(folder / part.MAXIMISER_FILE) as file:
        x, y = torch.tensor(file["x"]), torch.tensor(file["y"])[:, None]
        count, repeats = int(file["count"]), int(file["repeats"])
    found: dict[str, Any] = {}
    threads = sorted({torch.get_num_threads(), 1})
    for name in ("v-ucb", "ei"):
        by_threads = {}
        for number in threads:
            torch.set_num_threads(number)
            decide(x[:count], y[:count], name)
            pairs = [decide(x[: count + i], y[: count + i], name) for i in range(repeats)]
            fits, choices = (1e3 * median(times) for times in zip(*pairs, strict=True))
            by_threads[number] = {"fit_ms": fits, "choice_ms": choices}
        found[name] = min(by_threads.values(), key=lambda n: n["choice_ms"])
    return found


if __name__ == "__main__":
    part.main(measure)
