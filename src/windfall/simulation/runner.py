"""Many trials: spread over processes on a CPU, one vmapped program on an accelerator."""

import hashlib
import platform
import time
from collections.abc import Callable
from concurrent.futures import as_completed
from dataclasses import dataclass
from typing import Any

import cloudpickle
import jax
import loky
import numpy as np

from windfall._version import __version__
from windfall.checks import LARGEST_SEED, whole
from windfall.errors import InputError, NumericalError
from windfall.models.capacity import bucket
from windfall.policy import Policy, as_policy
from windfall.problems import Problem
from windfall.runtime.compilation import CompileClock, relieve_memory_maps
from windfall.runtime.execution import on_accelerator
from windfall.runtime.threads import wedge_possible
from windfall.simulation.noise import noise_of
from windfall.simulation.results import Result
from windfall.simulation.rollout import Trial
from windfall.simulation.stretches import Setting, play_one, play_together
from windfall.space.arms import Arms, shuffled

__all__ = ["simulate"]

Progress = Callable[[int], object]


@dataclass(frozen=True)
class Job:
    """Everything a trial needs besides its number."""

    policy: Policy
    problem: Problem
    rounds: int
    seed: int


def simulate(
    problem: Problem,
    policy: Any = None,
    *,
    goal: str | None = None,
    budget: int | None = None,
    repeats: bool | None = None,
    rounds: int | None = None,
    trials: int | None = None,
    seed: int = 0,
    workers: int | None = None,
    batch: int | None = None,
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
        budget: How many pulls the policy may think of, initial ones included. Not those of the
            simulation unless it is said: other policies do not know them either.
        repeats: False to try nothing twice while there is something else.
        rounds: T, by default the problem's.
        trials: How many, by default the problem's.
        seed: Determines everything.
        workers: Processes on a CPU; by default one per core. 1 stays in this process.
        batch: Play this many trials as one vmapped program, as is done on an accelerator by default
            (all trials at once); 0 plays them one by one.
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
        kappa=protocol.kappa,
        components=protocol.components,
    )
    label = label or (policy if isinstance(policy, str) else _label(resolved))
    job = Job(resolved, problem, rounds, seed)

    relieve_memory_maps()
    begun = time.perf_counter()
    numbers = np.arange(trials)
    if batch is None:
        batch = trials if on_accelerator() else 0
    if not on_accelerator() and wedge_possible():
        batch = 0  # the same trials, one by one: batched linear algebra could hang this process
    if batch:
        parts, clock = _together(job, numbers, batch, progress)
    else:
        parts, clock = _apart(job, numbers, workers, progress)
    elapsed = time.perf_counter() - begun

    arms, rewards, initial, first = (np.concatenate([p[i] for p in parts]) for i in range(4))
    payoffs = np.stack([problem.payoffs(i) for i in range(problem.snapshots)])
    row = numbers % problem.snapshots
    regret = payoffs.max(axis=1)[row][:, None] - payoffs[row[:, None], arms]
    return Result(
        problem=problem.name,
        policy=repr(resolved),
        label=label,
        seed=seed,
        regret=regret,
        arms=arms,
        rewards=rewards,
        initial=initial,
        first=first,
        settings={
            "noise": problem.noise,
            "arms": problem.size,
            "initial": protocol.initial,
            "batch": batch,
            "backend": jax.default_backend(),
        },
        timings={
            "total": elapsed,
            "compile": clock,
            "trial_rounds": trials * (rounds - 1),
        },
        versions={
            "windfall": __version__,
            "jax": jax.__version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
    )


def _label(policy: Policy) -> str:
    return type(policy.acquisition).__name__.lower()


def _prepare(job: Job) -> Setting:
    problem = job.problem
    initial = problem.protocol.initial
    space = Arms(problem.arms, problem.feature_names, problem.box)
    template = job.policy.begin(None, space, capacity=bucket(initial + 1), initial=initial)
    return Setting(job.policy, template, noise_of(problem), job.seed, job.rounds)


def _initial(job: Job, number: int) -> np.ndarray:
    """The initial arms of a trial."""
    problem = job.problem
    pool = np.arange(problem.size) if problem.initial_pool is None else problem.initial_pool
    return shuffled(pool, job.seed, number)[: problem.protocol.initial].astype(np.int32)


def _together(job: Job, numbers: np.ndarray, batch: int, progress: Progress | None):
    """Trials in vmapped batches."""
    setting = _prepare(job)
    parts = []
    with CompileClock() as clock:
        for chunk in np.array_split(numbers, -(-len(numbers) // batch)):
            payoffs = np.stack([job.problem.payoffs(int(i)) for i in chunk])
            initial = np.stack([_initial(job, int(i)) for i in chunk])
            reached = 0

            def report(t: int, size: int = len(chunk)) -> None:
                nonlocal reached
                if progress is not None:
                    progress((t - reached) * size)
                reached = t

            trials = play_together(setting, payoffs, initial, chunk, report)
            parts.append(_record(trials, initial))
    return parts, clock.seconds


def _one(job: Job, setting: Setting, number: int):
    initial = _initial(job, number)
    trial = play_one(setting, job.problem.payoffs(number), initial, number)
    return tuple(a[None] for a in _record(trial, initial))


def _record(trial: Trial, initial: np.ndarray):
    if not np.all(np.asarray(trial.healthy)):
        raise NumericalError(
            "the covariance matrix of the pulled arms has no Cholesky factor, even with jitter: "
            "the kernel is not positive definite on these arms; use another kernel"
        )
    return tuple(np.asarray(a) for a in (trial.arms, trial.rewards, initial, trial.first))


def _apart(job: Job, numbers: np.ndarray, workers: int | None, progress: Progress | None):
    """Trials one by one, in this process or spread over worker processes."""
    workers = min(workers or loky.cpu_count(), len(numbers))
    if workers == 1:
        setting = _prepare(job)
        parts = []
        with CompileClock() as clock:
            for number in numbers:
                parts.append(_one(job, setting, int(number)))
                if progress is not None:
                    progress(job.rounds)
        return parts, clock.seconds

    payload = cloudpickle.dumps(job)
    digest = hashlib.sha256(payload).hexdigest()
    executor = worker_pool(workers)
    futures = {executor.submit(_work, digest, payload, int(i)): int(i) for i in numbers}
    parts, seconds = {}, 0.0
    try:
        for future in as_completed(futures):
            parts[futures[future]], compiled = future.result()
            seconds += compiled
            if progress is not None:
                progress(job.rounds)
    except BaseException:
        executor.shutdown(kill_workers=True)
        raise
    return [parts[int(i)] for i in numbers], seconds


def worker_pool(workers: int):
    """Processes that stay warm between calls, one thread each."""
    one_thread = {"PJRT_NPROC": "1", "OPENBLAS_NUM_THREADS": "1"}
    return loky.get_reusable_executor(
        max_workers=workers, timeout=60, env=one_thread, initializer=_start_worker
    )


def _start_worker() -> None:
    import windfall  # noqa: F401  the guard, before JAX computes anything


_JOBS: dict[str, Any] = {}


def _work(digest: str, payload: bytes, number: int):
    """One trial in a worker; a job is unpacked once, so that its compiled programs are reused."""
    if digest not in _JOBS:
        job = cloudpickle.loads(payload)
        _JOBS.clear()
        relieve_memory_maps()
        _JOBS[digest] = (job, _prepare(job))
    job, setting = _JOBS[digest]
    with CompileClock() as clock:
        return _one(job, setting, number), clock.seconds
