"""Progress over a list of runs, some of which may be finished already."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from windfall.cli.progress import Progress

if TYPE_CHECKING:
    from windfall.compare.experiment import Experiment, Run

__all__ = ["Batch", "batch", "run_name", "say"]


@dataclass(frozen=True)
class Batch:
    """A bar that runs.

    Attributes:
        progress: The bar itself.
        advance: To be called with each finished run and its trial-rounds.
        todo: Trial-rounds of the runs that were not finished before.
    """

    progress: Progress
    advance: "Callable[[Run, int], None]"
    todo: int


@contextmanager
def batch(experiments: "list[Experiment]", folder: Path | None, extra: int = 0) -> Iterator[Batch]:
    """Show a bar that leaves out what the folder holds and has room for ``extra`` rounds more."""
    found = _finished(experiments, folder)
    runs = [run for e in experiments for run in e.all_runs]
    if found:
        say(f"{len(found)} of {len(runs)} runs were finished before")
    todo = sum(run.rounds * run.trials for run in runs if run_name(run) not in found)
    with Progress(todo + extra) as progress:

        def advance(run: "Run", trial_rounds: int) -> None:
            if run_name(run) not in found:
                progress.begin(run_name(run))
                progress.advance(trial_rounds)

        yield Batch(progress, advance, todo)


def _finished(experiments: "list[Experiment]", folder: Path | None) -> set[str]:
    """The runs that are in the folder already, damaged ones named and forgotten."""
    from windfall.compare.store import Store

    if folder is None:
        return set()
    store = Store(folder)
    return {
        run_name(run)
        for experiment in experiments
        for run in experiment.all_runs
        if store.finished(run, experiment.problem, say) is not None
    }


def run_name(run: "Run") -> str:
    """What messages call a run."""
    return f"{run.problem} {run.label}"


def say(message: str) -> None:
    """A line on standard error."""
    print(f"windfall: {message}", file=sys.stderr, flush=True)
