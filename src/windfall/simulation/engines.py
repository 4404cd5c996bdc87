"""Where blocks of trials are played: processes of this machine, Ray, Dask, or an executor.

An engine is a thin layer over ``concurrent.futures``. Trials are pure functions of the job and
their number, so that a block that was lost with its worker is simply played again, and it does not
matter where.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib import import_module
from typing import Any, TypeVar

import loky

from windfall.checks import known_name
from windfall.errors import InputError, WorkerError
from windfall.runtime.given import ExecutorLike
from windfall.simulation.work import Played, work

__all__ = ["ENGINES", "ONE_THREAD", "Engine", "died", "few_blocks", "opened", "spread", "threads"]

Name = TypeVar("Name", bound=Hashable)

#: Engines by name: a function that opens one for so many workers. Their packages are extras.
ENGINES = {
    "dask": "windfall.simulation.dask_engine:dask",
    "ray": "windfall.simulation.ray_engine:ray",
}
#: The environment of a worker: as many of them as cores are faster than threads are.
ONE_THREAD = {"PJRT_NPROC": "1", "OPENBLAS_NUM_THREADS": "1"}
#: So often in a row may workers die without having finished anything.
_RETRIES = 3


class Engine(ABC):
    """Plays blocks of trials somewhere else."""

    #: How often blocks of dead workers are submitted anew; 0 where the engine sees to that itself.
    retries = 0

    @abstractmethod
    def submit(self, parcel: Any, numbers: Sequence[int]) -> "Future[Played]":
        """Play trials of a job, given as what ``share`` made of it."""

    @abstractmethod
    def blocks(self, runs: int, trials: int) -> int:
        """Into how many blocks the trials of each of so many runs are best split."""

    @abstractmethod
    def stop(self) -> None:
        """Give up what has been submitted, because something failed or nobody waits for it."""

    def share(self, parcel: bytes) -> Any:
        """Bring a job to the workers, once for all blocks."""
        return parcel

    def outcome(self, future: "Future[Played]") -> Played:
        """The trials of a block that has ended; a ``WorkerError`` if its worker died."""
        try:
            return future.result()
        except BrokenExecutor as error:
            raise died(error) from error


def died(error: BaseException) -> WorkerError:
    """What is said when workers keep dying."""
    reason = " ".join(str(error).split()) or type(error).__name__
    return WorkerError(f"workers die before they finish a trial ({reason}); give them more memory")


def few_blocks(workers: int, runs: int, trials: int) -> int:
    """Two blocks for every worker, if there are not enough runs for that.

    A run is compiled in every process that plays a block of it, so that blocks should be large;
    but at the end workers should not wait for the last one.

    >>> few_blocks(workers=2, runs=50, trials=100), few_blocks(workers=100, runs=50, trials=100)
    (1, 4)
    >>> few_blocks(workers=100, runs=1, trials=30)
    30
    """
    return min(trials, math.ceil(2 * workers / max(runs, 1)))


class Processes(Engine):
    """Processes of this machine, which stay warm between calls, with one thread each."""

    retries = _RETRIES

    def __init__(self, workers: int):
        self.workers = workers

    def submit(self, parcel: Any, numbers: Sequence[int]) -> "Future[Played]":
        return self._pool().submit(work, parcel, numbers)

    def blocks(self, runs: int, trials: int) -> int:
        return few_blocks(self.workers, runs, trials)

    def stop(self) -> None:
        self._pool().shutdown(kill_workers=True)

    def _pool(self):
        """The pool; a new one if a worker has died."""
        return loky.get_reusable_executor(
            max_workers=self.workers, timeout=60, env=ONE_THREAD, initializer=_start_worker
        )


def _start_worker() -> None:
    import windfall  # noqa: F401  the guard, before JAX computes anything


class Borrowed(Engine):
    """Somebody else's executor, which is neither sized nor closed here."""

    def __init__(self, executor: Executor):
        self._executor = executor
        self._submitted: list[Future[Played]] = []

    def submit(self, parcel: Any, numbers: Sequence[int]) -> "Future[Played]":
        future = self._executor.submit(work, parcel, numbers)
        self._submitted.append(future)
        return future

    def blocks(self, runs: int, trials: int) -> int:
        """How many workers there are is not known."""
        return trials

    def stop(self) -> None:
        for future in self._submitted:
            future.cancel()


class Threads(Borrowed):
    """Threads of this process for whole runs on an accelerator, so that some compile meanwhile."""

    def blocks(self, runs: int, trials: int) -> int:
        return 1


@contextmanager
def threads(count: int) -> Iterator[Engine]:
    """An engine of so many threads."""
    with ThreadPoolExecutor(count) as pool:
        yield Threads(pool)


@contextmanager
def opened(executor: ExecutorLike | None, workers: int | None, tasks: int) -> Iterator[Engine]:
    """The engine that an argument ``executor`` stands for, closed afterwards if opened here.

    Args:
        executor: None for processes, a name in ``ENGINES``, any ``concurrent.futures.Executor``,
            or an engine that is open already.
        workers: How many; by default one per core. Only where workers are started here.
        tasks: More workers than that would have nothing to do.
    """
    with _engine(executor, workers, tasks) as engine:
        try:
            yield engine
        except BaseException:
            engine.stop()
            raise


def _engine(executor: Any, workers: int | None, tasks: int) -> AbstractContextManager[Engine]:
    count = max(1, min(workers or loky.cpu_count(), tasks))
    if executor is None:
        return nullcontext(Processes(count))
    if isinstance(executor, Engine):
        return nullcontext(executor)
    if isinstance(executor, str):
        return _opener(known_name("executor", executor, tuple(ENGINES)))(count)
    if not isinstance(executor, Executor):
        raise InputError(
            f"executor is {executor!r}; expected {', '.join(map(repr, ENGINES))} or a"
            " concurrent.futures.Executor"
        )
    if workers is not None:
        raise InputError(f"workers is {workers}; expected None with an executor of one's own")
    return nullcontext(Borrowed(executor))


def _opener(name: str) -> Callable[[int], AbstractContextManager[Engine]]:
    module, _, function = ENGINES[name].partition(":")
    try:
        return getattr(import_module(module), function)
    except ModuleNotFoundError as error:
        raise InputError(
            f"executor is {name!r}, which needs {error.name}; install it with"
            f" pip install 'windfall[{name}]'"
        ) from error


def spread(
    engine: Engine, blocks: Mapping[Name, tuple[Any, Sequence[int]]]
) -> Iterator[tuple[Name, Played]]:
    """Play blocks, given by name as a shared job and numbers of trials; yield them as they end.

    A block whose worker died is played again, unless workers keep dying.
    """
    waiting, fruitless = dict(blocks), 0
    while waiting:
        futures = {_submitted(engine, *block): name for name, block in waiting.items()}
        death = None
        for future in as_completed(futures):
            try:
                played = engine.outcome(future)
            except WorkerError as error:
                death = error
                continue
            fruitless = 0
            del waiting[futures[future]]
            yield futures[future], played
        if death is not None:
            fruitless += 1
            if fruitless > engine.retries:
                raise death


def _submitted(engine: Engine, parcel: Any, numbers: Sequence[int]) -> "Future[Played]":
    """A pool may break while it is being filled: a block like those that were in it."""
    try:
        return engine.submit(parcel, numbers)
    except BrokenExecutor as error:
        failed: Future[Played] = Future()
        failed.set_exception(error)
        return failed
