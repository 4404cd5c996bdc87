"""What ``run`` and ``compare`` do alike: check everything, play, write.

All that can be wrong with the input is found before the first round is played.
"""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import windfall as wf
from windfall.cli.interrupt import WRITING
from windfall.cli.policies import chosen
from windfall.cli.progress import Progress
from windfall.errors import InputError

if TYPE_CHECKING:
    from windfall.policy import Policy

__all__ = ["Experiment", "check_folder"]


@dataclass(frozen=True)
class Experiment:
    """Policies to play on a problem, checked and ready."""

    problem: "wf.Problem"
    policies: "dict[str, Policy]"
    goal: str
    rounds: int
    trials: int
    seed: int
    workers: int | None
    executor: str | None
    save: Path | None
    plot: Path | None

    @classmethod
    def prepare(
        cls,
        name: str,
        policies: list[str] | None,
        goal: str | None,
        budget: int | None,
        rounds: int | None,
        trials: int | None,
        seed: int,
        kappa: float | None,
        components: int | None,
        data_dir: Path | None,
        workers: int | None,
        executor: str | None,
        save: Path | None,
        plot: Path | None,
    ) -> "Experiment":
        """Check every option; the quick checks come before JAX is imported.

        Without policies the goal's own, LW-UCB and the paper's baselines are played.
        """
        from windfall.checks import LARGEST_SEED, whole
        from windfall.registry import wanted

        problem = wf.problems.load(name, data_dir)
        protocol = problem.protocol
        rounds = whole("rounds", protocol.rounds if rounds is None else rounds, 1)
        trials = whole("trials", protocol.trials if trials is None else trials, 1)
        whole("seed", seed, 0, LARGEST_SEED)
        for option, value in (("workers", workers), ("budget", budget)):
            if value is not None:
                whole(option, value, 1)
        wanted(None, goal)
        if save is not None:
            check_folder("save", save)
        if plot is not None:
            check_folder("plot", wf.plot.check_path(plot).parent)

        from windfall.compare.contenders import contenders, on_one_problem

        named = chosen(policies or on_one_problem(goal))
        ready = contenders(named, protocol, kappa, components, budget)
        settled = rounds, trials, seed, workers, executor, save, plot
        return cls(problem, ready, goal or "reward", *settled)

    def play(self) -> "list[wf.Result]":
        """Simulate every policy, with a progress bar."""
        with Progress(self.rounds * self.trials * len(self.policies)) as progress:
            if len(self.policies) == 1 or self.workers == 1:
                return [self._simulated(label, progress) for label in self.policies]
            return self._side_by_side(progress)

    def _simulated(self, label: str, progress: Progress) -> "wf.Result":
        """One policy, its trials spread over all workers."""
        progress.begin(label)
        return wf.simulate(
            self.problem,
            self.policies[label],
            rounds=self.rounds,
            trials=self.trials,
            seed=self.seed,
            workers=self.workers,
            executor=self.executor,
            progress=progress.advance,
            label=label,
        )

    def _side_by_side(self, progress: Progress) -> "list[wf.Result]":
        """Each policy on one worker, as far as that goes, so that it is compiled once."""
        from windfall.compare.execute import execute
        from windfall.compare.experiment import Experiment as Runs
        from windfall.compare.experiment import Run

        settings = self.rounds, self.trials, self.seed
        name, policies = self.problem.name, self.policies.items()
        runs = tuple(Run(name, label, policy, *settings) for label, policy in policies)

        def advance(run: Run, rounds: int) -> None:
            progress.begin(run.label)
            progress.advance(rounds)

        with tempfile.TemporaryDirectory() as folder:
            played = execute(
                [Runs(name, self.problem, runs, (), ())],
                folder,
                workers=self.workers,
                executor=self.executor,
                progress=advance,
            )
        return [played[name][label] for label in self.policies]

    def write(self, results: "list[wf.Result]") -> list[str]:
        """Write what was asked for; returns the files."""
        figure = None
        if self.plot is not None:
            policy = self.policies.get("lw-ucb", self.policies[results[0].label])
            figure = wf.plot.overview(results, self.problem, policy=policy)
        files = []
        with WRITING:
            if self.save is not None:
                files += [str(result.save(self.save)) for result in results]
            if self.plot is not None and figure is not None:
                files.append(str(wf.plot.save(figure, self.plot)))
        return files


def check_folder(option: str, folder: Path) -> None:
    """Try to write into the folder that will hold the files; make it if need be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(
            f"--{option} needs the folder {str(folder)!r}, which cannot be written"
            f" ({error.strerror}); choose another one"
        ) from error
