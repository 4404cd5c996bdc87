"""One study on a server: one thread decides, all who wait are served together.

Whatever waits when the thread is free is one batch. Rewards, failures and remarks of the batch come
first, then its asks, one after another: one fit serves all of them, and each accounts for those
before it. What only reads the model comes last. Nobody else writes in between, so that no decision
is made twice; only other processes on the same store can make that necessary.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, TypeVar

from windfall.serve.served import ServedStudy
from windfall.study.stores import Conflict, Store

__all__ = ["Desk", "Turn"]

_T = TypeVar("_T")


class Turn(IntEnum):
    """When a job of a batch is done."""

    HAPPEN, DECIDE, BELIEVE = range(3)


@dataclass(order=True)
class _Job:
    turn: Turn
    work: Callable[[ServedStudy], Any] = field(compare=False)
    future: Future[Any] = field(compare=False, default_factory=Future)


class Desk:
    """Where a study is served.

    Args:
        store: Where the study is kept.
        name: Of the study.
    """

    def __init__(self, store: Store, name: str):
        self._store, self._name = store, name
        self._reader = ServedStudy(name, store=store)
        self._reading = threading.Lock()
        self._jobs: list[_Job] = []
        self._change = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False

    @property
    def waiting(self) -> int:
        """How many jobs wait for the thread."""
        return len(self._jobs)

    def read(self, look: Callable[[ServedStudy], _T]) -> _T:
        """Look at what has happened; never waits for a decision."""
        with self._reading:
            return look(self._reader)

    def do(self, turn: Turn, work: Callable[[ServedStudy], _T]) -> "Future[_T]":
        """Have something done by the thread.

        Args:
            turn: When within its batch.
            work: Called with the study.
        """
        job = _Job(turn, work)
        with self._change:
            if self._closed:
                job.future.set_exception(Conflict("the study is closed"))
                return job.future
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, daemon=True)
                self._thread.start()
            self._jobs.append(job)
            self._change.notify()
        return job.future

    def close(self, patience: float = 0.0) -> None:
        """Take no more jobs; those that wait are done, for which it waits so many seconds."""
        with self._change:
            self._closed = True
            self._change.notify()
            thread = self._thread
        if thread is not None and patience:
            thread.join(patience)

    def _serve(self) -> None:
        study: ServedStudy | None = None  # the thread's own; who only looks never waits for it
        while True:
            with self._change:
                self._change.wait_for(lambda: self._jobs or self._closed)
                if not self._jobs:
                    return
                batch, self._jobs = sorted(self._jobs), []
            for job in batch:
                if job.future.set_running_or_notify_cancel():
                    try:
                        study = study or ServedStudy(self._name, store=self._store)
                        job.future.set_result(job.work(study))
                    except BaseException as error:
                        job.future.set_exception(error)
