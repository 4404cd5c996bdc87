"""A study is what has happened to it: reading, copying and resuming change no later choice."""

import copy
import json
import pickle
from collections import Counter

import numpy as np
import pytest
from bandit_study import ARMS, PAYOFF, play
from hypothesis import given, settings
from hypothesis import strategies as st

import windfall as wf

#: Small, so that the programs are quick; every test here shares them.
POLICY = wf.Policy(wf.VUCB(), wf.GP(fit=wf.Fit(restarts=1, iterations=15)))

READS = {
    "posterior": lambda bandit: bandit.posterior(),
    "elsewhere": lambda bandit: bandit.posterior([[0.5], [1.5]]),
    "explain": lambda bandit: bandit.explain(),
    "best": lambda bandit: bandit.best,
    "state": lambda bandit: bandit.state_dict(),
    "lists": lambda bandit: (bandit.rewards, bandit.pulls, bandit.pending, bandit.failed),
}


@given(reads=st.lists(st.lists(st.sampled_from(sorted(READS)), max_size=3), min_size=8, max_size=8))
@settings(max_examples=12)
def test_reading_changes_no_later_choice_or_belief(reads):
    """To the last bit: a read between two rewards must not move where the next fit starts."""
    quiet, watched = (wf.Bandit(ARMS, POLICY, seed=5) for _ in range(2))
    for round, some in enumerate(reads):
        for bandit in (quiet, watched):
            arm = 7 * round % 60  # rewards from elsewhere too: two tells for one ask
            bandit.tell(arm, float(PAYOFF[arm]))
        for name in some:
            READS[name](watched)
        first, second = quiet.ask(), watched.ask()
        assert first == second
        for bandit in (quiet, watched):
            bandit.tell(first, float(PAYOFF[first.arm]))
        for name in some:
            READS[name](watched)
    np.testing.assert_array_equal(quiet.posterior(), watched.posterior())
    assert quiet.state_dict() == watched.state_dict()


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda b: pickle.loads(pickle.dumps(b))])
@pytest.mark.parametrize("asked", [False, True])
def test_copies_are_exact(duplicate, asked):
    """pickle kept float32 numbers: a study in a worker pool or a notebook was another one."""
    bandit = wf.Bandit(ARMS, POLICY, seed=5)
    play(bandit, 6, noise=0.1)
    if asked:
        bandit.ask(2)
    other = duplicate(bandit)
    assert other.state_dict() == bandit.state_dict()
    assert other.ask() == bandit.ask()
    for mine, theirs in zip(bandit.posterior(), other.posterior(), strict=True):
        np.testing.assert_array_equal(mine, theirs)
        assert theirs.dtype == np.float64
    assert play(other, 3, noise=0.1) == play(bandit, 3, noise=0.1)


def test_a_study_is_rebuilt_from_what_it_saved():
    """Nothing but the state: the space and the policy are in it."""
    bandit = wf.Bandit(ARMS, POLICY, seed=5)
    play(bandit, 6)
    other = wf.Bandit.from_state_dict(json.loads(json.dumps(bandit.state_dict())))
    assert repr(other.policy) == repr(bandit.policy)
    np.testing.assert_array_equal(other.arms, ARMS)
    assert other.ask() == bandit.ask()


def test_a_function_that_cannot_be_imported_is_refused_when_rebuilding():
    bandit = wf.Bandit(ARMS, wf.Policy(wf.VUCB(), wf.GP(kernel=lambda a, b: 1.0 + a[0] * b[0])))
    bandit.tell(3, 1.0)
    with pytest.raises(wf.InputError, match="expected one that can be imported") as caught:
        wf.Bandit.from_state_dict(bandit.state_dict())
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("told", [11, 13, 15])
def test_resuming_after_failures_that_crossed_a_size_were_taken_back(told):
    """The room that a study once had does not show in its choices."""
    bandit = wf.Bandit(ARMS, POLICY, seed=told)
    for arm in range(told):
        bandit.tell(arm, float(np.sin(3.0 * arm)))
    failed = range(40, 45)
    for arm in failed:
        bandit.fail(arm)
    bandit.ask()
    for arm in failed:
        bandit.forget(arm)
    other = wf.Bandit(ARMS, POLICY)
    other.load_state_dict(json.loads(json.dumps(bandit.state_dict())))
    assert other.ask() == bandit.ask()
    np.testing.assert_array_equal(other.posterior(), bandit.posterior())
    assert play(other, 3) == play(bandit, 3)


