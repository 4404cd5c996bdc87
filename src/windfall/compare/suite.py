"""Policies on a suite of problems: plan the runs, play those not finished yet, compare."""

import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from windfall.checks import LARGEST_SEED, whole
from windfall.compare.comparison import Comparison
from windfall.compare.contenders import CLASSICAL, contenders, labelled, usual
from windfall.compare.execute import execute
from windfall.compare.experiment import Experiment, Run
from windfall.compare.multiples import floor
from windfall.errors import InputError
from windfall.problems import REAL, Problem, load, load_lists
from windfall.problems import suite as suite_names
from windfall.problems.sensors import SENSORS
from windfall.problems.varying import VARYING
from windfall.runtime.given import ExecutorLike, PolicyLike

__all__ = ["Contest", "compare_suite"]

#: Problems that are left out of a suite where nobody has their data.
_MEASURED = {*SENSORS, *(name for name, known in VARYING.items() if known.needs_data)}


def compare_suite(
    suite: str | Iterable[str | Problem] = "extremes",
    policies: Mapping[str, PolicyLike] | Iterable[str] | None = None,
    *,
    goal: str | None = None,
    budget: int | None = None,
    rounds: int | None = None,
    trials: int | None = None,
    seed: int = 0,
    kappa: float | None = None,
    components: int | None = None,
    reference: Iterable[str] | None = None,
    data_dir: str | Path | None = None,
    folder: str | Path | None = None,
    workers: int | None = None,
    executor: ExecutorLike | None = None,
    progress: Callable[[Run, int], object] = lambda run, rounds: None,
) -> Comparison:
    """Play several policies on all problems of a suite and compare them.

    Every policy starts each trial from the same initial arms and meets the same noise.

    Args:
        suite: Its name, see ``windfall.problems.suite``; or names of problems, or problems.
        policies: Names, or names, acquisitions and policies by label. "v-ucb-1" and "v-ucb-2" are
            V-UCB with κ = 1 and 2; other names take κ and the number of components from each
            problem's protocol. By default the goal's own policy, LW-UCB and the classical ones.
        goal: What counts: "reward" (the default), the sum of all rewards, or "best", only the best
            arm found. It decides which policy is played by default and which table comes first.
        budget: How many pulls the policies may think of, initial ones included; by default they do
            not know when a trial ends.
        rounds: T, by default each problem's.
        trials: How many, by default each problem's.
        seed: Determines everything.
        kappa: For named policies that have it; by default each problem's.
        components: For named policies that have them; by default each problem's.
        reference: Labels of the policies whose best is the measure of all; by default the
            classical ones that are played, or all if none is.
        data_dir: Where the sensor data are; problems whose data are missing are left out. For the
            suite ``real``, the folder of candidate lists.
        folder: Keep finished runs here and find them there again. A run is known by the text of
            its policy (``repr``) and its settings: after a change in the code of a policy of your
            own, use another folder.
        workers: Processes on a CPU, by default one per core.
        executor: Where trials are played instead, as for ``windfall.simulate``.
        progress: Called with a run and the trial-rounds of it that are finished.

    Example:
        >>> compared = compare_suite(
        ...     ["handful-4d"], ["ei", "v-ucb-1"], rounds=4, trials=2, workers=1
        ... )
        >>> compared.medians.shape, compared.reference
        ((1, 2), ('ei', 'v-ucb-1'))
    """
    contest = Contest.prepare(
        suite,
        policies,
        goal=goal,
        budget=budget,
        rounds=rounds,
        trials=trials,
        seed=seed,
        kappa=kappa,
        components=components,
        reference=reference,
        data_dir=data_dir,
    )
    return contest.play(folder, workers=workers, executor=executor, progress=progress)


