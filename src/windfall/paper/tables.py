"""The report's tables, built from its summary."""

from collections.abc import Mapping, Sequence
from typing import Any

from windfall.compare.table import Table
from windfall.paper.plan import SYNTHETIC
from windfall.paper.runtimes import PAPER
from windfall.paper.verdicts import shown

__all__ = [
    "overview",
    "paired",
    "policies",
    "runtimes",
    "sensitivity",
    "timings",
    "variants",
]

Row = Mapping[str, Any]
_NONE = "–"


def overview(experiments: Mapping[str, Row]) -> Table:
    """One line per experiment."""
    rows = []
    for name, facts in experiments.items():
        ours, *baselines = facts["policies"]
        best = min(baselines, key=lambda p: p["median"])
        decided = {v: [shown(p["baseline"]) for p in facts["paired"] if p["verdict"] == v]
                   for v in ("better", "undecided", "worse")}  # fmt: skip
        rows.append((
            name,
            f"{facts['trials']} × {facts['rounds']}",
            _spread(ours),
            f"{shown(best['label'])} {_number(best['median'])}",
            *(", ".join(names) or _NONE for names in decided.values()),
            _spread(ours["authors"]),
            ours["authors"]["place"] if ours["authors"] else _NONE,
        ))  # fmt: skip
    return Table(
        "overview",
        "R_T/T, median over trials ± median absolute deviation (lower is better). Better, "
        "undecided and worse are LW-UCB's paired comparisons with each baseline; the last column "
        "places LW-UCB's median below, within or above the authors' median ± MAD.",
        ("experiment", "trials × rounds", "LW-UCB", "best baseline", "better than", "undecided",
         "worse than", "authors' LW-UCB", "ours is"),
        tuple(rows),
        frozenset(("best baseline", "better than", "undecided", "worse than", "ours is")),
    )  # fmt: skip


def policies(facts: Row) -> Table:
    """The five policies and the authors' numbers."""
    note = ""
    if any(p["authors"] and not p["authors"]["like_for_like"] for p in facts["policies"]):
        note = (
            " * The authors' runs computed another formula there; the section on what they did "
            "differently has the like-for-like comparison."
        )
    return _regrets(
        "policies",
        f"R_t/t, median over {facts['trials']} trials; MAD is its median absolute deviation at T = "
        f"{facts['rounds']}. “Inside” is the share of rounds in which our median lies within the "
        f"authors' median ± MAD.{note}",
        facts["policies"],
    )


def sensitivity(facts: Row) -> Table:
    """LW-UCB with each number of mixture components."""
    ours = dict(facts["policies"][0])
    ours["label"] = f"lw-ucb n_GMM={facts['components']}"
    rows = sorted([ours, *facts["sensitivity"]], key=lambda row: row["label"])
    caption = "LW-UCB with 2, 4 and 6 mixture components; columns as above."
    return _regrets("sensitivity", caption, rows)


def paired(facts: Row) -> Table:
    """LW-UCB against every baseline, trial by trial."""
    rows = tuple(
        (
            shown(p["baseline"]),
            _signed(p["difference"]),
            f"[{_signed(p['low'])}, {_signed(p['high'])}]",
            f"{p['wins']} / {p['ties']} / {p['losses']}",
            p["verdict"],
        )
        for p in facts["paired"]
    )
    return Table(
        "paired",
        "LW-UCB's R_T/T minus the baseline's in the same trial (same initial arms, same noise): "
        "median over trials, its 95 % bootstrap interval, and trials won, tied and lost by LW-UCB. "
        "Below zero LW-UCB is better.",
        ("LW-UCB against", "median difference", "95 % interval", "won / tied / lost", "LW-UCB is"),
        rows,
        frozenset(("LW-UCB is",)),
    )


def variants(facts: Row) -> Table:
    """What each of the authors' departures does to our curves."""
    rows = tuple(
        (
            shown(v["label"]),
            v["variant"],
            str(v["trials"]),
            _number(v["base_median"]),
            _number(v["median"]),
            _spread(v["authors"]),
            _NONE if v["gap_before"] is None else f"{v['gap_before']:.3f}",
            f"{v['authors']['gap']:.3f}" if v["authors"] else _NONE,
            v["authors"]["place"] if v["authors"] else _NONE,
        )
        for v in facts["variants"]
    )
    return Table(
        "variants",
        "Median R_T/T of the library's run over the same first trials, of the run that departs "
        "from it as the authors' did, and of the authors' saved runs (± MAD). The "
        "distance is the mean over rounds of the absolute difference of log10 medians between our "
        "curve and theirs.",
        ("run", "what is changed", "trials", "library", "changed", "authors", "distance, library",
         "distance, changed", "changed is"),
        rows,
        frozenset(("what is changed", "changed is")),
    )  # fmt: skip


