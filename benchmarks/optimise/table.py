"""From finished runs to the table: log10 simple regret, median and MAD over seeds."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.optimise import plan
from benchmarks.optimise.store import Run, Store
from windfall.problems import functions

#: A smaller regret counts as this: below it, it is rounding and no merit of a method.
FLOOR = 1e-8


@dataclass(frozen=True)
class Cell:
    """A method on a function."""

    median: float
    deviation: float
    seeds: int

    @classmethod
    def of(cls, regrets: Iterable[float]) -> "Cell":
        """The median of log10 simple regret and its median absolute deviation."""
        logs = np.log10(np.maximum(list(regrets), FLOOR))
        median = float(np.median(logs))
        return cls(median, float(np.median(np.abs(logs - median))), len(logs))


#: Function and method to what was measured; a pair without runs is missing.
Cells = Mapping[tuple[str, str], Cell]


def simple_regret(run: Run) -> float:
    """What the best of the evaluations within the budget misses."""
    function = functions.load(run.function)
    return function.optimum - max(run.rewards[: plan.budget(function.dimension)])


def cells(store: Store) -> tuple[dict[tuple[str, str], Cell], dict[str, str]]:
    """What is in the store, and the versions that it was made with."""
    measured: dict[tuple[str, str], Cell] = {}
    versions: dict[str, str] = {}
    for name in functions.names():
        for method in plan.METHODS:
            found = [store.load(method, name, seed) for seed in range(plan.SEEDS)]
            runs = [run for run in found if run is not None]
            if runs:
                measured[name, method] = Cell.of(map(simple_regret, runs))
            for run in runs:
                versions |= run.versions
    return measured, versions


def winners(measured: Cells, name: str, methods: Iterable[str]) -> list[str]:
    """The best of some methods on a function, and those that tie with it.

    A tie is a median that is worse than the best by no more than the best's own MAD.
    """
    row = {m: measured[name, m] for m in methods if (name, m) in measured}
    if not row:
        return []
    best = min(row.values(), key=lambda cell: cell.median)
    return [m for m, cell in row.items() if cell.median <= best.median + best.deviation]


def markdown(measured: Cells, about: Mapping[str, Any]) -> str:
    """The measured section of the README."""
    methods = [m for m in plan.METHODS if any((n, m) in measured for n in functions.names())]
    counts = sorted({cell.seeds for cell in measured.values()})
    seeds = " to ".join(map(str, sorted({counts[0], counts[-1]}))) if counts else "0"
    lines = [f"- {key}: {value}" for key, value in about.items()]
    lines += [f"- seeds: {seeds}", "", _row(["function", "evaluations", *methods])]
    lines.append("|" + "---|" * (2 + len(methods)))
    shared = {name: winners(measured, name, methods) for name in functions.names()}
    for name in functions.names():
        texts = [_text(measured.get((name, m)), m in shared[name]) for m in methods]
        lines.append(_row([name, str(plan.budget(functions.load(name).dimension)), *texts]))
    tally = [f"{sum(m in row for row in shared.values())} of {len(shared)}" for m in methods]
    lines.append(_row(["*best or tied*", "", *tally]))
    if plan.DEFAULT in methods:
        lines += ["", _verdict(measured)]
    return "\n".join(lines)


def _verdict(measured: Cells) -> str:
    """Windfall's default against the others' methods alone, where all of them were played."""
    known = {method for _, method in measured} - plan.WINDFALL.keys()
    rivals = [plan.DEFAULT, *(m for m in plan.METHODS if m in known)]
    played = [n for n in functions.names() if all((n, m) in measured for m in rivals)]
    rows = {name: winners(measured, name, rivals) for name in played}
    held = [name for name, row in rows.items() if plan.DEFAULT in row]
    alone = [name for name, row in rows.items() if row == [plan.DEFAULT]]
    return (
        f"Against BoTorch, SciPy and random search alone, windfall's default is best or tied on "
        f"{len(held)} of {len(rows)} functions (bar: two thirds), and ahead of all of them by more "
        f"than its MAD on: {', '.join(alone) or 'none'}."
    )


def _text(cell: Cell | None, bold: bool) -> str:
    if cell is None:
        return ""
    text = f"{cell.median:.2f} ± {cell.deviation:.2f}".replace("-", "−")
    return f"**{text}**" if bold else text


def _row(texts: Iterable[str]) -> str:
    return "| " + " | ".join(texts) + " |"