@dataclass(frozen=True)
class Contest:
    """The runs of a suite, checked and ready.

    Attributes:
        name: The suite's name.
        goal: What counts, "reward" or "best".
        experiments: A problem and its runs each.
        floors: The regret of each problem below which differences do not count.
        reference: Labels whose best is the measure of all.
        measure: What the reference is called in sentences.
        missing: Problems that are left out because their data are missing, and why.
    """

    name: str
    goal: str
    experiments: list[Experiment]
    floors: dict[str, float]
    reference: tuple[str, ...]
    measure: str
    missing: dict[str, str]

    @classmethod
    def prepare(
        cls,
        suite: str | Iterable[str | Problem],
        policies: Mapping[str, PolicyLike] | Iterable[str] | None = None,
        *,
        goal: str | None = None,
        budget: int | None = None,
        rounds: int | None = None,
        trials: int | None = None,
        seed: int = 0,
        kappa: float | None = None,
        components: int | None = None,
        reference: Iterable[str] | None = None,
        data_dir: str | Path | None = None,
    ) -> "Contest":
        """Check every argument; see ``compare_suite``."""
        for name, value in (("rounds", rounds), ("trials", trials), ("budget", budget)):
            if value is not None:
                whole(name, value, 1)
        whole("seed", seed, 0, LARGEST_SEED)
        own = usual(goal)
        chosen = labelled(own if policies is None else policies)
        measured, measure = _reference(chosen, reference)
        problems, missing = _problems(suite, data_dir)
        experiments = []
        for problem in problems:
            protocol = problem.protocol
            played = contenders(chosen, protocol, kappa, components, budget)
            size = rounds or protocol.rounds, trials or protocol.trials
            runs = (Run(problem.name, label, p, *size, seed) for label, p in played.items())
            experiments.append(Experiment(problem.name, problem, tuple(runs), (), ()))
        name = suite if isinstance(suite, str) else "problems"
        floors = {e.name: floor(e.problem, e.runs[0].trials) for e in experiments}
        return cls(name, goal or "reward", experiments, floors, measured, measure, missing)

    def play(
        self,
        folder: str | Path | None = None,
        *,
        workers: int | None = None,
        executor: ExecutorLike | None = None,
        progress: Callable[[Run, int], object] = lambda run, rounds: None,
        complain: Callable[[str], object] = lambda message: None,
    ) -> Comparison:
        """Play every run that is not in the folder yet; without a folder nothing is kept."""
        if workers is not None:
            whole("workers", workers, 1)
        temporary = tempfile.TemporaryDirectory() if folder is None else nullcontext(folder)
        with temporary as kept:
            outcomes = execute(
                self.experiments,
                kept,
                workers=workers,
                executor=executor,
                progress=progress,
                complain=complain,
            )
        return Comparison(
            self.name, outcomes, self.floors, self.reference, self.measure, self.missing, self.goal
        )


def _reference(
    chosen: Mapping[str, Any], reference: Iterable[str] | None
) -> tuple[tuple[str, ...], str]:
    """The labels of the reference policies, and what they are called."""
    if reference is not None:
        labels = (reference,) if isinstance(reference, str) else tuple(reference)
        unknown = [label for label in labels if label not in chosen]
        if unknown or not labels:
            raise InputError(
                f"reference is {unknown[0] if unknown else labels!r}; expected some of the"
                f" policies that are played: {', '.join(chosen)}"
            )
        return labels, labels[0] if len(labels) == 1 else f"the best of {', '.join(labels)}"
    known = {*CLASSICAL, "v-ucb"}
    classical = tuple(k for k, p in chosen.items() if k in known or str(p) in known)
    if classical:
        return classical, "the best classical baseline"
    return tuple(chosen), "the best policy"


def _problems(
    suite: str | Iterable[str | Problem], data_dir: str | Path | None
) -> tuple[list[Problem], dict[str, str]]:
    """The problems, and those whose data are missing with the reason."""
    if suite == REAL:
        members = load_lists(data_dir)
    else:
        members = suite_names(suite, data_dir) if isinstance(suite, str) else suite
    problems, missing = [], {}
    for member in members:
        try:
            problems.append(member if isinstance(member, Problem) else load(member, data_dir))
        except InputError as error:
            if member not in _MEASURED:
                raise
            missing[str(member)] = str(error)
    twice = [p.name for i, p in enumerate(problems) if p.name in [q.name for q in problems[:i]]]
    if twice:
        raise InputError(f"problem {twice[0]!r} is in the suite twice; give every one a name")
    if not problems:
        reason = next(iter(missing.values()), "it is empty; give at least one problem")
        raise InputError(f"no problem of the suite can be played: {reason}")
    return problems, missing
