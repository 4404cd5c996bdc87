"""One ask of BoTorch over a list of arms, chunk by chunk; in the peers' environment.

A ``SingleTaskGP`` on standardised rewards, ``fit_gpytorch_mll`` and the upper confidence bound of
every arm. With ``chunk`` 0 all arms are one batch, as the tutorials do it.
"""

import json
import resource
import sys
import time
import warnings
from importlib.metadata import version

import numpy as np
import torch
from botorch.acquisition import UpperConfidenceBound
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.transforms import Standardize
from gpytorch.mlls import ExactMarginalLogLikelihood


def payoff(x):
    near = np.exp(-20.0 * np.sum((x - 0.6) ** 2, axis=1))
    return np.sin(3.0 * x[:, 0]) + x[:, 1] * x[:, 2] + 3.0 * near


def main() -> None:
    warnings.simplefilter("ignore")
    given = json.loads(sys.argv[1])
    arms, pulled, chunk = given["arms"], given["pulled"], given["chunk"]
    rng = np.random.default_rng(0)
    x = torch.tensor(rng.random((arms, 6)))
    distinct = rng.choice(arms, pulled, replace=False)
    rewards = payoff(x[distinct].numpy()) + 0.05 * rng.normal(size=pulled)
    y = torch.tensor(rewards)[:, None]
    wall, cpu = time.perf_counter(), time.process_time()
    model = SingleTaskGP(x[distinct], y, outcome_transform=Standardize(m=1))
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    fitted = time.perf_counter() - wall
    with torch.no_grad():
        bound = UpperConfidenceBound(model, beta=4.0)
        scores = [bound(part[:, None, :]) for part in x.split(chunk or arms)]
        int(torch.cat(scores).argmax())
    print(json.dumps({
        "ask_s": [time.perf_counter() - wall],
        "ask_cpu_s": [time.process_time() - cpu],
        "fit_s": fitted,
        "peak_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9,
        "versions": {name: version(name) for name in ("botorch", "torch")},
    }))  # fmt: skip


if __name__ == "__main__":
    main()
