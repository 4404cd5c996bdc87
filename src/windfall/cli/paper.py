"""``windfall paper``: every table and figure of the paper, with one command."""

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.console import Console
from rich.table import Table

from windfall.cli import options
from windfall.cli.interrupt import WRITING
from windfall.cli.progress import Progress
from windfall.cli.report import print_json, wide_console

if TYPE_CHECKING:
    from windfall.experiments.execute import Outcome
    from windfall.experiments.plan import Experiment, Run

__all__ = ["paper"]

#: Experiments that a cell of the table of runtimes is the mean of.
REPEATS = {"quick": 1, "full": 10}

Preset = Annotated[
    Literal["quick", "full"],
    typer.Option(help="quick: a few trials of each. full: as many as the paper."),
]
Only = Annotated[
    str | None,
    typer.Option(help="One experiment.", show_default="all nine", metavar="NAME"),
]
Report = Annotated[Path, typer.Option(help="Write the report into this folder.", metavar="DIR")]
Results = Annotated[
    Path | None,
    typer.Option(
        help="Keep finished runs in this folder and find them there again.",
        show_default="results in the report's",
        metavar="DIR",
    ),
]
Saved = Annotated[
    Path | None,
    typer.Option(
        help="Where the authors' saved runs are, authors_regret.npz.",
        show_default="$WINDFALL_REFERENCE, else none",
        metavar="DIR",
    ),
]


def paper(
    preset: Preset = "quick",
    only: Only = None,
    report: Report = Path("out/paper"),
    results: Results = None,
    reference: Saved = None,
    data_dir: options.DataDir = None,
    trials: options.Trials = None,
    rounds: options.Rounds = None,
    workers: options.Workers = None,
    json: options.Json = False,
) -> None:
    """Reproduce the paper and write a report.

    Finished runs are kept: after an interruption the same command goes on where it stopped.
    """
    from windfall.checks import whole
    from windfall.cli.experiment import check_folder

    for name, value in (("trials", trials), ("rounds", rounds), ("workers", workers)):
        if value is not None:
            whole(name, value, 1)

    import windfall as wf
    from windfall.experiments.plan import paper as plan
    from windfall.experiments.reference import Reference
    from windfall.experiments.report import compose, write
    from windfall.experiments.runtimes import known_runtimes
    from windfall.experiments.summary import summarise

    experiments = plan(preset, only=only, data_dir=_text(data_dir), trials=trials, rounds=rounds)
    saved = Reference.load(reference)
    folder = results or report / "results"
    check_folder("report", report)
    check_folder("results", folder)
    missing = _missing(experiments, only, data_dir)
    if saved.missing:
        _say(f"without the authors' saved runs: {saved.missing}")
    for name, why in missing.items():
        _say(f"without {name}: {why}")

    wf.compilation_cache()
    outcomes, elapsed = _play(experiments, folder, workers, REPEATS[preset])
    summary = summarise(
        experiments,
        outcomes,
        saved,
        preset=preset,
        missing=missing,
        runtimes=known_runtimes(folder),
        workers=workers,
        elapsed=elapsed,
    )
    with Console(stderr=True).status("drawing figures") as status:
        files = compose(
            experiments,
            outcomes,
            saved,
            summary,
            progress=lambda name: status.update(f"drawing the figures of {name}"),
        )
    with WRITING:
        written = write(report, files)
    if json:
        print_json(summary | {"report": str(written)})
    else:
        _print(summary)
        typer.echo(f"wrote {written}")


def _play(
    experiments: "list[Experiment]", folder: Path, workers: int | None, repeats: int
) -> "tuple[dict[str, Outcome], tuple[float, int]]":
    """All results, and the seconds and trial-rounds of those that were not finished before."""
    from windfall.experiments.execute import execute
    from windfall.experiments.runtimes import cells, measure

    found = _finished(experiments, folder)
    runs = [run for e in experiments for run in e.all_runs]
    if found:
        _say(f"{len(found)} of {len(runs)} runs were finished before")
    todo = sum(run.rounds * run.trials for run in runs if _name(run) not in found)
    timed = sum(run.rounds * repeats for run, _ in cells(experiments))
    with Progress(todo + timed) as progress:

        def advance(run: "Run", trial_rounds: int) -> None:
            if _name(run) not in found:
                progress.begin(_name(run))
                progress.advance(trial_rounds)

        def measured(run: "Run") -> None:
            progress.begin(f"runtime of {_name(run)}")
            progress.advance(run.rounds * repeats)

        begun = time.perf_counter()
        outcomes = execute(experiments, folder, workers=workers, progress=advance, complain=_say)
        elapsed = time.perf_counter() - begun
        measure(experiments, folder, repeats=repeats, progress=measured, complain=_say)
    return outcomes, (elapsed, todo)


def _finished(experiments: "list[Experiment]", folder: Path) -> set[str]:
    """The runs that are in the folder already, damaged ones named and forgotten."""
    from windfall.experiments.store import Store

    store = Store(folder)
    return {
        _name(run)
        for experiment in experiments
        for run in experiment.all_runs
        if store.finished(run, experiment.problem, _say) is not None
    }


def _missing(
    experiments: "list[Experiment]", only: str | None, data_dir: Path | None
) -> dict[str, str]:
    """Experiments that were left out, and why."""
    from windfall.errors import InputError
    from windfall.problems import load, names

    reasons = {}
    for name in names() if only is None else ():
        if name not in [experiment.name for experiment in experiments]:
            try:
                load(name, data_dir)
            except InputError as error:
                reasons[name] = str(error)
    return reasons


def _print(summary: dict[str, Any]) -> None:
    from windfall.experiments.tables import overview

    facts = overview(summary["experiments"])
    table = Table(title=f"preset {summary['preset']}", title_justify="left", caption=facts.caption,
                  caption_justify="left")  # fmt: skip
    for i, column in enumerate(facts.columns):
        left = i == 0 or column in facts.words
        table.add_column(column, justify="left" if left else "right")
    for row in facts.rows:
        table.add_row(*row)
    wide_console().print(table)


def _name(run: "Run") -> str:
    return f"{run.problem} {run.label}"


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)


def _say(message: str) -> None:
    print(f"windfall: {message}", file=sys.stderr, flush=True)
