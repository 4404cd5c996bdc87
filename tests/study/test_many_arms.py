"""Tells and reads of a long list touch what was told, not every arm in turn."""

import tracemalloc

import numpy as np
import pytest

import windfall as wf

ARMS = 200_000


@pytest.fixture(scope="module")
def bandit():
    study = wf.Bandit(np.random.default_rng(0).uniform(size=(ARMS, 2)), seed=0)
    for arm, reward in [(ARMS - 1, 1.0), (7, 3.0), (5, 3.0), (7, 3.0)]:
        study.tell(arm, reward)
    return study


def peak(call) -> int:
    """Bytes that a call needs at most: a Python object for every arm would be 32 each."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_tell_and_the_best_need_no_list_of_the_arms(bandit):
    assert peak(lambda: bandit.best) < ARMS
    assert peak(lambda: bandit.tell(3, 0.5)) < ARMS
    assert (bandit.best.arm, bandit.best.why) == (5, "highest mean reward, 3 over 1 pull(s)")


def test_pulls_and_initial_arms_need_an_array_of_numbers_at_most(bandit):
    assert peak(lambda: bandit.pulls) < 12 * ARMS
    counts = bandit.pulls
    assert [counts[i] for i in (5, 7, ARMS - 1)] == [1, 2, 1]
    assert counts.sum() == len(bandit.rewards)
    fresh = wf.Bandit(bandit.space, seed=1)
    assert peak(fresh.ask) < 24 * ARMS  # numbers in a random order
