"""What a simulation leaves behind: arrays in ``.npz``, everything else in a JSON manifest."""

import hashlib
import io
import json
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from windfall.errors import InputError
from windfall.runtime.files import write_atomically

__all__ = ["Result"]

_ARRAYS = ("regret", "arms", "rewards", "initial", "first")
#: A smaller share of the initial arms' gap is as good as found.
_MATTERS = 0.01


@dataclass(frozen=True, eq=False)
class Result:
    """Many trials of one policy on one problem.

    Attributes:
        problem: Name of the problem.
        policy: The expression that makes the policy.
        seed: Determines everything.
        regret: (trials, rounds) gaps max f − f(x_t), noise-free; entry 0 is the best initial arm's.
        arms: (trials, rounds) arms pulled, entry 0 the best initial one.
        rewards: (trials, rounds) noisy rewards of these arms.
        initial: (trials, n) initial arms.
        first: (trials, n) rewards of these; None in results of old versions.
        label: A short name of the policy for tables and figures.
        settings: All else that determined the run.
        timings: Seconds spent, as measured.
        versions: Of windfall, JAX, NumPy and Python.
    """

    problem: str
    policy: str
    seed: int
    regret: np.ndarray
    arms: np.ndarray
    rewards: np.ndarray
    initial: np.ndarray
    label: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    timings: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    first: np.ndarray | None = None

    @property
    def trials(self) -> int:
        """How many trials there are."""
        return self.regret.shape[0]

    @property
    def rounds(self) -> int:
        """T, the length of each trial."""
        return self.regret.shape[1]

    @property
    def mean_regret(self) -> np.ndarray:
        """(trials, rounds) R_t/t, the running mean of the regret."""
        return np.cumsum(self.regret, axis=1) / np.arange(1, self.rounds + 1)

    @property
    def median(self) -> np.ndarray:
        """(rounds,) median over trials of R_t/t."""
        return np.median(self.mean_regret, axis=0)

    @property
    def deviation(self) -> np.ndarray:
        """(rounds,) median absolute deviation over trials of R_t/t."""
        return np.median(np.abs(self.mean_regret - self.median), axis=0)

    @property
    def gap(self) -> np.ndarray:
        """(trials, rounds) gap of the best arm pulled so far, noise-free: what was *found*.

        The running minimum of the regret. Entry 0 is the best initial arm's, 0 means that the best
        arm of all was pulled.
        """
        return np.minimum.accumulate(self.regret, axis=1)

    @property
    def found(self) -> np.ndarray:
        """(trials,) whether the best arm was pulled."""
        return self.gap[:, -1] <= 0

    @property
    def stuck(self) -> np.ndarray:
        """(trials,) whether a trial missed the best arm and had stopped coming nearer to it.

        A trial is stuck if in the second half of its rounds it did not even halve its gap, and if
        that gap still matters: more than 1 % of what the initial arms missed, in the mean over
        trials. Both are ratios of gaps, so that one rule serves problems of any unit; and initial
        arms do not depend on the policy, so that policies with one seed are held to one measure.
        """
        gap = self.gap
        matters = gap[:, -1] > _MATTERS * gap[:, 0].mean()
        return matters & (gap[:, -1] > 0.5 * gap[:, (self.rounds - 1) // 2])

    def summary(self) -> dict[str, Any]:
        """The figures people quote, as plain numbers.

        ``median``, ``mad``, ``mean`` and ``percentile_90`` are of R_T/T, what was lost on the way;
        ``gap`` is of the best arm pulled. Where half of the trials find a needle, a median says
        nothing: look at the mean and at the shares ``found_best`` and ``stuck``.
        """
        final = self.mean_regret[:, -1]
        gap = self.gap[:, -1]
        checkpoints = [t for t in (10, 25, 50, 100, 150) if t <= self.rounds]
        return {
            "problem": self.problem,
            "policy": self.label,
            "trials": self.trials,
            "rounds": self.rounds,
            "seed": self.seed,
            "median": float(np.median(final)),
            "mad": float(self.deviation[-1]),
            "mean": float(np.mean(final)),
            "percentile_90": float(np.percentile(final, 90)),
            "median_at": {str(t): float(self.median[t - 1]) for t in checkpoints},
            "gap": {
                "mean": float(np.mean(gap)),
                "median": float(np.median(gap)),
                "percentile_90": float(np.percentile(gap, 90)),
            },
            "found_best": float(np.mean(self.found)),
            "stuck": float(np.mean(self.stuck)),
        }

    def save(self, folder: Path | str, name: str | None = None) -> Path:
        """Write ``NAME.npz`` and ``NAME.json``; an interrupted save leaves the old files whole.

        The manifest is written last and holds the digest of the arrays, so that a file cut short
        or mixed up is noticed when it is loaded.
        """
        folder = Path(folder)
        name = name or f"{self.problem}--{self.label or 'policy'}"
        buffer = io.BytesIO()
        np.savez_compressed(
            buffer, **{k: getattr(self, k) for k in _ARRAYS if getattr(self, k) is not None}
        )
        manifest = {
            "format": 1,
            "problem": self.problem,
            "policy": self.policy,
            "label": self.label,
            "seed": self.seed,
            "settings": self.settings,
            "timings": self.timings,
            "versions": self.versions,
            "summary": self.summary(),
            "sha256": hashlib.sha256(buffer.getvalue()).hexdigest(),
        }
        try:
            folder.mkdir(parents=True, exist_ok=True)
            write_atomically(folder / f"{name}.npz", buffer.getvalue())
            text = json.dumps(manifest, indent=2, sort_keys=True) + "\n"
            write_atomically(folder / f"{name}.json", text.encode())
        except OSError as error:
            raise InputError(
                f"folder {str(folder)!r} cannot be written ({error.strerror}); choose another one"
            ) from error
        return folder / f"{name}.json"

    @classmethod
    def load(cls, path: Path | str) -> "Result":
        """Read a saved result from its manifest (``NAME.json``)."""
        name = str(path).removesuffix(".json")  # names may have dots of their own
        path, data_path = Path(f"{name}.json"), Path(f"{name}.npz")
        try:
            manifest = json.loads(path.read_text())
            data = data_path.read_bytes()
            if hashlib.sha256(data).hexdigest() != manifest["sha256"]:
                raise InputError(f"{data_path} does not match its manifest; run it again")
            with np.load(io.BytesIO(data)) as arrays:
                loaded = {k: arrays[k] for k in _ARRAYS if k in arrays or k != "first"}
            keys = ("problem", "policy", "label", "seed", "settings", "timings", "versions")
            return cls(**{k: manifest[k] for k in keys}, **loaded)
        except OSError as error:
            raise InputError(f"result {str(path)!r} cannot be read ({error.strerror})") from error
        except (KeyError, TypeError, json.JSONDecodeError, zipfile.BadZipFile) as error:
            raise InputError(f"result {str(path)!r} is damaged ({error}); run it again") from error
