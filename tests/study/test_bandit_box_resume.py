"""Saving and resuming a study on a box, with all that can have happened in it."""

import json

import numpy as np
import pytest
from bandit_study import ARMS, PAYOFF
from box_study import BOX, VUCB, payoff, play

import windfall as wf
from windfall.errors import InputError


def resumed(bandit: wf.Bandit, space=BOX, policy=VUCB) -> wf.Bandit:
    """Another bandit, made from what a file would hold."""
    other = wf.Bandit(space, policy, seed=99, initial=5)
    other.load_state_dict(json.loads(json.dumps(bandit.state_dict())))
    return other


def eventful() -> wf.Bandit:
    """A study with rewards of every kind, failures and pending choices."""
    bandit = wf.Bandit(BOX, VUCB, seed=7)
    play(bandit, 6)
    bandit.tell({"dose": 0.0, "heat": 15.0}, -4.0, noise=0.3)
    bandit.tell([1.0, 15.0], -2.0, count=3, deviation=0.2)
    a, b, *_ = bandit.ask(4)
    bandit.fail(a)
    bandit.tell(b, payoff(**b.parameters))
    return bandit


@pytest.mark.parametrize("asked", [False, True], ids=["stale", "asked"])
def test_resuming_gives_the_identical_choices(asked):
    bandit = eventful()
    if asked:
        bandit.ask()
    other = resumed(bandit)
    assert other.state_dict() == bandit.state_dict()
    assert other.pending == bandit.pending
    assert len(other.pending) == 2
    assert [c.parameters for c in other.failed] == [c.parameters for c in bandit.failed]
    assert other.ask() == bandit.ask()
    assert other.ask(2) == bandit.ask(2)
    for choice in bandit.pending:
        for study in (bandit, other):
            study.tell(choice.parameters, payoff(**choice.parameters))
    assert play(other, 2) == play(bandit, 2)
    assert other.state_dict() == bandit.state_dict()
    np.testing.assert_array_equal(other.posterior(), bandit.posterior())


def test_resuming_before_the_first_reward():
    bandit = wf.Bandit(BOX, VUCB, seed=7)
    bandit.fail(bandit.ask(2)[0])
    other = resumed(bandit)
    assert other.ask() == bandit.ask()
    assert other.state_dict() == bandit.state_dict()


def test_a_study_of_format_1_can_still_be_read():
    """As windfall wrote it when there were only arms and rewards."""
    bandit = wf.Bandit(ARMS, "v-ucb", seed=7)
    for arm in (3, 30, 30, 50):
        bandit.tell(arm, PAYOFF[arm])
    bandit.ask()
    new = bandit.state_dict()
    old = {
        "format": 1,
        "arms": ARMS.tolist(),
        "policy": new["policy"],
        "seed": 7,
        "initial": 3,
        "arm": [3, 30, 30, 50],
        "reward": [float(PAYOFF[arm]) for arm in (3, 30, 30, 50)],
        "hyper": new["hyper"],
        "learned": 4,
    }
    other = wf.Bandit(ARMS, "v-ucb", seed=1)
    other.load_state_dict(json.loads(json.dumps(old)))
    assert other.state_dict() == new
    assert other.ask() == bandit.ask()
    with pytest.raises(InputError, match="state is not a state_dict"):
        other.load_state_dict({k: v for k, v in old.items() if k != "arm"})
    with pytest.raises(InputError, match="state was saved with other arms"):
        other.load_state_dict({**old, "arms": (ARMS + 1).tolist()})


def changed(**changes):
    return lambda state: {**state, **changes}


BROKEN = {
    "another space": (
        changed(space=repr(wf.Box([0], [1]))), "state was saved with space Box.*; this Bandit has",
    ),
    "a list of arms": (changed(space=[[0.0], [1.0]]), "state was saved with space"),
    "a point outside": (changed(failed=[[9.0, 15.0]]), "dose is 9; expected a number from -1 to 3"),
    "a pending point alone": (changed(pending=[[0.0, 15.0]]), "state pending has .*; expected a"),
    "a pending point outside": (changed(pending=[[[0.0, 5.0], "why"]]), "heat is 5; expected"),
    "noise missing": (changed(noise=[]), "state has .* 0 of noise"),
    "negative noise": (lambda s: {**s, "noise": [-1.0, *s["noise"][1:]]}, "noise is -1.0; exp"),
    "failed is no list": (changed(failed=None), "state failed is None; expected a list"),
    "a future format": (changed(format=3), "state has format 3; expected 1 or 2"),
    "learned too much": (changed(learned=99), "state learned is 99; expected at most 10"),
}  # fmt: skip


@pytest.fixture(scope="module")
def saved():
    return json.dumps(eventful().state_dict())


@pytest.mark.parametrize("case", BROKEN)
def test_a_state_that_does_not_fit_is_refused_and_nothing_changes(case, saved):
    change, message = BROKEN[case]
    bandit = wf.Bandit(BOX, VUCB, seed=1)
    bandit.tell([0.0, 15.0], 1.0)
    before = bandit.state_dict()
    with pytest.raises(InputError, match=f"^{message}") as caught:
        bandit.load_state_dict(change(json.loads(saved)))
    assert "\n" not in str(caught.value)
    assert bandit.state_dict() == before


def test_a_study_on_arms_keeps_what_is_pending_and_failed():
    bandit = wf.Bandit(ARMS, "v-ucb", seed=7)
    for arm in (3, 30, 50):
        bandit.tell(arm, PAYOFF[arm])
    batch = bandit.ask(3)
    bandit.fail(batch[1])
    other = resumed(bandit, ARMS, "v-ucb")
    assert other.state_dict() == bandit.state_dict()
    assert [c.arm for c in other.pending] == [batch[0].arm, batch[2].arm]
    assert other.ask() == bandit.ask()
