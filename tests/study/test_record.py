"""Rewards as they were told, and what they say about each point."""

import numpy as np
import pytest

import windfall as wf
from windfall.errors import InputError
from windfall.space import Arms
from windfall.study.events import Event
from windfall.study.pull import LARGEST, Pull
from windfall.study.record import Record

ARMS = Arms(np.linspace(0, 1, 9)[:, None])


@pytest.mark.parametrize(
    ("told", "mean", "pulls"),
    [
        ([(1.0, None), (3.0, None)], 2.0, 2),
        ([(1.0, 1.0), (4.0, 2.0)], (1.0 + 4.0 / 4) / (1 + 1 / 4), 2),
        ([(5.0, 0.0), (0.0, 10.0)], 5.0, 2),  # an exact reward beside a noisy one
        ([(5.0, 0.0), (7.0, 0.0)], 6.0, 2),
        ([(5.0, 1e-170), (0.0, 1.0)], 5.0, 2),  # its square is 0
        ([(5.0, 0.0), (1.0, None)], 3.0, 2),  # the noise of one is unknown
    ],
)
def test_rewards_count_by_their_precision_where_it_is_known(told, mean, pulls):
    record = Record(ARMS, [Pull.of(0, reward, noise) for reward, noise in told])
    assert record.means()[0] == (pytest.approx(mean, rel=1e-12), pulls)


def test_replicates_count_by_their_number():
    record = Record(ARMS, [Pull.of(0, 1.0, count=3, deviation=0.5), Pull.of(0, 5.0)])
    assert record.means() == {0: (2.0, 4)}


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("reward", {"reward": -1e300}),
        ("noise", {"reward": 0.0, "noise": 1e160}),
        ("deviation", {"reward": 0.0, "count": 2, "deviation": 1e200}),
    ],
)
def test_numbers_whose_squares_overflow_are_refused_and_nothing_changes(name, told):
    bandit = wf.Bandit(np.linspace(0, 1, 9)[:, None], seed=0)
    bandit.tell(3, 1.0)
    before = bandit.state_dict()
    with pytest.raises(InputError, match=rf"^{name} is .*; expected no more than 1e\+150 in size"):
        bandit.tell(3, **told)
    assert bandit.state_dict() == before


def test_the_largest_rewards_can_be_learned_from():
    bandit = wf.Bandit(np.linspace(0, 1, 9)[:, None], seed=0)
    for arm, share in ((0, -1.0), (4, 1.0), (8, 0.25)):
        bandit.tell(arm, share * LARGEST)
    mean, deviation = bandit.posterior()
    assert np.all(np.isfinite(mean))
    assert np.all(np.isfinite(deviation))
    bandit.ask()


def events(*kinds):
    """Events of these kinds and contents, numbered."""
    return [Event(number, kind, contents) for number, (kind, contents) in enumerate(kinds, 1)]


def folded(*kinds) -> Record:
    record = Record(ARMS)
    for event in events(*kinds):
        record.fold(event)
    return record


def asked(number: int, point: int, *, held: bool = True):
    return "asked", {"id": number, "point": point, "why": "it had to be", "held": held}


def test_a_choice_is_settled_by_its_id_and_else_by_its_point():
    twice = [asked(0, 4), asked(1, 4), asked(2, 5)]
    by_id = folded(*twice, ("told", {"point": 4, "reward": 1.0, "id": 1}))
    assert list(by_id.pending) == [0, 2]
    by_point = folded(*twice, ("told", {"point": 4, "reward": 1.0}))
    assert list(by_point.pending) == [1, 2]
    assert list(folded(*twice, ("failed", {"point": 5, "id": 2})).pending) == [0, 1]
    assert list(folded(*twice, ("forgotten", {"point": 5, "id": 2})).pending) == [0, 1]


def test_a_proposal_lasts_until_something_happens():
    proposal = asked(0, 4, held=False)
    assert folded(proposal).proposal.arm == 4
    assert folded(proposal).pending == {}
    for kind in (("told", {"point": 8, "reward": 1.0}), ("failed", {"point": 8}), asked(1, 2)):
        assert folded(proposal, kind).proposal is None
    record = folded(proposal)
    with pytest.raises(InputError, match="expected one of the pending ones"):
        record.fold(Event(2, "forgotten", {"point": 8}))
    assert record.proposal.arm == 4  # nothing has happened


def test_failures_say_nothing_about_points_that_have_rewards():
    record = folded(
        ("told", {"point": 1, "reward": 2.0}), ("failed", {"point": 1}), ("failed", {"point": 3}),
        ("failed", {"point": 3}),
    )  # fmt: skip
    assert record.failed == [(1, None), (3, None), (3, None)]
    assert record.doomed == [(3, None)]


@pytest.mark.parametrize(
    ("saved", "message"),
    [
        ([], "event 1 is "),
        ({"kind": "told"}, "event 1 is "),
        ({"number": 2, "kind": "told"}, "event number is 2; expected 1"),
        ({"number": 1, "kind": "sold"}, "event kind is 'sold'"),
    ],
)
def test_events_that_are_none_are_refused(saved, message):
    with pytest.raises(InputError, match=f"^{message}"):
        Event.of(saved, 1)


@pytest.mark.parametrize(
    ("kind", "contents", "message"),
    [
        ("told", {"reward": 1.0}, "event has no 'point'"),
        ("told", {"point": 99, "reward": 1.0}, "arm is 99"),
        ("told", {"point": 1, "reward": None}, "reward is None"),
        ("asked", {"point": 1, "id": 0}, "event has no 'why'"),
        ("fitted", {"belief": {}, "searched": 9}, "state searched is 9"),
        ("created", {}, "a study is created once"),
    ],
)
def test_events_that_cannot_happen_are_refused(kind, contents, message):
    with pytest.raises(InputError, match=f"^{message}"):
        folded((kind, contents))
