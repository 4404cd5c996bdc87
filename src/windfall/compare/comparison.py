"""Several policies on several problems in one table of numbers, for earning and for finding.

Earning is the median over trials of R_T/T, finding the mean over trials of the gap of the best arm
pulled; both as multiples of the best reference policy's, see ``windfall.compare.multiples``.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from windfall.compare.multiples import Multiples
from windfall.compare.statistics import ENOUGH_TRIALS, paired, paired_gap
from windfall.compare.statistics import Comparison as Pair
from windfall.compare.table import Table
from windfall.problems import REAL, suite
from windfall.runtime.files import write_atomically
from windfall.simulation.results import Result

__all__ = ["Comparison"]

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
        goal: What counts, "reward" or "best".
    """

    name: str
    results: Mapping[str, Mapping[str, Result]]
    floors: Mapping[str, float]
    reference: tuple[str, ...]
    measure: str
    missing: Mapping[str, str]
    goal: str = "reward"

    @property
    def problems(self) -> tuple[str, ...]:
        """The rows."""
        return tuple(self.results)

    @property
    def labels(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(next(iter(self.results.values())))

    @cached_property
    def earning(self) -> Multiples:
        """R_T/T, median over trials."""
        return self._multiples(lambda result: float(result.median[-1]))

    @cached_property
    def finding(self) -> Multiples:
        """Gap of the best arm pulled, mean over trials."""
        return self._multiples(lambda result: float(result.gap[:, -1].mean()))

    @property
    def medians(self) -> np.ndarray:
        """(problems, policies) median over trials of R_T/T."""
        return self.earning.values

    @property
    def ratios(self) -> np.ndarray:
        """(problems, policies) regret as a multiple of the best reference policy's."""
        return self.earning.ratios

    @property
    def gaps(self) -> np.ndarray:
        """(problems, policies) mean over trials of the gap of the best arm pulled."""
        return self.finding.values

    @property
    def gap_ratios(self) -> np.ndarray:
        """(problems, policies) gap as a multiple of the best reference policy's."""
        return self.finding.ratios

    @property
    def close(self) -> np.ndarray:
        """(policies,) share of the problems on which R_T/T is within 5 % of the best of all."""
        return self.earning.close

    def means(self) -> dict[str, np.ndarray]:
        """(policies,) geometric mean of the ratios over all problems, and over each part."""
        return self._means(self.earning)

    def gap_means(self) -> dict[str, np.ndarray]:
        """(policies,) the same of the ratios of gaps."""
        return self._means(self.finding)

    @cached_property
    def pairs(self) -> dict[str, dict[str, Pair]]:
        """By problem and label, R_T/T against the best reference policy's, trial by trial."""
        return self._against_best(self.medians, paired)

    @cached_property
    def gap_pairs(self) -> dict[str, dict[str, Pair]]:
        """By problem and label, the gap against the best reference policy's, trial by trial."""
        return self._against_best(self.gaps, paired_gap)

    def summary(self) -> dict[str, Any]:
        """All numbers, as plain ones."""
        return {
            "name": self.name,
            "goal": self.goal,
            "policies": list(self.labels),
            "reference": list(self.reference),
            "measure": self.measure,
            "problems": {
                problem: {
                    "floor": self.floors[problem],
                    "policies": {
                        label: result.summary()
                        | {"policy": label, "ratio": float(self.ratios[i, j])}
                        | {"against_best": self.pairs[problem][label].summary()}
                        | {"gap_ratio": float(self.gap_ratios[i, j])}
                        | {"gap_against_best": self.gap_pairs[problem][label].summary()}
                        for j, (label, result) in enumerate(row.items())
                    },
                }
                for i, (problem, row) in enumerate(self.results.items())
            },
            **self._totals(self.earning),
            "gap": self._totals(self.finding),
            "missing": dict(self.missing),
        }

    def table(self) -> Table:
        """Medians, ratios and means with the lowest median of a row in bold, and their means."""
        return Table(
            self.name,
            "R_T/T, median over trials, as a multiple of that of "
            f"{self.measure}, and in brackets its mean over trials; lower is better, the lowest "
            "median is bold. Regrets below 1 % of a random arm's count as equal in the multiples.",
            ("problem", *self.labels),
            self._rows(self.earning, lambda r: f" ({np.mean(r.mean_regret[:, -1]):.3g})"),
        )

    def gap_table(self) -> Table:
        """Mean gaps and ratios with the lowest gap of a row in bold, shares, and their means."""
        verdicts = [[pair.verdict for pair in row.values()] for row in self.gap_pairs.values()]
        columns = list(zip(*verdicts, strict=True))
        results = [list(row.values()) for row in self.results.values()]
        stuck = np.mean([[np.mean(r.stuck) for r in row] for row in results], axis=0)
        rows = (
            ("better : worse", *(f"{c.count('better')} : {c.count('worse')}" for c in columns)),
            ("stuck", *(f"{share:.0%}" for share in stuck)),
        )
        return Table(
            f"{self.name}-gap",
            "Gap of the best arm pulled, mean over trials; as a multiple of that of "
            f"{self.measure}; and the share of trials that pulled the best arm of all. The lowest "
            "gap is bold. Better and worse: problems on which the 95 % interval of the difference "
            "to that policy within trials is on one side of 0; fewer than "
            f"{ENOUGH_TRIALS} trials decide nothing. Stuck: trials that missed the best "
            "arm and did not halve their gap in the second half of the rounds.",
            ("problem", *self.labels),
            (*self._rows(self.finding, lambda r: f" {np.mean(r.found):.0%}"), *rows),
        )

    def tables(self) -> dict[str, Table]:
        """Both by what they are about, the one that the goal asks for first."""
        both = {"earning": self.table(), "finding": self.gap_table()}
        return both if self.goal == "reward" else dict(reversed(both.items()))

    def save(self, folder: Path | str, name: str) -> tuple[Path, Path]:
        """Write the numbers as ``NAME.json`` and the tables as ``NAME.md``."""
        files = Path(folder) / f"{name}.json", Path(folder) / f"{name}.md"
        tables = "\n".join(table.markdown() for table in self.tables().values())
        texts = json.dumps(self.summary(), indent=2) + "\n", tables
        for file, text in zip(files, texts, strict=True):
            write_atomically(file, text.encode())
        return files

    @property
    def _columns(self) -> list[int]:
        return [self.labels.index(label) for label in self.reference]

    def _multiples(self, loss: Callable[[Result], float]) -> Multiples:
        values = [[loss(result) for result in row.values()] for row in self.results.values()]
        floors = np.array([self.floors[problem] for problem in self.problems])
        return Multiples(np.array(values), floors, self._columns)

    def _against_best(
        self, losses: np.ndarray, compare: Callable[[Result, Result], Pair]
    ) -> dict[str, dict[str, Pair]]:
        pairs = {}
        for row, (problem, results) in zip(losses, self.results.items(), strict=True):
            best = min(self._columns, key=lambda column: row[column])
            baseline = results[self.labels[best]]
            pairs[problem] = {label: compare(r, baseline) for label, r in results.items()}
        return pairs

    def _means(self, multiples: Multiples) -> dict[str, np.ndarray]:
        named = () if self.name == REAL else self.problems  # a list may be called like any of them
        parts = {part: [i for i, p in enumerate(named) if p in suite(part)] for part in PARTS}
        several = {part: rows for part, rows in parts.items() if rows}
        groups = several if len(several) > 1 else {}
        everything = list(range(len(self.problems)))
        return {part: multiples.mean(rows) for part, rows in {**groups, ALL: everything}.items()}

    def _totals(self, multiples: Multiples) -> dict[str, Any]:
        means = self._means(multiples).items()
        return {
            "geometric_mean": {part: self._by_label(mean) for part, mean in means},
            "within_5_percent": self._by_label(multiples.close),
            "worst_ratio": self._by_label(multiples.worst),
        }

    def _rows(
        self, multiples: Multiples, more: Callable[[Result], str]
    ) -> tuple[tuple[str, ...], ...]:
        """A row per problem, then the means; ``more`` is added to a result's cell."""
        rows: list[tuple[str, ...]] = []
        for i, (problem, results) in enumerate(self.results.items()):
            values, ratios = multiples.values[i].tolist(), multiples.ratios[i].tolist()
            cells = (
                _cell(f"{v:.3g} ×{r:.2f}{more(result)}", v == min(values))
                for v, r, result in zip(values, ratios, results.values(), strict=True)
            )
            rows.append((problem, *cells))
        for part, mean in self._means(multiples).items():
            rows.append((f"geometric mean, {part}", *(f"×{value:.3f}" for value in mean)))
        rows.append(("worst", *(f"×{value:.2f}" for value in multiples.worst)))
        rows.append(("within 5 % of the best", *(f"{share:.0%}" for share in multiples.close)))
        return tuple(rows)

    def _by_label(self, values: np.ndarray) -> dict[str, float]:
        return {label: float(v) for label, v in zip(self.labels, values, strict=True)}


def _cell(text: str, best: bool) -> str:
    return f"**{text}**" if best else text
