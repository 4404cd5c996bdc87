"""Batches, pending choices, failures: on arms and on a box."""

import json
import threading

import numpy as np
import pytest
from bandit_study import ARMS, PAYOFF
from box_study import BOX, GP, VUCB, payoff, play
from policies import ALL

import windfall as wf
from windfall.errors import InputError


@pytest.mark.parametrize("policy", ALL)
def test_batches_of_arms_are_distinct_as_long_as_there_are_arms(policy):
    arms, payoffs = ARMS[::5], PAYOFF[::5]  # twelve
    bandit = wf.Bandit(arms, policy, seed=0)
    for arm in (0, 5, 11):
        bandit.tell(arm, payoffs[arm])
    assert [c.arm for c in bandit.ask(1)] == [bandit.pending[0].arm]
    batch = bandit.ask(11)
    assert sorted(c.arm for c in bandit.pending) == list(range(12))
    assert len(batch) == 11
    assert bandit.ask().arm in range(12)  # all are pending: any may come again


def test_the_first_of_a_batch_is_the_choice_and_names_features():
    bandit = wf.Bandit(ARMS, "v-ucb", seed=0)
    for arm in (0, 20, 40):
        bandit.tell(arm, PAYOFF[arm])
    choice = bandit.ask()
    assert choice.parameters == {"x1": ARMS[choice.arm, 0]}
    assert choice.search is None
    assert bandit.ask(2)[0] == choice
    assert bandit.ask() != choice  # it is pending now
    bandit.forget(choice)
    assert len(bandit.pending) == 1


def test_arms_by_their_features():
    import pandas as pd

    frame = pd.DataFrame({"dose": ARMS[:, 0]})
    bandit = wf.Bandit(frame, "v-ucb", seed=0)
    bandit.tell({"dose": ARMS[7, 0]}, 1.0)
    bandit.tell(ARMS[7], 2.0)
    bandit.tell([ARMS[8, 0]], 3.0)
    assert bandit.pulls[[7, 8]].tolist() == [2, 1]
    assert bandit.ask().parameters.keys() == {"dose"}
    for wrong, message in (
        ({"dose": 99.0}, "arm is .*; expected the features of one of the arms"),
        ({"heat": 1.0}, "arm is .*; expected the features dose"),
        ([0.123], "arm is .*; expected the features of one of the arms"),
    ):
        with pytest.raises(InputError, match=f"^{message}"):
            bandit.tell(wrong, 1.0)


def test_initial_arms_in_a_batch_then_the_policy_once_there_is_a_reward():
    bandit = wf.Bandit(ARMS, "v-ucb", seed=0)
    first = bandit.ask(2)
    assert ["initial" in c.why for c in first] == [True, True]
    bandit.tell(first[1], 1.0)
    rest = bandit.ask(3)
    assert ["initial" in c.why for c in rest] == [True, False, False]
    assert len({c.arm for c in [*first, *rest]}) == 5
    nothing = wf.Bandit(ARMS, "v-ucb", seed=0)
    assert len({c.arm for c in nothing.ask(10)}) == 10  # no reward to learn from


def test_pending_points_keep_the_mean_and_shrink_the_deviation():
    """What is pending is believed to pay what the model expects: conditioning on it."""
    bandit = wf.Bandit(BOX, VUCB, seed=0)
    play(bandit, 8)
    bandit.ask(2)
    from windfall.study import compiled

    pending = BOX.locate([point for (point, _), _ in bandit._record.waiting])
    belief = bandit._decider._believe(bandit._decider._learn(bandit._record), 2)
    imagined = compiled.imagine(belief, compiled.padded(pending, 0.0), np.int32(2))
    x = BOX.fill(200)
    both = np.asarray([compiled.moments(b, x) for b in (belief, imagined)])
    (mean, deviation), (same, smaller) = both
    np.testing.assert_allclose(same, mean, atol=1e-6 * np.ptp(mean))
    assert np.all(smaller <= deviation + 1e-9)
    before, after = (np.asarray(compiled.moments(b, pending)[1]) for b in (belief, imagined))
    assert np.all(after < 0.9 * before)


def test_batches_told_in_any_order_or_never():
    bandit = wf.Bandit(BOX, VUCB, seed=0)
    play(bandit, 6)
    a, b, c = bandit.ask(3)
    for choice in (c, a):
        bandit.tell(choice, payoff(**choice.parameters))
    assert bandit.pending == [b]
    bandit.tell(json.loads(json.dumps(b.parameters)), 0.0)  # by name, through a file
    assert bandit.pending == []
    d, e = bandit.ask(2)
    bandit.forget(e.parameters)
    bandit.fail(d)
    assert bandit.pending == []
    assert [f.parameters for f in bandit.failed] == [d.parameters]
    bandit.forget(d)  # it was an accident
    assert bandit.failed == []
    with pytest.raises(InputError, match=r"^choice is .*; expected one of the pending ones"):
        bandit.forget(d)


