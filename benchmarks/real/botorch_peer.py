"""BoTorch over a list of arms; runs in the peers' environment, which has no windfall.

A line of JSON on standard input is a question. ``arms`` (in the unit box) begins a list; after that
``pulled`` and ``rewards`` ask for the next arm. The model is ``SingleTaskGP`` with its own defaults
(standardised rewards, priors that know the dimension), the score ``LogExpectedImprovement`` over
the best reward, and every arm may be chosen, also again.
"""

import json
import sys
import warnings
from importlib.metadata import version
from typing import Any

import torch
from botorch.acquisition import LogExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from gpytorch.mlls import ExactMarginalLogLikelihood

#: Arms scored at a time, to bound the memory.
CHUNK = 1024


def choose(arms: torch.Tensor, question: dict[str, Any]) -> int:
    """The arm of the highest LogEI."""
    torch.manual_seed(question["seed"])
    y = torch.tensor(question["rewards"], dtype=torch.float64)[:, None]
    model = SingleTaskGP(arms[question["pulled"]], y)
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    score = LogExpectedImprovement(model, best_f=y.max())
    with torch.no_grad():
        return int(torch.cat([score(chunk[:, None, :]) for chunk in arms.split(CHUNK)]).argmax())


def main() -> None:
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # about fits that it then tries again
    versions = {name: version(name) for name in ("botorch", "gpytorch", "torch")}
    arms = torch.empty(0)
    for line in sys.stdin:
        question = json.loads(line)
        answer: dict[str, Any] = {"versions": versions}
        try:
            if "arms" in question:
                arms = torch.tensor(question["arms"], dtype=torch.float64)
            elif question:
                answer = {"arm": choose(arms, question)}
        except Exception as error:  # the run is lost, the next one is not
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
