"""Rewards as they were told, and what they say about each point."""

import numpy as np
import pytest

import windfall as wf
from windfall.errors import InputError
from windfall.study.record import LARGEST, Pull, Record


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
    record = Record([Pull.of(0, reward, noise) for reward, noise in told])
    assert record.means()[0] == (pytest.approx(mean, rel=1e-12), pulls)


def test_replicates_count_by_their_number():
    record = Record([Pull.of(0, 1.0, count=3, deviation=0.5), Pull.of(0, 5.0)])
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
