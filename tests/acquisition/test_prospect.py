"""The policy of the goal "best" against SciPy and against the default that it is the limit of."""

import dataclasses

import jax
import numpy as np
import pytest
from acquisition.fakes import fake, situation, tried_at
from scipy.stats import norm

from windfall.acquisition.prospect import Prospect
from windfall.acquisition.windfall import Windfall
from windfall.models.gp.usual import finding_model
from windfall.policy import Policy, as_policy

ARMS = np.random.default_rng(1).random((20, 2))
#: The best reward is a lucky one: by the mean, which is what counts, another arm is the best.
BELIEF = fake(tried=tried_at(ARMS[:3], [0.1, 9.0, -0.2]))
KEY = jax.random.key(0)


def test_the_score_is_the_expected_improvement_on_the_best_mean():
    score = Prospect().focus(KEY, BELIEF, situation(ARMS), None)
    mean, deviation = (np.asarray(m) for m in BELIEF.moments(ARMS))
    z = (mean - mean[:3].max()) / deviation
    wanted = deviation * (z * norm.cdf(z) + norm.pdf(z))
    np.testing.assert_allclose(np.exp(score(ARMS)), wanted, rtol=1e-7)
    assert mean[:3].max() < 3.0  # not the lucky reward


def test_it_is_the_default_where_an_improvement_is_enjoyed_for_ever():
    """h → ∞: the score divided by h tends to the expected improvement, and so does the choice."""
    score = Prospect().focus(KEY, BELIEF, situation(ARMS), None)
    patient = Windfall(patience=1e9).focus(KEY, BELIEF, situation(ARMS), None)
    assert int(np.argmax(patient(ARMS))) == int(np.argmax(score(ARMS)))
    gain = np.asarray(patient(ARMS)) / float(patient.pulls)
    np.testing.assert_allclose(gain, np.exp(score(ARMS)), rtol=1e-6, atol=1e-7)


def test_rewards_to_come_do_not_matter():
    now, later = (
        Prospect().focus(KEY, BELIEF, dataclasses.replace(situation(ARMS), left=left), None)(ARMS)
        for left in (np.float64(1.0), np.float64(np.inf))
    )
    np.testing.assert_array_equal(now, later)


def test_it_is_the_goal_s_and_tries_nothing_twice():
    policy = as_policy(goal="best")
    for same in (as_policy("prospect"), as_policy(Prospect()), Policy(Prospect())):
        assert repr(same) == repr(policy)
    assert policy.repeats is False
    assert Policy(Prospect(), repeats=True).repeats is True
    assert as_policy(goal="reward").repeats is True
    assert repr(policy.model) == repr(finding_model())


@pytest.mark.parametrize("left", [1.0, 1.5, 11.0, np.inf])
def test_the_default_s_last_pull_goes_to_the_highest_mean(left):
    """And with eleven pulls left or more curiosity is whole."""
    around = dataclasses.replace(situation(ARMS), left=np.float64(left))
    score = Windfall().focus(KEY, BELIEF, around, None)
    plain = Windfall().focus(KEY, BELIEF, situation(ARMS), None)
    mean = np.asarray(BELIEF.mean(ARMS))
    if left == 1.0:
        np.testing.assert_allclose(score(ARMS), mean, atol=1e-7)
        assert float(score.pulls) == float(score.bonus) == 0.0
    else:
        assert np.ptp(np.asarray(score(ARMS)) - mean) > 1e-3
    if left >= 11.0:
        np.testing.assert_allclose(score(ARMS), plain(ARMS), rtol=1e-12)