def test_thompson_sampling_draws_another_function_for_each_of_a_batch():
    """Draws that were the same function would all but have the same maximum."""
    bandit = wf.Bandit(BOX, wf.Policy(wf.TS(features=64), GP), seed=0)
    for choice in bandit.ask(6):
        bandit.tell(choice, float(np.sin(3 * choice.parameters["dose"])))
    batch = BOX.unit(np.array([c.features for c in bandit.ask(4)]))
    assert np.abs(batch[:, None] - batch[None]).max(axis=-1)[np.triu_indices(4, 1)].min() > 1e-3


def test_the_search_turns_away_from_failures():
    """Everything above dose 1 fails: the study ends up just below it."""
    bandit = wf.Bandit(BOX, VUCB, seed=0)
    failures = 0
    for _ in range(22):
        choice = bandit.ask()
        if choice.parameters["dose"] > 1.0:
            bandit.fail(choice)
            failures += 1
        else:
            bandit.tell(choice, payoff(**choice.parameters))
    assert len(bandit.failed) == failures
    assert len(bandit.rewards) == 22 - failures
    assert 2 <= failures <= 14  # half of the box; most of the optimistic choices
    assert len({c.features.tobytes() for c in bandit.failed}) == failures  # none twice
    assert bandit.best.parameters["dose"] <= 1.0
    low = min(reward for _, reward in bandit.rewards)
    mean, _ = bandit.posterior([c.features for c in bandit.failed])
    assert np.median(np.abs(mean - low)) < 0.5 * (0.0 - low)  # believed to pay as little


@pytest.mark.parametrize("learned", [False, True])
@pytest.mark.parametrize("back", ["told", "forgotten"])
def test_a_failure_can_be_taken_back(back, learned):
    """By a reward for the same point, or because it was an accident."""
    untouched, other = (wf.Bandit(BOX, VUCB, seed=0) for _ in range(2))
    play(untouched, 5)
    play(other, 5)
    point = dict(zip(BOX.names, BOX.natural(np.full((1, BOX.size), 0.4))[0].tolist(), strict=True))
    other.fail(point)
    failed = other.posterior([point])[0] if learned else np.nan
    if back == "told":
        untouched.tell(point, 2.0)
        other.tell(point, 2.0)
    else:
        other.forget(point)
    assert other.failed == []
    # Saved before the model has caught up: its hyper-parameters rest on more than there is now.
    wf.Bandit(BOX, VUCB).load_state_dict(json.loads(json.dumps(other.state_dict())))
    assert not np.allclose(other.posterior([point])[0], failed)  # no longer believed
    resumed = wf.Bandit(BOX, VUCB)
    resumed.load_state_dict(json.loads(json.dumps(other.state_dict())))
    for mine, theirs in zip(other.posterior([point]), resumed.posterior([point]), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    if not learned:  # as if it had never been; else the fit has set out from another place
        for mine, theirs in zip(
            other.posterior([point]), untouched.posterior([point]), strict=True
        ):
            np.testing.assert_array_equal(mine, theirs)
    with pytest.raises(InputError, match="expected one of the pending ones, or of those that fail"):
        other.forget(point)


def test_failures_of_arms_and_before_any_reward():
    bandit = wf.Bandit(ARMS, "v-ucb", seed=0)
    failed = []
    for _ in range(5):  # more than there are initial arms
        choice = bandit.ask()
        bandit.fail(choice)
        failed.append(choice.arm)
    assert len(set(failed)) == 5
    with pytest.raises(InputError, match="best is unknown"):
        bandit.best  # noqa: B018
    choice = bandit.ask()
    bandit.tell(choice, 1.0)
    assert choice.arm not in failed
    assert bandit.ask().arm not in failed
    assert bandit.explain()["pulls"].sum() == 1


def test_a_failed_batch_leaves_nothing_pending(monkeypatch):
    bandit = wf.Bandit(ARMS, "v-ucb", seed=0)
    for arm in (0, 20, 40):
        bandit.tell(arm, PAYOFF[arm])
    from windfall.study import compiled

    original, calls = compiled.select, []

    def select(*arguments):
        deciding = threading.current_thread() is threading.main_thread()  # others only rehearse
        calls.extend([1] * deciding)
        if deciding and len(calls) == 2:
            raise wf.NumericalError("no")
        return original(*arguments)

    monkeypatch.setattr(compiled, "select", select)
    before = bandit.state_dict()
    with pytest.raises(wf.NumericalError):
        bandit.ask(3)
    assert bandit.pending == []
    assert bandit.state_dict() == before
