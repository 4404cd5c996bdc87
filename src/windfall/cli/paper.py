"""``windfall paper``: every table and figure of the paper, with one command."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.console import Console

from windfall.cli import options
from windfall.cli.batch import batch, run_name, say
from windfall.cli.interrupt import WRITING
from windfall.cli.report import print_facts, print_json

if TYPE_CHECKING:
    from windfall.compare.execute import Outcome
    from windfall.compare.experiment import Experiment, Run

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
    executor: options.Executor = None,
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

    from windfall.paper.plan import paper as plan
    from windfall.paper.reference import Reference
    from windfall.paper.report import compose, write
    from windfall.paper.runtimes import known_runtimes
    from windfall.paper.summary import summarise
    from windfall.paper.tables import overview

    experiments = plan(preset, only=only, data_dir=_text(data_dir), trials=trials, rounds=rounds)
    saved = Reference.load(reference)
    folder = results or report / "results"
    check_folder("report", report)
    check_folder("results", folder)
    missing = _missing(experiments, only, data_dir)
    if saved.missing:
        say(f"without the authors' saved runs: {saved.missing}")
    for name, why in missing.items():
        say(f"without {name}: {why}")

    outcomes, elapsed = _play(experiments, folder, workers, executor, REPEATS[preset])
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
        print_facts(overview(summary["experiments"]), f"preset {summary['preset']}")
        typer.echo(f"wrote {written}")


def _play(
    experiments: "list[Experiment]",
    folder: Path,
    workers: int | None,
    executor: str | None,
    repeats: int,
) -> "tuple[dict[str, Outcome], tuple[float, int]]":
    """All results, and the seconds and trial-rounds of those that were not finished before."""
    from windfall.compare.execute import execute
    from windfall.paper.runtimes import cells, measure

    timed = sum(run.rounds * repeats for run, _ in cells(experiments))
    with batch(experiments, folder, timed) as bar:

        def measured(run: "Run") -> None:
            bar.progress.begin(f"runtime of {run_name(run)}")
            bar.progress.advance(run.rounds * repeats)

        begun = time.perf_counter()
        outcomes = execute(
            experiments,
            folder,
            workers=workers,
            executor=executor,
            progress=bar.advance,
            complain=say,
        )
        elapsed = time.perf_counter() - begun
        measure(experiments, folder, repeats=repeats, progress=measured, complain=say)
    return outcomes, (elapsed, bar.todo)


def _missing(
    experiments: "list[Experiment]", only: str | None, data_dir: Path | None
) -> dict[str, str]:
    """Experiments that were left out, and why."""
    from windfall.errors import InputError
    from windfall.problems import load, suite

    reasons = {}
    for name in suite("paper") if only is None else ():
        if name not in [experiment.name for experiment in experiments]:
            try:
                load(name, data_dir)
            except InputError as error:
                reasons[name] = str(error)
    return reasons


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)
