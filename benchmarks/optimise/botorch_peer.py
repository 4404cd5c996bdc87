"""BoTorch as its tutorials use it; runs in the peers' environment, which has no windfall.

Questions are those of ``proposing``, with the name of an acquisition. The model is ``SingleTaskGP``
with its own defaults (standardised rewards, lengthscale priors), and the acquisition is maximised
from 10 starts out of 512 raw samples. κ of UCB is 2, as windfall's.
"""

from typing import Any

import torch
from botorch.acquisition import LogExpectedImprovement, UpperConfidenceBound
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.optim import optimize_acqf
from gpytorch.mlls import ExactMarginalLogLikelihood

from benchmarks.optimise.proposing import answer_all

KAPPA = 2.0


def propose(question: dict[str, Any]) -> list[float]:
    torch.manual_seed(question["seed"])
    x = torch.tensor(question["x"], dtype=torch.float64)
    y = torch.tensor(question["y"], dtype=torch.float64)[:, None]
    model = SingleTaskGP(x, y)
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    if question["acquisition"] == "logei":
        acquisition = LogExpectedImprovement(model, best_f=y.max())
    else:
        acquisition = UpperConfidenceBound(model, beta=KAPPA**2)
    unit = torch.tensor([[0.0], [1.0]], dtype=torch.float64).expand(2, x.shape[1])
    best, _ = optimize_acqf(acquisition, bounds=unit, q=1, num_restarts=10, raw_samples=512)
    return best[0].tolist()


if __name__ == "__main__":
    answer_all(propose, ("botorch", "gpytorch", "torch"))
