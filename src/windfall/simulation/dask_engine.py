"""Trials on Dask: the cluster that one is connected to, or one of this machine's processes."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

import distributed
from dask import config
from distributed.scheduler import KilledWorker

from windfall.simulation.engines import Engine, died, few_blocks
from windfall.simulation.work import Played, work

__all__ = ["Dask", "dask"]

#: Without a dashboard the scheduler still listens; on any free port, since 8787 may be another's.
_LOCAL: dict[str, Any] = {
    "threads_per_worker": 1,
    "memory_limit": 0,
    "dashboard_address": None,
    "scheduler_kwargs": {"dashboard_address": "localhost:0"},
}


class Dask(Engine):
    """The workers of a client's cluster. Dask itself plays blocks of dead workers again."""

    def __init__(self, client: distributed.Client):
        self._client = client
        self._executor = client.get_executor(pure=False)

    def submit(self, parcel: Any, numbers: Sequence[int]) -> "Future[Played]":
        return self._executor.submit(work, parcel, numbers)

    def blocks(self, runs: int, trials: int) -> int:
        cores: Any = self._client.ncores()  # declared for asynchronous clients too
        return few_blocks(sum(cores.values()), runs, trials)

    def share(self, parcel: bytes) -> Any:
        """The result of a task, which can be had again; scattered data would die with a worker."""
        return self._client.submit(bytes, parcel, pure=False)

    def outcome(self, future: "Future[Played]") -> Played:
        try:
            return future.result()
        except KilledWorker as error:
            raise died(error) from error

    def stop(self) -> None:
        self._executor.shutdown(wait=False)


@contextmanager
def dask(workers: int) -> Iterator[Dask]:
    """An engine on the current client's cluster; else on that of ``DASK_SCHEDULER_ADDRESS``.

    Where there is neither, so many processes of this machine are started and stopped again.
    """
    if (current := _current_client()) is not None:
        yield Dask(current)
        return
    if config.get("scheduler-address", None) is not None:
        with distributed.Client(set_as_default=False) as client:
            yield Dask(client)
        return
    with (
        distributed.LocalCluster(n_workers=workers, **_LOCAL) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield Dask(client)


def _current_client() -> distributed.Client | None:
    try:
        return distributed.Client.current()
    except ValueError:
        return None
