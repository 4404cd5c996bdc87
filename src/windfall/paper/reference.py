"""The authors' saved regrets, to be laid beside ours.

They are not part of windfall: a folder that holds ``authors_regret.npz`` (an array of trials ×
rounds per key ``problem/policy``) may be named, and everything works without it.
"""

import os
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from windfall.compare.experiment import Run
from windfall.errors import InputError
from windfall.problems import Problem
from windfall.simulation.results import Result

__all__ = ["FILE", "VARIABLE", "Reference"]

FILE = "authors_regret.npz"
VARIABLE = "WINDFALL_REFERENCE"


@dataclass(frozen=True)
class Reference:
    """Saved regrets by ``problem/policy``.

    Attributes:
        regret: (trials, rounds) arrays.
        missing: Why there are none, empty if there are.

    Example:
        >>> Reference().find("cosine/ei", rounds=10) is None
        True
    """

    regret: Mapping[str, np.ndarray] = field(default_factory=dict)
    missing: str = "no folder was named"

    @classmethod
    def load(cls, folder: Path | str | None = None) -> "Reference":
        """Read the folder's file; by default the folder that ``WINDFALL_REFERENCE`` names."""
        chosen = folder or os.environ.get(VARIABLE)
        if not chosen:
            return cls(missing=f"no folder was named with --reference or {VARIABLE}")
        path = Path(chosen).expanduser() / FILE
        if not path.exists():
            return cls(missing=f"{path} does not exist")
        try:
            with open(path, "rb") as file, np.load(file, allow_pickle=False) as arrays:
                saved = {key: _regret(path, key, arrays[key]) for key in arrays}
        except OSError as error:
            raise InputError(f"{path} cannot be read ({error.strerror}); check it") from error
        except (ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"{path} is not a readable .npz file; copy it again") from error
        return cls(saved, "")

    def find(self, key: str, *, rounds: int, trials: int | None = None) -> Result | None:
        """The first rounds (and trials) under a key, as a result that has regrets only."""
        if key not in self.regret:
            return None
        regret = self.regret[key][:trials, :rounds]
        problem, _, policy = key.partition("/")
        none = np.zeros((len(regret), 0))
        return Result(problem, policy, 0, regret, none.astype(int), none, none, f"{policy}, saved")

    def beside(self, run: Run, problem: Problem) -> Result | None:
        """What the authors saved for a run: as many rounds, and the same snapshots."""
        key = run.reference or f"{run.problem}/{run.label}"
        same_snapshots = run.trials if problem.snapshots > 1 else None
        return self.find(key, rounds=run.rounds, trials=same_snapshots)


def _regret(path: Path, key: str, array: np.ndarray) -> np.ndarray:
    regret = np.asarray(array)
    numbers = np.issubdtype(regret.dtype, np.floating)
    if regret.ndim != 2 or 0 in regret.shape or not numbers or not np.all(np.isfinite(regret)):
        raise InputError(
            f"{path}: {key} is {regret.dtype} of shape {regret.shape}; "
            "expected finite numbers, trials × rounds"
        )
    return regret.astype(float)
