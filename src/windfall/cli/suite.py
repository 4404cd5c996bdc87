"""What commands do with a suite: check everything, play, print, write."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

import windfall as wf
from windfall.cli.batch import batch, say
from windfall.cli.experiment import check_folder
from windfall.cli.interrupt import WRITING
from windfall.cli.report import print_facts, print_json

if TYPE_CHECKING:
    from windfall.compare.suite import Contest

__all__ = ["play_suite"]


def play_suite(
    command: str,
    prepare: "Callable[[], Contest]",
    *,
    workers: int | None,
    executor: str | None,
    json: bool,
    save: Path | None,
    plot: Path | None,
) -> None:
    """Play a contest and report it under the command's name.

    ``prepare`` is called once the cheaper options are known to be right.
    """
    from windfall.checks import whole

    if workers is not None:
        whole("workers", workers, 1)
    if plot is not None:
        check_folder("plot", wf.plot.check_path(plot).parent)
    if save is not None:
        check_folder("save", save)
    contest = prepare()
    for name, why in contest.missing.items():
        say(f"without {name}: {why}")

    with batch(contest.experiments, save) as bar:
        compared = contest.play(
            save, workers=workers, executor=executor, progress=bar.advance, complain=say
        )

    summary, files = compared.summary(), []
    with WRITING:
        if save is not None:
            files += map(str, compared.save(save, f"{command}-{contest.name}"))
        if plot is not None:
            others = [e.problem for e in contest.experiments if e.problem.references]
            figure = wf.plot.earned_and_found(
                compared.problems,
                compared.labels,
                compared.ratios,
                compared.gap_ratios,
                compared.measure,
                [([*compared.results[problem.name].values()], problem) for problem in others],
            )
            files.append(str(wf.plot.save(figure, plot)))
    if json:
        print_json(summary | {"files": files})
    else:
        for what, table in compared.tables().items():
            print_facts(table, f"{command} on the suite {contest.name}: {what}")
        for file in files:
            typer.echo(f"wrote {file}")
