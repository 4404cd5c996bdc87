"""BoTorch as its tutorials use it; runs in the peers' environment, which has no windfall.

A line of JSON on standard input is a question: the points of the unit box evaluated so far, their
rewards, an acquisition and a seed. The answer is a line with the next point. The model is
``SingleTaskGP`` with its own defaults (standardised rewards, lengthscale priors), and the
acquisition is maximised from 10 starts out of 512 raw samples. κ of UCB is 2, as windfall's.
"""

import json
import sys
import warnings
from importlib.metadata import version
from typing import Any

import torch
from botorch.acquisition import LogExpectedImprovement, UpperConfidenceBound
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.optim import optimize_acqf
from gpytorch.mlls import ExactMarginalLogLikelihood

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


def main() -> None:
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # about fits that it then tries again
    versions = {name: version(name) for name in ("botorch", "gpytorch", "torch")}
    for line in sys.stdin:
        question = json.loads(line)
        try:
            answer = {"x": propose(question)} if question else {"versions": versions}
        except Exception as error:  # the run is lost, the next one is not
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
