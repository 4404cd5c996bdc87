"""Play a list of experiments: runs side by side on workers, or in threads on an accelerator."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

import numpy as np

from windfall.compare.experiment import Experiment, Run
from windfall.compare.store import Store
from windfall.problems import Problem
from windfall.runtime.execution import on_accelerator
from windfall.runtime.given import ExecutorLike
from windfall.simulation.engines import opened, spread, threads
from windfall.simulation.results import Result
from windfall.simulation.runner import result_of
from windfall.simulation.work import Job, Played, pack

__all__ = ["Outcome", "execute"]

#: Enough threads that some compile while another computes.
_THREADS = 8

#: The results of an experiment by the runs' labels.
Outcome = dict[str, Result]


def execute(
    experiments: list[Experiment],
    folder: Path | str,
    *,
    workers: int | None = None,
    executor: ExecutorLike | None = None,
    progress: Callable[[Run, int], object] = lambda run, rounds: None,
    complain: Callable[[str], object] = lambda message: None,
) -> dict[str, Outcome]:
    """Play every run that is not finished yet and return all results by experiment and label.

    Each run is kept in ``folder`` as soon as it is finished, so that a killed execution continues
    where it stopped. Runs are split into blocks of trials where there are more workers than runs.

    Args:
        experiments: What to play.
        folder: Where finished runs are kept.
        workers: Processes on a CPU, by default one per core.
        executor: Where runs are played instead, as for ``windfall.simulate``.
        progress: Called with a run and the trial-rounds of it that are finished, block by block, or
            all of them if it was finished before.
        complain: Called with a line about each damaged entry.
    """
    store = Store(Path(folder))
    outcomes: dict[str, Outcome] = {e.name: {} for e in experiments}
    todo: list[_Unfinished] = []
    for experiment in experiments:
        for run in experiment.all_runs:
            known = store.finished(run, experiment.problem, complain)
            if known is None:
                todo.append(_Unfinished(run, experiment.problem))
            else:
                outcomes[experiment.name][run.label] = known
                progress(run, run.rounds * run.trials)
    here = executor is None and on_accelerator()
    todo = _interleaved(todo) if here else todo
    trials = sum(part.run.trials for part in todo)
    with threads(_THREADS) if here else opened(executor, workers, trials) as engine:
        blocks = {}
        for part in todo:
            parcel = engine.share(pack(part.job))
            count = engine.blocks(len(todo), part.run.trials)
            for numbers in np.array_split(np.arange(part.run.trials), count):
                blocks[part, int(numbers[0])] = parcel, numbers.tolist()
        for (part, first), played in spread(engine, blocks):
            part.played[first] = played
            progress(part.run, part.run.rounds * len(played.arms))
            if part.finished:
                result = part.result()
                store.save(part.run, part.problem, result)
                outcomes[part.run.problem][part.run.label] = result
    return {
        e.name: {run.label: outcomes[e.name][run.label] for run in e.all_runs} for e in experiments
    }


def _interleaved(todo: "list[_Unfinished]") -> "list[_Unfinished]":
    """The last run of each experiment, then the one before that, and so on.

    Runs of one experiment share most of their programs: side by side they would all wait for the
    same ones, and those of the last experiment be compiled while nothing else is left to compute.
    The last ones share the fewest, and go through most arms (GP-UCB): they should not end alone.
    """
    rows: dict[str, list[_Unfinished]] = {}
    for part in reversed(todo):
        rows.setdefault(part.run.problem, []).append(part)
    turns = zip_longest(*rows.values())
    return [part for turn in turns for part in turn if part is not None]


@dataclass(frozen=True, eq=False)
class _Unfinished:
    """A run under way.

    Attributes:
        run: What is played.
        problem: On which problem.
        played: Blocks that are finished, by the number of their first trial.
    """

    run: Run
    problem: Problem
    played: dict[int, Played] = field(default_factory=dict)

    @property
    def job(self) -> Job:
        return Job(self.run.policy, self.problem, self.run.rounds, self.run.seed)

    @property
    def finished(self) -> bool:
        return sum(len(block.arms) for block in self.played.values()) == self.run.trials

    def result(self) -> Result:
        """Of all trials; blocks on different workers take the sum of their seconds."""
        played = Played.joined(self.played[first] for first in sorted(self.played))
        return result_of(self.job, self.run.label, played, played.seconds)
