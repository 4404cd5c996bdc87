"""From finished runs to the table: by group, on how many functions a method is best or tied."""

from collections.abc import Mapping, Sequence

from benchmarks.bbob.functions import DIMENSIONS, GROUPS, names
from benchmarks.optimise import plan
from benchmarks.optimise.store import Store
from benchmarks.optimise.table import Cell, Cells, winners

OURS = (plan.FINDING, plan.DEFAULT)
RIVALS = (plan.LOGEI, plan.OPTUNA, plan.RANDOM)
METHODS = (*OURS, *RIVALS)


def cells(store: Store, optima: Mapping[str, float], seeds: int) -> dict[tuple[str, str], Cell]:
    """Every method on every function, where all methods have played the same seeds."""
    measured: dict[tuple[str, str], Cell] = {}
    for _, name, _, _ in names():
        rows = [[store.load(method, name, seed) for method in METHODS] for seed in range(seeds)]
        runs = [[run for run in row if run is not None] for row in rows]
        whole = [row for row in runs if len(row) == len(METHODS)]
        for i, method in enumerate(METHODS):
            if whole:
                regrets = (optima[name] - max(row[i].rewards) for row in whole)
                measured[name, method] = Cell.of(regrets)
    return measured


def markdown(measured: Cells) -> str:
    """Best or tied by group and dimension; then every function."""
    heads = ["group", *METHODS, "goal best level with or ahead of the peers"]
    lines = [_row(heads), "|---|" + "--:|" * (len(heads) - 1)]
    for dimension in DIMENSIONS:
        for group in GROUPS:
            chosen = [n for g, n, _, d in names() if (g, d) == (group, dimension)]
            lines.append(_summary(f"{group}, d = {dimension}", measured, chosen))
    lines.append(_summary("*all*", measured, [n for _, n, _, _ in names()]))
    counts = sorted({cell.seeds for cell in measured.values()})
    lines += ["", f"Seeds: {', '.join(map(str, counts))}. log10 of the regret, median ± MAD:", ""]
    lines += [_row(["function", *METHODS]), "|---|" + "--:|" * len(METHODS)]
    for _, name, _, _ in names():
        if (name, plan.FINDING) in measured:
            best = winners(measured, name, METHODS)
            texts = [_text(measured[name, m], m in best) for m in METHODS]
            lines.append(_row([name, *texts]))
    return "\n".join(lines)


def _summary(title: str, measured: Cells, chosen: Sequence[str]) -> str:
    played = [name for name in chosen if (name, plan.FINDING) in measured]
    best = [winners(measured, name, METHODS) for name in played]
    tally = [str(sum(m in row for row in best)) for m in METHODS]
    peers = [winners(measured, name, (plan.FINDING, *RIVALS)) for name in played]
    level = sum(plan.FINDING in row for row in peers)
    return _row([title, *tally, f"{level} of {len(played)}"])


def _text(cell: Cell, bold: bool) -> str:
    text = f"{cell.median:.2f} ± {cell.deviation:.2f}".replace("-", "−")
    return f"**{text}**" if bold else text


def _row(texts: Sequence[str]) -> str:
    return "| " + " | ".join(texts) + " |"
