"""The policy of the goal "best" against SciPy and against the default that it is the limit of."""

import dataclasses

import jax
import numpy as np
import pytest
from acquisition.fakes import believing, fake, situation, tried_at
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


@pytest.mark.parametrize(
    ("rewards", "noise", "luck"),
    [
        (np.sin(np.arange(10.0)), 1e-4, 0.0),  # payoffs that differ
        (np.sin(np.arange(10.0)), 1e2, 1.0),  # noise, says the model
        ([*np.sin(np.arange(9.0)), -1e6], 1e-4, 0.0),
        ([0.0] * 10, 1e-4, 0.0),  # nothing leads
    ],
)
def test_where_all_may_be_luck_what_was_not_tried_may_lead_as_well(rewards, noise, luck):
    """By the lead over the median, as far as it is from the nearest of ten that were tried."""
    belief = believing(ARMS, rewards, noise=noise)
    score = Prospect().focus(KEY, belief, situation(ARMS), None)
    lead = np.max(rewards) - np.median(rewards)
    np.testing.assert_allclose(score.bonus, luck * lead, atol=0.01 * lead)
    nearest = np.min(np.linalg.norm(ARMS[:, None] - ARMS[:10], axis=-1), axis=1)
    reach = 0.25 * (1.0 + luck) / np.sqrt(10.0)
    novelty = 1.0 - np.exp(-0.5 * (nearest / reach) ** 2)
    without = dataclasses.replace(score, bonus=np.float64(0.0))
    gain = np.exp(score(ARMS)) - np.exp(without(ARMS))
    np.testing.assert_allclose(gain, luck * lead * novelty, atol=0.02 * lead)
    np.testing.assert_allclose(gain[:10], 0.0, atol=1e-9)
    slopes = jax.grad(lambda x: score(x).sum())(jax.numpy.asarray(ARMS))
    assert np.isfinite(slopes).all()


def test_how_bad_the_worst_is_does_not_matter_to_the_bonus():
    rewards = np.sin(np.arange(9.0))
    one, other = (
        float(Prospect().focus(KEY, believing(ARMS, y, noise=1e2), situation(ARMS), None).bonus)
        for y in ([*rewards, -2.0], [*rewards, -20.0])
    )
    np.testing.assert_allclose(one, other, rtol=0.01)


def test_land_that_is_flat_is_searched_evenly():
    """Where the model calls all differences luck, no try is near another.

    Sixteen points are 1/4 apart on a square if they are spread evenly, and nothing there is much
    further than that from all of them.
    """
    grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 30)] * 2), axis=-1).reshape(-1, 2)
    rng = np.random.default_rng(0)
    tried, rewards = [0, 435, 870], list(rng.normal(size=3))
    while len(tried) < 16:
        belief = believing(grid[tried], rewards, noise=1e2)
        score = np.array(Prospect().focus(KEY, belief, situation(grid), None)(grid))
        score[tried] = -np.inf
        tried.append(int(np.argmax(score)))
        rewards.append(rng.normal())
    apart = np.linalg.norm(grid[tried][:, None] - grid[tried], axis=-1) + np.eye(16)
    assert apart.min() > 1 / 8
    assert np.linalg.norm(grid[:, None] - grid[tried], axis=-1).min(axis=1).max() < 3 / 8


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
