"""Trials on Ray: the cluster that one is connected to, or one of this machine's processes."""

import logging
import os
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

import ray as cluster
from ray.exceptions import RayError, RayTaskError

from windfall.simulation.engines import ONE_THREAD, Engine, died, few_blocks
from windfall.simulation.work import Played, work

__all__ = ["Ray", "ray"]


class Ray(Engine):
    """The workers of Ray's cluster. Ray itself plays blocks of dead workers and nodes again."""

    def __init__(self):
        self._work = cluster.remote(work).options(
            num_cpus=1, max_retries=3, runtime_env={"env_vars": ONE_THREAD}
        )
        self._under_way: dict[Future[Played], Any] = {}

    def submit(self, parcel: Any, numbers: Sequence[int]) -> "Future[Played]":
        reference = self._work.remote(parcel, numbers)
        future = reference.future()
        self._under_way[future] = reference
        return future

    def blocks(self, runs: int, trials: int) -> int:
        return few_blocks(int(cluster.cluster_resources().get("CPU", 1)), runs, trials)

    def share(self, parcel: bytes) -> Any:
        return cluster.put(parcel)

    def outcome(self, future: "Future[Played]") -> Played:
        del self._under_way[future]
        try:
            return future.result()
        except RayTaskError as error:  # its text is a traceback; the worker's own error has a line
            raise error.cause from error
        except RayError as error:
            raise died(error) from error

    def stop(self) -> None:
        for reference in self._under_way.values():
            cluster.cancel(reference, force=True)


@contextmanager
def ray(workers: int) -> Iterator[Ray]:
    """An engine on the cluster that Ray is connected to; else on that of ``RAY_ADDRESS``.

    Where there is neither, so many processes of this machine are started and stopped again: without
    a dashboard, and without Ray's reports on its use.
    """
    if cluster.is_initialized():
        yield Ray()
        return
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if os.environ.get("RAY_ADDRESS"):
        cluster.init(**quiet)
    else:
        with _no_reports(), warnings.catch_warnings():
            # Ray forks only to start its own programs at once: JAX need not warn of it.
            warnings.filterwarnings("ignore", r"os\.fork\(\) was called", RuntimeWarning)
            cluster.init(address="local", num_cpus=workers, include_dashboard=False, **quiet)
    try:
        yield Ray()
    finally:
        cluster.shutdown()


@contextmanager
def _no_reports() -> Iterator[None]:
    """Ray reads the variable when it starts; what the user has set is respected."""
    name = "RAY_USAGE_STATS_ENABLED"
    if name in os.environ:
        yield
        return
    os.environ[name] = "0"
    try:
        yield
    finally:
        del os.environ[name]
