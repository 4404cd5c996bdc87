"""What Bandit refuses, in one line each, and that nothing changes then."""

import jax.numpy as jnp
import numpy as np
import pytest
from bandit_study import ARMS
from refusals import refused

import windfall as wf
from windfall.errors import InputError

BAD_ARMS = {
    "nothing": (None, "arms is None; expected rows of numbers, a space such as Box, or kernel_ma"),
    "nan": ([[0.0], [np.nan]], r"arms\[1, 0\] is nan"),
    "infinite": ([[0.0], [np.inf]], r"arms\[1, 0\] is inf"),
    "ragged": ([[0.0], [1.0, 2.0]], "arms is ragged"),
    "by name": (
        {"a": (0, 1)},
        r"arms is \{'a': \(0, 1\)\}; expected rows of numbers, a Box, or Param",
    ),
    "empty": ([], r"arms has shape \(0,\)"),
    "one-dimensional": ([1.0, 2.0], r"arms has shape \(2,\); .*reshape\(-1, 1\)"),
    "one arm": ([[1.0]], "arms has shape .*at least 2 arms"),
    "no features": (np.ones((3, 0)), "arms has shape .*at least one feature"),
    "text": ([["a"], ["b"]], r"arms\[0, 0\] is .*'a'.*; expected a number"),
}


@pytest.mark.parametrize("case", BAD_ARMS)
def test_bad_arms(case):
    arms, message = BAD_ARMS[case]
    with refused(message):
        wf.Bandit(arms)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: wf.Bandit(ARMS, "ucb1"), "policy is 'ucb1' .*; expected .*one of .*v-ucb"),
        (lambda: wf.Bandit(ARMS, 3), "policy is 3"),
        (lambda: wf.Bandit(ARMS, seed=-1), "seed is -1; expected a whole number from 0 to"),
        (lambda: wf.Bandit(ARMS, initial=0), "initial is 0; expected a whole number, at least 1"),
        (lambda: wf.Bandit(ARMS).best, "best is unknown before the first reward; tell one first"),
        (lambda: wf.Bandit(ARMS).posterior(), "posterior is unknown before the first reward"),
        (lambda: wf.Bandit(ARMS).explain(), "explain is unknown before the first reward"),
        (lambda: wf.Policy(wf.VUCB(), wf.GP(noise=-1.0)), "noise is -1.0; expected"),
        (lambda: wf.GP(kernel="rbf"), "kernel is 'rbf'; expected"),
        (
            lambda: wf.Bandit(ARMS, wf.LWUCB(prior=np.ones(3))),
            "prior has shape .*; expected one weight for each of 60 arms",
        ),
    ],
)
def test_bad_settings(make, message):
    with refused(message):
        make()


@pytest.mark.parametrize(
    "arm", [60, -1, 1.0, "3", None, True, np.array([1, 2]), 10**30, [[1, 2], [3]]]
)
def test_unknown_arms_are_refused_and_nothing_changes(arm):
    bandit = wf.Bandit(ARMS, seed=0)
    before = bandit.state_dict()
    with pytest.raises(
        InputError, match=r"^arm is .*; expected a Choice or a row number from 0 to"
    ):
        bandit.tell(arm, 1.0)
    assert bandit.state_dict() == before


@pytest.mark.parametrize("reward", [np.nan, np.inf, -np.inf, "1.0", None, [1.0, 2.0], 1j, b"1"])
def test_bad_rewards_are_refused_and_nothing_changes(reward):
    bandit = wf.Bandit(ARMS, seed=0)
    bandit.tell(3, 1.0)
    before = bandit.state_dict()
    with pytest.raises(InputError, match=r"^reward is .*; expected a finite number$"):
        bandit.tell(3, reward)
    assert bandit.state_dict() == before


@pytest.mark.parametrize("reward", [1, np.float32(0.5), np.int64(2), True, jnp.asarray(0.25)])
def test_any_kind_of_number_is_a_reward(reward):
    bandit = wf.Bandit(ARMS, seed=0)
    bandit.tell(3, reward)
    assert bandit.rewards == [(3, float(reward))]


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ([[1.0, 2.0]], r"features has shape \(1, 2\); expected \(points, 1\)"),
        (np.ones((2, 2, 2)), "features has shape"),
        ([[np.nan]], r"features\[0, 0\] is nan"),
        ([["a"]], r"features\[0, 0\] is .*'a'"),
    ],
)
def test_bad_features(features, message):
    bandit = wf.Bandit(ARMS, seed=0)
    bandit.tell(3, 1.0)
    with pytest.raises(InputError, match=f"^{message}"):
        bandit.posterior(features)
