"""What one process does with trials: play a block of them, in its own place or as a worker."""

import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import cloudpickle
import jax
import numpy as np

from windfall.errors import InputError, NumericalError
from windfall.models.capacity import bucket
from windfall.policy import Policy
from windfall.problems import Problem
from windfall.problems.changing import Rounds
from windfall.runtime.compilation import CompileClock, relieve_memory_maps
from windfall.runtime.execution import on_accelerator
from windfall.simulation.noise import noise_of
from windfall.simulation.rollout import Table, Trial
from windfall.simulation.stretches import Setting, play_one, play_together
from windfall.space.arms import Arms, shuffled
from windfall.space.context import Frame
from windfall.space.joint import Joint

__all__ = ["Job", "Played", "Progress", "pack", "play", "prepare", "work"]

Progress = Callable[[int], object]

#: The process that imported this file; one that was forked from it finds its own number differs.
_HOME = os.getpid()


@dataclass(frozen=True)
class Job:
    """Everything a trial needs besides its number."""

    policy: Policy
    problem: Problem
    rounds: int
    seed: int


@dataclass(frozen=True, eq=False)
class Played:
    """A block of trials.

    Attributes:
        arms: (trials, rounds) arms pulled.
        rewards: (trials, rounds) of these arms.
        initial: (trials, n) initial arms.
        first: (trials, n) rewards of these.
        seconds: How long it took.
        compile: How much of that went into compilation.
        batch: How many ran as one program; 0 for one by one.
        backend: What JAX computed on.
    """

    arms: np.ndarray
    rewards: np.ndarray
    initial: np.ndarray
    first: np.ndarray
    seconds: float
    compile: float
    batch: int
    backend: str

    @classmethod
    def joined(cls, blocks: Iterable["Played"]) -> "Played":
        """Blocks one after the other, and their times added up."""
        blocks = list(blocks)
        arrays = ("arms", "rewards", "initial", "first")
        return cls(
            *(np.concatenate([getattr(b, name) for b in blocks]) for name in arrays),
            seconds=sum(b.seconds for b in blocks),
            compile=sum(b.compile for b in blocks),
            batch=blocks[0].batch,
            backend=blocks[0].backend,
        )


def prepare(job: Job) -> Setting:
    """What all trials of a job share."""
    problem = job.problem
    initial = problem.protocol.initial
    space = Arms(problem.arms, problem.feature_names, problem.box)
    joint, frame = None, _frame(job)
    if frame.width:
        joint = Joint(space, problem.context, frame)
    capacity = bucket(initial + 1)
    template = job.policy.begin(None, space, capacity=capacity, initial=initial, inputs=joint)
    distinct = space.size if joint is None else None
    return Setting(job.policy, template, noise_of(problem), job.seed, job.rounds, distinct)


def play(
    job: Job,
    setting: Setting,
    numbers: Sequence[int],
    batch: int,
    progress: Progress = lambda rounds: None,
) -> Played:
    """Trials of these numbers: so many at a time as one vmapped program, or one by one if 0."""
    begun = time.perf_counter()
    with CompileClock() as clock:
        if batch:
            chunks = np.array_split(np.asarray(numbers), -(-len(numbers) // batch))
            parts = [_together(job, setting, chunk, progress) for chunk in chunks]
        else:
            parts = [_alone(job, setting, number, progress) for number in numbers]
    arms, rewards, initial, first = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    seconds = time.perf_counter() - begun
    backend = jax.default_backend()
    return Played(arms, rewards, initial, first, seconds, clock.seconds, batch, backend)


def pack(job: Job) -> bytes:
    """A job as a parcel for workers."""
    return cloudpickle.dumps(job)


def work(parcel: bytes, numbers: Sequence[int]) -> Played:
    """Play a block of trials in a worker."""
    if os.getpid() != _HOME:
        raise InputError(
            "executor forks its workers, which JAX does not survive; expected one that spawns them,"
            " such as ProcessPoolExecutor(mp_context=multiprocessing.get_context('spawn'))"
        )
    job, setting = _unpacked(parcel)
    return play(job, setting, numbers, len(numbers) if on_accelerator() else 0)


@lru_cache(maxsize=2)
def _unpacked(parcel: bytes) -> tuple[Job, Setting]:
    """A job is unpacked once, so that the programs compiled for it are used again."""
    job = cloudpickle.loads(parcel)
    relieve_memory_maps()
    return job, prepare(job)


def _together(job: Job, setting: Setting, numbers: np.ndarray, progress: Progress):
    tables = [_table(job, int(i)) for i in numbers]
    both = zip(numbers.tolist(), tables, strict=True)
    initial = np.stack([_initial(job, number, table) for number, table in both])
    # Not by the constructor: a stack has other shapes than those that a table is annotated with.
    stack = jax.tree.map(lambda *rows: np.stack(rows), *tables)
    reached = 0

    def report(t: int) -> None:
        nonlocal reached
        progress((t - reached) * len(numbers))
        reached = t

    return _record(play_together(setting, stack, initial, numbers, report), initial)


def _alone(job: Job, setting: Setting, number: int, progress: Progress):
    table = _table(job, number)
    initial = _initial(job, number, table)
    trial = play_one(setting, table, initial, number)
    record = tuple(a[None] for a in _record(trial, initial))
    progress(job.rounds)
    return record


def _table(job: Job, number: int) -> Table:
    """What a trial pays and shows."""
    problem = job.problem
    pulls = problem.protocol.initial + job.rounds - 1
    if problem.rounds is None:
        rounds = Rounds(problem.payoffs(number))
    else:
        rounds = problem.drawn(number, pulls)
    frame = _frame(job)
    if not frame.width:
        return Table(rounds.payoffs, None, rounds.available)
    known = np.zeros((pulls, 0)) if rounds.contexts is None else rounds.contexts
    if frame.timed:  # one pull after another
        known = np.concatenate([known, np.arange(pulls)[:, None]], axis=1)
    return Table(rounds.payoffs, frame.unit([*map(tuple, known.tolist())]), rounds.available)


def _frame(job: Job) -> Frame:
    """The columns that the model sees beside those of an arm."""
    context = job.problem.context
    known = Frame() if context is None else context.frame(None)
    return replace(known, timed=job.policy.model.ages)


def _initial(job: Job, number: int, table: Table) -> np.ndarray:
    """The initial arms of a trial: the first in a random order, as far as they are available."""
    problem = job.problem
    pool = np.arange(problem.size) if problem.initial_pool is None else problem.initial_pool
    order = shuffled(pool, job.seed, number)
    if table.available is None:
        return order[: problem.protocol.initial].astype(np.int32)
    chosen: list[int] = []
    for available in table.available[: problem.protocol.initial]:
        here = order[available[order]]
        if not len(here):
            raise InputError("initial_pool has no available arm in some round; expected one")
        chosen.append(next((int(arm) for arm in here if arm not in chosen), int(here[0])))
    return np.array(chosen, np.int32)


def _record(trial: Trial, initial: np.ndarray):
    if not np.all(np.asarray(trial.healthy)):
        raise NumericalError(
            "the covariance matrix of the pulled arms has no Cholesky factor, even with jitter: "
            "the kernel is not positive definite on these arms; use another kernel"
        )
    return tuple(np.asarray(a) for a in (trial.arms, trial.rewards, initial, trial.first))
