"""Saving and resuming a study on a box, with all that can have happened in it."""

import json
from pathlib import Path

import numpy as np
import pytest
from bandit_study import ARMS, PAYOFF
from box_study import BOX, VUCB, payoff, play
from refusals import refused

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


OLD = Path(__file__).parent / "data"


@pytest.mark.parametrize("number", [1, 2])
def test_studies_of_old_formats_can_still_be_read(number):
    """As windfall wrote them: with arms and rewards only, then with all that can happen."""
    state = json.loads((OLD / f"format{number}.json").read_text())["arms"]
    bandit = wf.Bandit(ARMS, "v-ucb")
    bandit.load_state_dict(state)
    assert (bandit.seed, bandit.initial) == (7, 3)
    assert [reward for _, reward in bandit.rewards] == state["reward"]
    assert len(bandit.pending) == len(state.get("pending", []))
    assert [choice.arm for choice in bandit.failed] == state.get("failed", [])
    assert bandit._record.belief["hyper"] == state["hyper"]
    assert bandit.ask().arm in range(60)
    again = resumed(bandit, ARMS, "v-ucb")
    assert again.state_dict() == bandit.state_dict()
    for change, message in (
        ({"policy": "EI(xi=0.0)"}, r"state was saved with policy EI\(xi=0.0\); this Bandit has"),
        ({"reward": [1.0]}, "state has .* 1 of reward"),
        ({"reward": 3.0}, "state reward is 3.0; expected a list"),
        ({"hyper": [1.0]}, "state hyper is "),
        ({"learned": 99}, "state learned is 99; expected at most"),
        ({"arms": (ARMS + 1).tolist(), "space": (ARMS + 1).tolist()}, "state was saved with other"),
        ({"arms": [[0.0], [1.0, 2.0]], "space": [[0.0], [1.0, 2.0]]}, "state arms is ragged"),
    ):
        before = bandit.state_dict()
        with pytest.raises(InputError, match=f"^{message}"):
            bandit.load_state_dict({**state, **change})
        assert bandit.state_dict() == before
    with pytest.raises(InputError, match="state is not a state_dict"):
        bandit.load_state_dict({k: v for k, v in state.items() if k != "learned"})


def test_an_old_study_on_a_box_can_still_be_read():
    state = json.loads((OLD / "format2.json").read_text())["box"]
    bandit = wf.Bandit(BOX, VUCB)
    bandit.load_state_dict(state)
    assert [list(p.values()) for p, _ in bandit.rewards] == state["point"]
    assert [c.features.tolist() for c in bandit.pending] == [p for p, _ in state["pending"]]
    assert [c.features.tolist() for c in bandit.failed] == state["failed"]
    bandit.ask()
    for change, message in (
        ({"space": repr(wf.Box([0], [1]))}, "state was saved with space Box.*; this Bandit has"),
        ({"space": [[0.0], [1.0]]}, "state was saved with space"),
        ({"failed": [[9.0, 15.0]]}, "dose is 9; expected a number from -1 to 3"),
        ({"pending": [[0.0, 15.0]]}, "state pending has .*; expected a"),
        ({"pending": [[[0.0, 5.0], "why"]]}, "heat is 5; expected"),
        ({"noise": []}, "state has .* 0 of noise"),
        ({"failed": None}, "state failed is None; expected a list"),
    ):
        with pytest.raises(InputError, match=f"^{message}"):
            bandit.load_state_dict({**state, **change})


def changed(kind, **changes):
    """A change of the last event of a kind."""

    def change(state):
        at = max(i for i, event in enumerate(state["events"]) if event["kind"] == kind)
        events = [{**e, **changes} if i == at else e for i, e in enumerate(state["events"])]
        return {**state, "events": events}

    return change


BROKEN = {
    "another space": (changed("created", space={"type": "Box"}), "state was saved with other spac"),
    "a point outside": (changed("failed", point=[9.0, 15.0]), "dose is 9; expected a number from"),
    "a pending point outside": (changed("asked", point=[0.0, 5.0]), "heat is 5; expected"),
    "negative noise": (changed("told", noise=-1.0), "noise is -1.0; exp"),
    "no point": (changed("failed", point=None), "point is None"),
}


@pytest.fixture(scope="module")
def saved():
    return json.dumps(eventful().state_dict())


@pytest.mark.parametrize("case", BROKEN)
def test_a_state_that_does_not_fit_is_refused_and_nothing_changes(case, saved):
    change, message = BROKEN[case]
    bandit = wf.Bandit(BOX, VUCB, seed=1)
    bandit.tell([0.0, 15.0], 1.0)
    before = bandit.state_dict()
    with refused(message):
        bandit.load_state_dict(change(json.loads(saved)))
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
