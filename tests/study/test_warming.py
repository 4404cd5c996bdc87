"""Programs are compiled while somebody measures, and no choice depends on it."""

import time
import weakref

import numpy as np
import pytest

import windfall as wf
from windfall.runtime import beside, cache
from windfall.study import warming
from windfall.study.session import SOON
from windfall.study.stores import MemoryStore
from windfall.study.warming import Warmer

ARMS = np.random.default_rng(3).uniform(size=(40, 2))
POLICY = wf.Policy(wf.VUCB(), wf.GP(fit=wf.Fit(restarts=1, iterations=6)))


def payoff(x) -> float:
    return float(np.sin(5.0 * x[0]) + x[-1])


def play(bandit, count: int, rehearsing: bool) -> list:
    """Choices of a study in which every pull takes long enough for a rehearsal, or none does."""
    chosen = []
    for _ in range(count):
        choice = bandit.ask()
        if rehearsing:
            bandit._rehearse()
        bandit.tell(choice, payoff(choice.features))
        chosen.append(choice.features.tolist())
    return chosen


@pytest.mark.parametrize("space", [ARMS, wf.Box([0.0], [1.0])], ids=["list", "box"])
def test_choices_are_the_same_with_and_without(space):
    """Across the first change of size of a list."""
    count = 20 if space is ARMS else 6
    with_it, without = (
        play(wf.Bandit(space, POLICY, seed=2), count, rehearsing) for rehearsing in (True, False)
    )
    assert with_it == without


def test_after_a_rehearsal_a_decision_compiles_nothing(monkeypatch):
    built = []
    original = cache.compiled
    monkeypatch.setattr(cache, "compiled", lambda *a: (built.append(1), original(*a))[1])
    # After a thousand other tests there may be too many programs in memory to keep them all.
    monkeypatch.setattr("windfall.study.room.relieve_memory_maps", lambda: None)
    policy = wf.Policy(wf.VUCB(), wf.GP(fit=wf.Fit(restarts=1, iterations=7)))  # nobody else's
    bandit = wf.Bandit(ARMS, policy, seed=2)
    bandit._rehearse()  # during the first initial pull
    assert built
    for arm in range(20):  # every arm is new: rooms of 16 and 32
        del built[:]
        bandit.ask()
        assert not built
        bandit.tell(arm, payoff(ARMS[arm]))
        bandit._rehearse()


class Study:
    """What a warmer serves."""

    def __init__(self):
        self.rehearsed: list[float] = []
        self.warmer = Warmer(self.rehearse)

    def rehearse(self) -> None:
        self.rehearsed.append(time.monotonic())
        raise RuntimeError("nobody should hear of this")


@pytest.fixture
def finish(monkeypatch):
    """Wait for the threads that a test has started."""
    started: weakref.WeakSet = weakref.WeakSet()
    monkeypatch.setattr(beside, "_threads", started)

    def wait() -> None:
        for thread in list(started):
            thread.join(30.0)

    return wait


def test_a_rehearsal_waits_until_nobody_asks(monkeypatch, finish):
    monkeypatch.setattr(warming, "PATIENCE", 0.2)
    study = Study()
    for _ in range(3):
        study.warmer.asked()
        time.sleep(0.01)
    last = time.monotonic() - 0.01
    finish()
    assert len(study.rehearsed) >= 1  # more only where this thread was kept waiting in between
    assert study.rehearsed[-1] >= last + 0.19
    before = len(study.rehearsed)
    study.warmer.asked()
    finish()
    assert len(study.rehearsed) == before + 1


def test_nothing_is_rehearsed_while_a_decision_is_made(monkeypatch, finish):
    monkeypatch.setattr(warming, "PATIENCE", 0.05)
    study = Study()
    study.warmer.asked()
    study.warmer.asking()
    (thread,) = list(beside._threads)
    thread.join(0.3)
    assert thread.is_alive() or study.rehearsed  # rehearsed: this thread was kept from asking
    study.warmer.asked()
    finish()
    assert study.rehearsed


def test_a_study_that_is_gone_is_not_rehearsed(monkeypatch, finish):
    monkeypatch.setattr(warming, "PATIENCE", 0.0)
    study = Study()
    warmer, rehearsed = study.warmer, study.rehearsed
    del study
    warmer.asked()
    finish()
    assert not rehearsed


def test_a_model_that_decides_much_later_is_not_prepared_for(monkeypatch):
    prepared = []
    monkeypatch.setattr(Warmer, "asked", lambda self: prepared.append(self))
    bandit = wf.Bandit(ARMS, POLICY, initial=SOON + 3)
    for told in range(5):
        bandit.tell(bandit.ask(), 0.0)
        assert len(prepared) == max(0, told - 2)
    wf.Bandit(ARMS, POLICY).ask()  # as many initial choices as usual: at once
    assert len(prepared) == 3


def test_who_waits_for_others_does_not_measure(monkeypatch):
    """A choice that was not handed out yet is no reason to compile."""
    store, prepared = MemoryStore(), []
    monkeypatch.setattr(Warmer, "asked", lambda self: prepared.append(self))
    study = wf.Study("shared", ARMS, "v-ucb", store=store)
    key = store.list()["shared"]
    store.lock(key, "another", 60.0)

    def others_finish(_) -> None:
        assert not prepared
        store.unlock(key, "another")

    monkeypatch.setattr("windfall.study.journal.time.sleep", others_finish)
    study.ask(worker="oven")
    assert len(prepared) == 1