def runtimes(measured: Sequence[Row]) -> Table:
    """Seconds per round: the paper's, and ours on every machine measured."""
    problems = [p for p in SYNTHETIC if any(f"{p}/ei" in m["cells"] for m in measured)]
    rows = []
    for policy, paper in PAPER.items():
        for problem in problems:
            cells = [m["cells"].get(f"{problem}/{policy}", {}) for m in measured]
            ours = [_seconds(c.get(k)) for c in cells for k in ("alone", "stacked", "compile")]
            rows.append((shown(policy), problem, f"{paper[problem]:g} s", *ours))
    titles = [f"{m['backend']}, {kind}" for m in measured
              for kind in ("one trial", "of 100 together", "compiled")]  # fmt: skip
    used = [0, 1, 2] + [3 + i for i in range(len(titles)) if any(r[3 + i] != _NONE for r in rows)]
    columns = ("policy", "problem", "paper", *titles)
    machines = "; ".join(
        f"{m['backend']}: {m['device']}, {m['repeats']} of "
        f"{max(cell['rounds'] for cell in m['cells'].values())} rounds"
        for m in measured
    )
    return Table(
        "runtimes",
        "One round of one trial, in steady state. “Of 100 together” is a round of 100 trials in "
        "one program, divided by 100. “Compiled” is what making (or finding) the programs took "
        f"before. Mean over trials: {machines}.",
        tuple(columns[i] for i in used),
        tuple(tuple(row[i] for i in used) for row in rows),
        frozenset(("problem",)),
    )


def timings(rows: Sequence[Row]) -> Table:
    """Compilation, running time and rate of the runs of one experiment, and of all of them."""
    compiled, run, rounds = (
        sum(row[k] for row in rows) for k in ("compile", "run", "trial_rounds")
    )
    everything = {
        "label": "all runs",
        "backend": ", ".join(sorted({row["backend"] for row in rows})),
        "compile": compiled,
        "run": run,
        "trial_rounds": rounds,
        "rounds_per_second": max(rounds, 1) / max(run, 1e-9),
    }
    return Table(
        "timings",
        "Seconds that the run spent compiling and computing, as measured while other runs were "
        "under way, and trial-rounds per second of the latter.",
        ("run", "backend", "compile", "run time", "trial-rounds", "rounds per second"),
        tuple(
            (
                r["label"] if r is everything else shown(r["label"]),
                r["backend"],
                _seconds(r["compile"]),
                _seconds(r["run"]),
                f"{r['trial_rounds']:,}",
                _number(r["rounds_per_second"]),
            )
            for r in (*rows, everything)
        ),
        frozenset(("backend",)),
    )


def _regrets(name: str, caption: str, rows: Sequence[Row]) -> Table:
    checkpoints = list(rows[0]["median_at"])
    cells = []
    for row in rows:
        authors = row["authors"]
        star = "" if authors is None or authors["like_for_like"] else "*"
        cells.append((
            shown(row["label"]),
            _number(row["median"]),
            _number(row["mad"]),
            *(_number(row["median_at"][t]) for t in checkpoints),
            _spread(authors) + star,
            authors["place"] + star if authors else _NONE,
            f"{authors['inside']:.0%}" if authors else _NONE,
        ))  # fmt: skip
    return Table(
        name,
        caption,
        ("policy", "R_T/T", "MAD", *(f"t = {t}" for t in checkpoints), "authors' R_T/T", "ours is",
         "inside"),
        tuple(cells),
        frozenset(("ours is",)),
    )  # fmt: skip


def _spread(row: Row | None) -> str:
    return _NONE if row is None else f"{_number(row['median'])} ± {_number(row['mad'])}"


def _number(value: float) -> str:
    return f"{value:.3g}"


def _signed(value: float) -> str:
    return f"{value:+.3g}".replace("-", "−")


def _seconds(value: float | None) -> str:
    """Seconds, or milliseconds where they are short."""
    if value is None:
        return _NONE
    return f"{value:.3g} s" if value >= 1 else f"{1e3 * value:.3g} ms"
