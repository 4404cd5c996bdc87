r"""Several policies on several problems in one table of numbers.

Regrets of different problems have different units, so that only ratios can be averaged. With
:math:`m_{pk}` the median over trials of R_T/T of policy k on problem p, the ratio is

.. math:: \rho_{pk} = \frac{\max(m_{pk}, f_p)}{\min_{k' \in \text{reference}} \max(m_{pk'}, f_p)},

below 1 where the policy is better than the best of the reference policies. The floor
:math:`f_p` is 1 % of the regret of pulling arms at random, :math:`\max f - \bar f` in the mean over
trials: regrets below it count as equal, and a regret of 0 has a finite ratio.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from windfall.compare.table import Table
from windfall.errors import InputError
from windfall.problems import Problem, suite
from windfall.runtime.files import write_atomically
from windfall.simulation.results import Result

__all__ = ["Comparison", "floor", "geometric_mean"]

#: Regrets below this share of a random arm's count as equal.
FLOOR = 0.01
#: A policy is close to the best one if its median is at most this share above.
CLOSE = 0.05
#: Suites that have a mean of their own in a table that mixes them.
PARTS = ("paper", "extremes-tune", "extremes-report")
ALL = "all problems"


@dataclass(frozen=True, eq=False)
class Comparison:
    """Policies (columns) on problems (rows).

    Attributes:
        name: What was compared, such as the suite's name.
        results: The results by problem and label; every problem has the same labels.
        floors: By problem, the regret below which policies count as equal.
        reference: Labels whose best is the measure of all.
        measure: What the reference is called in sentences.
        missing: Problems that could not be played, and why.
    """

    name: str
    results: Mapping[str, Mapping[str, Result]]
    floors: Mapping[str, float]
    reference: tuple[str, ...]
    measure: str
    missing: Mapping[str, str]

    @property
    def problems(self) -> tuple[str, ...]:
        """The rows."""
        return tuple(self.results)

    @property
    def labels(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(next(iter(self.results.values())))

    @cached_property
    def medians(self) -> np.ndarray:
        """(problems, policies) median over trials of R_T/T."""
        return np.array([[r.median[-1] for r in row.values()] for row in self.results.values()])

    @cached_property
    def ratios(self) -> np.ndarray:
        """(problems, policies) regret as a multiple of the best reference policy's."""
        columns = [self.labels.index(label) for label in self.reference]
        return self._floored / self._floored[:, columns].min(axis=1, keepdims=True)

    @property
    def close(self) -> np.ndarray:
        """(policies,) share of the problems on which a policy is within 5 % of the best of all."""
        best = self._floored.min(axis=1, keepdims=True)
        return np.mean(self._floored <= (1 + CLOSE) * best, axis=0)

    def means(self) -> dict[str, np.ndarray]:
        """(policies,) geometric mean of the ratios over all problems, and over each part."""
        parts = {part: [i for i, p in enumerate(self.problems) if p in suite(part)]
                 for part in PARTS}  # fmt: skip
        several = {part: rows for part, rows in parts.items() if rows}
        groups = several if len(several) > 1 else {}
        everything = list(range(len(self.problems)))
        return {
            part: geometric_mean(self.ratios[rows])
            for part, rows in {**groups, ALL: everything}.items()
        }

    def summary(self) -> dict[str, Any]:
        """All numbers, as plain ones."""
        return {
            "name": self.name,
            "policies": list(self.labels),
            "reference": list(self.reference),
            "measure": self.measure,
            "problems": {
                problem: {
                    "floor": self.floors[problem],
                    "policies": {
                        label: result.summary() | {"policy": label, "ratio": float(ratio)}
                        for (label, result), ratio in zip(row.items(), ratios, strict=True)
                    },
                }
                for (problem, row), ratios in zip(self.results.items(), self.ratios, strict=True)
            },
            "geometric_mean": {part: self._by_label(mean) for part, mean in self.means().items()},
            "within_5_percent": self._by_label(self.close),
            "worst_ratio": self._by_label(self.ratios.max(axis=0)),
            "missing": dict(self.missing),
        }

    def table(self) -> Table:
        """Medians and ratios with the lowest median of a row in bold, and their means."""
        rows = []
        for i, problem in enumerate(self.problems):
            medians = self.medians[i].tolist()
            pairs = zip(medians, self.ratios[i].tolist(), strict=True)
            rows.append((problem, *(_cell(m, r, m == min(medians)) for m, r in pairs)))
        for part, mean in self.means().items():
            rows.append((f"geometric mean, {part}", *(f"×{value:.3f}" for value in mean)))
        rows.append(("worst", *(f"×{value:.2f}" for value in self.ratios.max(axis=0))))
        rows.append(("within 5 % of the best", *(f"{share:.0%}" for share in self.close)))
        return Table(
            self.name,
            "R_T/T, median over trials, and as a multiple of that of "
            f"{self.measure}; lower is better, the lowest is bold. Regrets below 1 % of a "
            "random arm's count as equal in the multiples.",
            ("problem", *self.labels),
            tuple(rows),
        )

    def save(self, folder: Path | str, name: str) -> tuple[Path, Path]:
        """Write the numbers as ``NAME.json`` and the table as ``NAME.md``."""
        files = Path(folder) / f"{name}.json", Path(folder) / f"{name}.md"
        texts = json.dumps(self.summary(), indent=2) + "\n", self.table().markdown()
        for file, text in zip(files, texts, strict=True):
            write_atomically(file, text.encode())
        return files

    @cached_property
    def _floored(self) -> np.ndarray:
        return np.maximum(self.medians, np.array([[self.floors[p]] for p in self.problems]))

    def _by_label(self, values: np.ndarray) -> dict[str, float]:
        return {label: float(v) for label, v in zip(self.labels, values, strict=True)}


def floor(problem: Problem, trials: int) -> float:
    """1 % of the regret of a random arm, in the mean over trials.

    >>> floor(Problem(arms=[[0.0], [1.0]], payoff=[0.0, 1.0]), trials=3)
    0.005
    """
    rows = np.stack([problem.payoffs(trial) for trial in range(min(trials, problem.snapshots))])
    regret = float(np.mean(rows.max(axis=1) - rows.mean(axis=1)))
    if regret == 0.0:
        raise InputError(
            f"problem {problem.name!r} pays the same at every arm, so that nothing can be compared "
            "on it; leave it out"
        )
    return FLOOR * regret


def geometric_mean(values: np.ndarray) -> np.ndarray:
    """Of every column.

    >>> geometric_mean(np.array([[0.5, 1.0], [2.0, 9.0]])).round(12).tolist()
    [1.0, 3.0]
    """
    return np.exp(np.mean(np.log(values), axis=0))


def _cell(median: float, ratio: float, best: bool) -> str:
    text = f"{median:.3g} ×{ratio:.2f}"
    return f"**{text}**" if best else text
