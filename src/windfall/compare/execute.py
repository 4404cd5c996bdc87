"""Play a list of experiments: runs side by side in processes, or in threads on an accelerator."""

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path

import cloudpickle
import loky

from windfall.compare.experiment import Experiment, Run
from windfall.compare.store import Store
from windfall.problems import Problem
from windfall.runtime.execution import on_accelerator
from windfall.simulation.results import Result
from windfall.simulation.runner import simulate, worker_pool

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
    progress: Callable[[Run, int], object] = lambda run, rounds: None,
    complain: Callable[[str], object] = lambda message: None,
) -> dict[str, Outcome]:
    """Play every run that is not finished yet and return all results by experiment and label.

    Each run is kept in ``folder`` as soon as it is finished, so that a killed execution continues
    where it stopped.

    Args:
        experiments: What to play.
        folder: Where finished runs are kept.
        workers: Processes on a CPU, by default one per core.
        progress: Called with a run and its trial-rounds once it is finished (or found finished).
        complain: Called with a line about each damaged entry.
    """
    store = Store(Path(folder))
    outcomes: dict[str, Outcome] = {e.name: {} for e in experiments}
    todo: list[tuple[Run, Problem]] = []
    for experiment in experiments:
        for run in experiment.all_runs:
            known = store.finished(run, experiment.problem, complain)
            if known is None:
                todo.append((run, experiment.problem))
            else:
                outcomes[experiment.name][run.label] = known
                progress(run, run.rounds * run.trials)
    with _executor(workers, len(todo)) as executor:
        futures = {executor.submit(_play, cloudpickle.dumps(pair)): pair for pair in todo}
        for future in as_completed(futures):
            run, problem = futures[future]
            result = future.result()
            store.save(run, problem, result)
            outcomes[run.problem][run.label] = result
            progress(run, run.rounds * run.trials)
    return {
        e.name: {run.label: outcomes[e.name][run.label] for run in e.all_runs} for e in experiments
    }


def _play(payload: bytes) -> Result:
    run, problem = cloudpickle.loads(payload)
    return simulate(
        problem,
        run.policy,
        rounds=run.rounds,
        trials=run.trials,
        seed=run.seed,
        workers=1,
        label=run.label,
    )


@contextmanager
def _executor(workers: int | None, tasks: int) -> Iterator[Executor]:
    if on_accelerator():
        with ThreadPoolExecutor(_THREADS) as pool:
            yield pool
        return
    pool = worker_pool(max(1, min(workers or loky.cpu_count(), tasks)))
    try:
        yield pool
    except BaseException:
        pool.shutdown(kill_workers=True)
        raise
