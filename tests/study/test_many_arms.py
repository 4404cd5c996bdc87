"""Tells and reads of a long list touch what was told, not every arm in turn."""

import sys
import tracemalloc

import numpy as np
import pytest

import windfall as wf
from windfall import specs

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


def test_a_tell_by_features_finds_its_arm_at_once(bandit):
    bandit.space.point(bandit.arms[0])  # sorts the arms, once
    assert peak(lambda: bandit.space.point(bandit.arms[9])) < ARMS
    assert bandit.space.point(bandit.arms[9].tolist()) == 9
    with pytest.raises(wf.InputError, match="expected the features of one of the arms"):
        bandit.space.point([0.5, 0.5])


def test_a_state_is_written_and_read_without_a_turn_for_every_arm(bandit):
    state = bandit.state_dict()
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += 1

    sys.setprofile(count)
    try:
        specs.describe(bandit.space)
        specs.check_spec(state["events"][0]["space"])
        assert specs.differences(specs.describe(bandit.space), state["events"][0]["space"]) == []
    finally:
        sys.setprofile(None)
    assert calls < ARMS


def test_pulls_and_initial_arms_need_an_array_of_numbers_at_most(bandit):
    assert peak(lambda: bandit.pulls) < 12 * ARMS
    counts = bandit.pulls
    assert [counts[i] for i in (5, 7, ARMS - 1)] == [1, 2, 1]
    assert counts.sum() == len(bandit.rewards)
    fresh = wf.Bandit(bandit.space, seed=1)
    assert peak(fresh.ask) < 24 * ARMS  # numbers in a random order
