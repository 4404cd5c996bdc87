"""Wherever trials are played they are the same trials, also when workers die."""

import os
import signal
import socket
import sys
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextlib import suppress

import jax
import numpy as np
import pytest
from lottery import Lottery
from small_problems import line

import windfall as wf
from windfall.errors import WorkerError
from windfall.simulation import work
from windfall.simulation.engines import ENGINES, opened, spread
from windfall.simulation.work import Job, Played, pack

RUN = {"rounds": 6, "trials": 5, "seed": 4}


@pytest.fixture(scope="module")
def here():
    return wf.simulate(line(), "v-ucb", **RUN, workers=1)


def same(one: wf.Result, other: wf.Result) -> None:
    for name in ("arms", "rewards", "initial", "first", "regret"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def deadly(marker, victim: int = 2) -> wf.Problem:
    """The line, but the first worker that plays this trial does not survive it."""
    home = os.getpid()

    class Deadly(wf.Problem):
        def payoffs(self, trial):
            if trial == victim and os.getpid() != home and not marker.exists():
                marker.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return super().payoffs(trial)

    plain = line()
    return Deadly(
        arms=plain.arms, payoff=plain.payoff, noise=plain.noise, name="line",
        protocol=plain.protocol,
    )  # fmt: skip


@pytest.mark.parametrize("executor", [None, "dask", "ray"])
def test_a_worker_that_dies_changes_nothing(here, executor, tmp_path):
    marker, seen = tmp_path / "died", []
    result = wf.simulate(
        deadly(marker), "v-ucb", **RUN, workers=2, executor=executor, progress=seen.append
    )
    assert marker.exists()
    same(result, here)
    assert seen == [6] * 5
    assert "RAY_USAGE_STATS_ENABLED" not in os.environ


def test_dask_needs_no_port_that_others_may_have():
    """Where its usual one is taken it warns, and warnings are errors here."""
    with socket.socket() as other:
        with suppress(OSError):  # somebody has it already, which serves as well
            other.bind(("0.0.0.0", 8787))
            other.listen()
        with opened("dask", workers=1, tasks=1) as engine:
            assert engine.blocks(1, 1) == 1


def test_any_executor_will_do_and_is_left_open(here):
    folder = jax.config.jax_compilation_cache_dir
    with ThreadPoolExecutor(2) as pool:
        same(wf.simulate(line(), "v-ucb", **RUN, executor=pool), here)
        assert pool.submit(int).result() == 0
    assert jax.config.jax_compilation_cache_dir == folder


def played(trials: int, seconds: float) -> Played:
    rows = np.arange(trials * 3).reshape(trials, 3)
    return Played(rows, 0.5 * rows, rows[:, :2], 2.0 * rows[:, :2], seconds, 0.1, 4, "cpu")


def test_blocks_are_joined_in_their_order_one_alone_is_itself():
    one, other = played(2, 1.0), played(3, 2.5)
    alone, both = Played.joined([one]), Played.joined(iter([one, other]))
    for name in ("arms", "rewards", "initial", "first"):
        rows = [getattr(block, name) for block in (one, other)]
        np.testing.assert_array_equal(getattr(alone, name), rows[0])
        np.testing.assert_array_equal(getattr(both, name), np.vstack(rows))
    assert (alone.seconds, alone.compile) == (1.0, 0.1)
    assert (both.seconds, both.compile) == (3.5, 0.2)
    assert (both.batch, both.backend) == (alone.batch, alone.backend) == (4, "cpu")


def job(**changes) -> Job:
    return Job(wf.Policy(wf.VUCB()), line(), **{"rounds": 3, "seed": 0} | changes)


def test_blocks_of_dead_workers_are_submitted_again():
    engine = Lottery(deaths=3, retries=1)
    parcel = engine.share(pack(job()))
    blocks = {name: (parcel, [name]) for name in range(5)}
    played = dict(spread(engine, blocks))
    assert engine.submitted == [[0], [1], [2], [3], [4], [0], [1], [2]]
    reference = dict(spread(Lottery(), blocks))
    for name in range(5):
        np.testing.assert_array_equal(played[name].arms, reference[name].arms)


@pytest.mark.parametrize("retries", [0, 2])
def test_workers_that_keep_dying_are_an_error(retries):
    engine = Lottery(deaths=100, retries=retries)
    parcel = engine.share(pack(job()))
    with pytest.raises(WorkerError, match=r"workers die .* \(killed by hand\)"):
        list(spread(engine, {0: (parcel, [0])}))
    assert len(engine.submitted) == 1 + retries


def test_progress_between_deaths_is_progress():
    """Five blocks and a pool that breaks after each: never twice without a finished block."""

    class Fragile(Lottery):
        def submit(self, parcel, numbers):
            self.deaths = 0 if numbers == [min(self.left)] else 1
            self.left -= {min(self.left)} if not self.deaths else set()
            return super().submit(parcel, numbers)

    engine = Fragile(retries=1)
    engine.left = set(range(5))
    parcel = engine.share(pack(job()))
    assert sorted(name for name, _ in spread(engine, {i: (parcel, [i]) for i in range(5)})) == [
        *range(5)
    ]


class Broken(Executor):
    """An executor whose workers have died."""

    def __init__(self):
        self.asked = 0

    def submit(self, fn, /, *args, **kwargs) -> Future:
        self.asked += 1
        raise BrokenExecutor("all dead")


def test_a_broken_executor_of_ones_own_is_an_error_in_one_line():
    executor = Broken()
    with pytest.raises(WorkerError, match=r"\(all dead\)"):
        wf.simulate(line(), "mean", rounds=2, trials=1, executor=executor)
    assert executor.asked == 1  # a pool that others made is theirs to mend


def test_a_failure_stops_what_was_submitted():
    engine = Lottery()
    with pytest.raises(ZeroDivisionError):
        wf.simulate(line(), "mean", rounds=2, trials=3, executor=engine, progress=lambda n: n / 0)
    assert engine.stopped


def test_a_job_is_shared_once():
    engine = Lottery()
    wf.simulate(line(), "mean", rounds=2, trials=3, executor=engine)
    assert (engine.shared, engine.submitted) == (1, [[0], [1], [2]])


def test_forked_workers_are_refused(monkeypatch):
    monkeypatch.setattr(work, "_HOME", -1)
    with pytest.raises(wf.InputError, match="executor forks its workers"):
        work.work(pack(job()), [0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"executor": "spark"}, "executor is 'spark'"),
        ({"executor": 3}, "executor is 3; expected 'dask', 'ray' or a concurrent.futures.Executor"),
        ({"executor": "dask", "batch": 2}, "batch is 2; expected None or 0 with an executor"),
        ({"executor": Broken(), "workers": 2}, "workers is 2; expected None with an executor of"),
    ],
)
def test_bad_arguments_say_what_is_expected(arguments, message):
    with pytest.raises(wf.InputError) as error:
        wf.simulate(line(), "mean", **arguments)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize("name", ENGINES)
def test_a_missing_package_is_named_with_its_extra(name, monkeypatch):
    package = {"dask": "distributed", "ray": "ray"}[name]
    monkeypatch.delitem(sys.modules, f"windfall.simulation.{name}_engine", raising=False)
    monkeypatch.setitem(sys.modules, package, None)
    message = rf"executor is '{name}', which needs .*pip install 'windfall\[{name}\]'"
    with pytest.raises(wf.InputError, match=message), opened(name, 1, 1):
        pass