def test_a_failure_says_nothing_about_an_arm_that_has_rewards():
    bandit, untouched = (wf.Bandit(ARMS, POLICY, seed=5) for _ in range(2))
    for study in (bandit, untouched):
        play(study, 6)
    mean, deviation = untouched.posterior()
    bandit.fail(bandit.best)
    bandit.fail(untouched.rewards[0][0])
    np.testing.assert_array_equal(bandit.posterior(), (mean, deviation))
    assert bandit.ask().arm == untouched.ask().arm
    assert len(bandit.failed) == 2


SWITCHES = wf.Parameters({"on": wf.Integer(0, 1), "kind": wf.Categorical(["a", "b"])})


@pytest.mark.parametrize("told", [0, 3], ids=["before any reward", "by a model"])
@pytest.mark.parametrize(
    ("space", "points"), [(ARMS[:5], 5), (SWITCHES, 4)], ids=["list", "whole numbers"]
)
def test_more_choices_than_points_are_spread_evenly(space, points, told):
    bandit = wf.Bandit(space, POLICY, seed=0, initial=3)
    for i in range(told):
        bandit.tell(bandit.ask(), float(i))
    chosen = [tuple(choice.features.tolist()) for choice in bandit.ask(3 * points - 1)]
    assert len(set(chosen[:points])) == points
    assert sorted(Counter(chosen).values()) == [2] + [3] * (points - 1)


def test_initial_arms_are_not_twins_of_others_while_there_are_untried_features():
    arms = np.repeat(ARMS[:4], 5, axis=0)  # twenty arms, four of them different
    for seed in range(5):
        chosen = wf.Bandit(arms, POLICY, seed=seed, initial=20).ask(6)
        assert len({choice.features[0] for choice in chosen[:4]}) == 4
        assert len({choice.arm for choice in chosen}) == 6
    told = wf.Bandit(arms, POLICY, seed=0, initial=4)
    told.tell(0, 1.0)
    assert told.ask().features[0] != arms[0, 0]


def test_a_space_with_few_points_has_few_initial_ones():
    space = wf.Parameters({"on": wf.Integer(0, 1)})
    bandit = wf.Bandit(space, POLICY, seed=0)
    assert bandit.initial == 2
    assert {c.parameters["on"] for c in bandit.ask(2)} == {0, 1}
    mixed = wf.Parameters({"on": wf.Integer(0, 1), "kind": wf.Categorical(["a", "b", "c"])})
    assert wf.Bandit(mixed, POLICY, initial=50).initial == 6
    assert wf.Bandit(wf.Box([0.0], [1.0]), POLICY, initial=50).initial == 50


def test_no_call_compiles_for_every_number_of_points():
    import jax

    compiled = []

    def listen(event: str, duration: float, **_) -> None:
        if event == "/jax/core/compile/jaxpr_to_mlir_module_duration":
            compiled.append(event)

    box = wf.Box([0.0, 0.0], [1.0, 1.0])
    bandit = wf.Bandit(box, wf.Policy(wf.Mean(), wf.GP(fit=wf.Fit(restarts=0, iterations=3))))
    points = np.random.default_rng(0).random((40, 2))
    for point in points[:14]:
        bandit.tell(point, float(point.sum()))
    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        for rows in range(1, 40):
            bandit.posterior(points[:rows])
            bandit.explain(points[:rows])
        for point in points[14:16]:
            bandit.tell(point, 1.0)
            bandit.explain()
    finally:
        jax.monitoring.unregister_event_duration_listener(listen)
    # Two programs for each of 4, 16 and 64 points and for those told, and once those of a decision,
    # which compile beside the search; not eighty.
    assert 0 < len(compiled) <= 16
