"""Many trials: spread over workers on CPUs, one vmapped program on an accelerator."""

import platform
import time

import jax
import loky
import numpy as np

from windfall._version import __version__
from windfall.checks import LARGEST_SEED, whole
from windfall.errors import InputError
from windfall.policy import Policy, as_policy
from windfall.problems import Problem
from windfall.problems.rounds import gaps
from windfall.runtime.compilation import relieve_memory_maps
from windfall.runtime.execution import on_accelerator
from windfall.runtime.given import ExecutorLike, PolicyLike
from windfall.runtime.threads import wedge_possible
from windfall.simulation.engines import Engine, opened, spread
from windfall.simulation.results import Result
from windfall.simulation.work import Job, Played, Progress, pack, play, prepare

__all__ = ["result_of", "simulate"]


def simulate(
    problem: Problem,
    policy: PolicyLike | None = None,
    *,
    goal: str | None = None,
    budget: int | None = None,
    repeats: bool | None = None,
    drift: str | None = None,
    rounds: int | None = None,
    trials: int | None = None,
    seed: int = 0,
    workers: int | None = None,
    batch: int | None = None,
    executor: ExecutorLike | None = None,
    progress: Progress | None = None,
    label: str | None = None,
) -> Result:
    """Play many trials of a policy on a problem.

    The same seed gives the same initial arms, the same noise and the same choices, however the
    trials are spread.

    Args:
        problem: What to play, from ``windfall.problems.load`` or ``windfall.Problem``.
        policy: A name, an acquisition such as ``LWUCB(kappa=1.0)``, a ``Policy``, or None for the
            default. A name takes κ and the number of components from the problem's protocol.
        goal: "reward" or "best", in place of a policy, as for ``wf.Bandit``.
        budget: How many pulls the policy may think of, initial ones included; only that of goal
            "reward" does. Not those of the simulation unless it is said: other policies do not know
            them either.
        repeats: False to try nothing twice while there is something else.
        drift: "auto" if the policy is to expect that payoffs change with time.
        rounds: T, by default the problem's.
        trials: How many, by default the problem's.
        seed: Determines everything.
        workers: Processes on a CPU; by default one per core. 1 stays in this process.
        batch: Play this many trials as one vmapped program, as is done on an accelerator by default
            (all trials at once); 0 plays them one by one.
        executor: Where trials are played instead: "ray" or "dask", on the cluster that one is
            connected to or on ``workers`` processes of this machine; or any
            ``concurrent.futures.ExecutorLike`` whose workers are not forked. The trials of a worker
            that dies are played again. See docs/guides/cluster.md.
        progress: Called with the number of trial-rounds finished, again and again.
        label: Short name of the policy for tables.

    Example:
        >>> import numpy as np
        >>> import windfall as wf
        >>> line = np.linspace(0.0, 1.0, 20)[:, None]
        >>> problem = wf.Problem(arms=line, payoff=lambda x: -(x[:, 0] - 0.7) ** 2, noise=0.01)
        >>> result = wf.simulate(problem, "v-ucb", rounds=5, trials=2, workers=1)
        >>> result.regret.shape
        (2, 5)
    """
    if not isinstance(problem, Problem):
        raise InputError(f"problem is {problem!r}; expected a windfall.Problem")
    protocol = problem.protocol
    rounds = whole("rounds", protocol.rounds if rounds is None else rounds, 1)
    trials = whole("trials", protocol.trials if trials is None else trials, 1)
    seed = whole("seed", seed, 0, LARGEST_SEED)
    if workers is not None:
        workers = whole("workers", workers, 1)
    if batch is not None:
        batch = whole("batch", batch, 0)
    resolved = as_policy(
        policy,
        goal=goal,
        budget=budget,
        repeats=repeats,
        drift=drift,
        kappa=protocol.kappa,
        components=protocol.components,
    )
    label = label or (policy if isinstance(policy, str) else _label(resolved))
    job = Job(resolved, problem, rounds, seed)

    relieve_memory_maps()
    begun = time.perf_counter()
    advance = progress or (lambda rounds: None)
    if executor is not None:
        if batch:
            raise InputError(f"batch is {batch}; expected None or 0 with an executor")
        batch = 0
    elif batch is None:
        batch = trials if on_accelerator() else 0
    if not on_accelerator() and wedge_possible():
        batch = 0  # the same trials, one by one: batched linear algebra could hang this process
    if executor is None and (batch or min(workers or loky.cpu_count(), trials) == 1):
        played = play(job, prepare(job), range(trials), batch, advance)
    else:
        with opened(executor, workers, trials) as engine:
            played = _spread(engine, job, trials, advance)
    return result_of(job, label, played, time.perf_counter() - begun)


def _spread(engine: Engine, job: Job, trials: int, progress: Progress) -> Played:
    """Trials one by one, wherever the engine plays them."""
    parcel = engine.share(pack(job))
    parts: dict[int, Played] = {}
    for number, played in spread(engine, {i: (parcel, [i]) for i in range(trials)}):
        parts[number] = played
        progress(job.rounds)
    return Played.joined(parts[i] for i in range(trials))


def result_of(job: Job, label: str, played: Played, seconds: float) -> Result:
    """What all trials of a job amount to.

    Args:
        job: What was played.
        label: Short name of the policy.
        played: Every trial from 0 on.
        seconds: How long it took.
    """
    problem = job.problem
    regret = _regret(problem, played) if problem.rounds is None else _round_regret(problem, played)
    return Result(
        problem=problem.name,
        policy=repr(job.policy),
        label=label,
        seed=job.seed,
        regret=regret,
        arms=played.arms,
        rewards=played.rewards,
        initial=played.initial,
        first=played.first,
        settings={
            "noise": problem.noise,
            "arms": problem.size,
            "initial": problem.protocol.initial,
            "batch": played.batch,
            "backend": played.backend,
        },
        timings={
            "total": seconds,
            "compile": played.compile,
            "trial_rounds": len(played.arms) * (job.rounds - 1),
        },
        versions={
            "windfall": __version__,
            "jax": jax.__version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
    )


def _regret(problem: Problem, played: Played) -> np.ndarray:
    """Gaps of the arms pulled, where all rounds are alike."""
    payoffs = np.stack([problem.payoffs(i) for i in range(problem.snapshots)])
    row = np.arange(len(played.arms)) % problem.snapshots
    return payoffs.max(axis=1)[row][:, None] - payoffs[row[:, None], played.arms]


def _round_regret(problem: Problem, played: Played) -> np.ndarray:
    """Gaps to the best available arm of each round; entry 0 is the least of the initial arms'."""
    trials, rounds = played.arms.shape
    regret = np.empty((trials, rounds))
    for trial, initial in enumerate(played.initial):
        gap = gaps(problem.drawn(trial, len(initial) + rounds - 1))
        first, rest = gap[: len(initial)], gap[len(initial) :]
        regret[trial, 0] = first[np.arange(len(initial)), initial].min()
        regret[trial, 1:] = rest[np.arange(rounds - 1), played.arms[trial, 1:]]
    return regret


def _label(policy: Policy) -> str:
    return type(policy.acquisition).__name__.lower()
