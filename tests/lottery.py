"""An engine that plays nothing: arms by lot, workers that die when they are told to."""

from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool

import cloudpickle
import numpy as np

from windfall.simulation.engines import Engine
from windfall.simulation.work import Played


class Lottery(Engine):
    """Notes the trials that were submitted.

    Args:
        deaths: How many blocks are lost with their workers.
        retries: As of an engine.
    """

    def __init__(self, deaths: int = 0, retries: int = 0):
        self.deaths, self.retries = deaths, retries
        self.submitted: list[list[int]] = []
        self.shared, self.stopped = 0, False

    def share(self, parcel):
        self.shared += 1
        return cloudpickle.loads(parcel)

    def submit(self, parcel, numbers):
        self.submitted.append(list(numbers))
        future: Future[Played] = Future()
        if self.deaths:
            self.deaths -= 1
            future.set_exception(BrokenProcessPool("killed by hand"))
        else:
            future.set_result(drawn(parcel, numbers))
        return future

    def blocks(self, runs, trials):
        return min(2, trials)

    def stop(self):
        self.stopped = True


def drawn(job, numbers) -> Played:
    """Trials by lot, each its own whatever block it is in."""
    size, initial = job.problem.size, job.problem.protocol.initial
    draws = [np.random.default_rng([job.seed, n]).integers(size, size=job.rounds) for n in numbers]
    arms = np.array(draws)
    first = arms[:, :1].repeat(initial, axis=1)
    return Played(arms, arms + 0.5, first, first + 0.5, 1.0, 0.25, 0, "cpu")
