"""Finished runs on disk, found again by a digest of everything that determined them."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from windfall._version import __version__
from windfall.compare.experiment import Run
from windfall.errors import InputError
from windfall.problems import Problem
from windfall.simulation.results import Result

__all__ = ["Store"]


@dataclass(frozen=True)
class Store:
    """A folder of results; each is written whole or not at all."""

    folder: Path

    def key(self, run: Run, problem: Problem) -> str:
        """The digest of the run's settings and of the problem's arms and payoffs."""
        settings = {
            "windfall": __version__,
            "problem": run.problem,
            "policy": repr(run.policy),
            "rounds": run.rounds,
            "trials": run.trials,
            "seed": run.seed,
            "noise": problem.noise,
            "initial": problem.protocol.initial,
            "arms": _digest(problem.arms),
            "payoff": _digest(problem.payoff),
            "pool": _digest(problem.initial_pool),
            "box": _digest(problem.box),
        }
        if problem.replicates is not None:  # else the digests of earlier versions
            settings["replicates"] = _digest(problem.replicates)
        text = json.dumps(settings, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:24]

    def load(self, run: Run, problem: Problem) -> Result | None:
        """The finished run, or None if there is none; a damaged one is an ``InputError``."""
        path = self.folder / f"{self.key(run, problem)}.json"
        return Result.load(path) if path.exists() else None

    def save(self, run: Run, problem: Problem, result: Result) -> None:
        """Keep a finished run."""
        result.save(self.folder, self.key(run, problem))

    def discard(self, run: Run, problem: Problem) -> None:
        """Forget a damaged entry."""
        for ending in (".json", ".npz"):
            (self.folder / f"{self.key(run, problem)}{ending}").unlink(missing_ok=True)

    def finished(self, run: Run, problem: Problem, complain) -> Result | None:
        """The finished run; a damaged entry is named through ``complain`` and will be redone."""
        try:
            return self.load(run, problem)
        except InputError as error:
            complain(f"{run.problem} / {run.label}: {error}; computing it again")
            self.discard(run, problem)
            return None


def _digest(array: np.ndarray | None) -> str:
    if array is None:
        return ""
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]
