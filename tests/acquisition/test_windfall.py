"""The default policy's score against a naive computation of its formula."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from acquisition.fakes import believing, fake, situation, tried_at
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

import windfall as wf
from windfall.acquisition.ei import expected_improvement
from windfall.acquisition.ucb import VUCB
from windfall.acquisition.windfall import Windfall, WindfallScore
from windfall.errors import InputError
from windfall.models.base import Reward
from windfall.models.gp.kernels import MainEffects, Matern52, Trend
from windfall.models.gp.means import Constant, Linear
from windfall.models.gp.priors import DimensionPrior
from windfall.policy import Policy, as_policy
from windfall.space import as_space

ARMS = np.random.default_rng(0).random((40, 2))
MEAN = np.sin(5.0 * ARMS[:, 0]) + ARMS[:, 1]
DEVIATION = 0.1 + (ARMS[:, 0] - ARMS[:, 1]) ** 2
#: 1 + u^(3/2), with u the share of the prior variance (1) that is left at the anchors; below 3/n.
WANING = 1.0 + np.mean(DEVIATION[:8] ** 2) ** 1.5


def after(tried: int, **how):
    """A belief with known moments that rests on the first arms."""
    return fake(tried=tried_at(ARMS[:tried], np.zeros(tried)), **how)


def improvement(mean: float, deviation: float, best: float) -> float:
    """E max(f − best, 0) by integration."""
    return quad(lambda f: (f - best) * norm.pdf(f, mean, deviation), best, np.inf)[0]


def test_the_score_is_mean_curiosity_and_the_windfall_that_lasts():
    tried, best = 10, MEAN[:10].max()
    score = Windfall(curiosity=0.7, patience=20.0).focus(None, after(tried), situation(ARMS), None)
    windfall = np.array([improvement(m, s, best) for m, s in zip(MEAN, DEVIATION, strict=True)])
    expected = MEAN + 0.7 * WANING * DEVIATION + 20.0 * tried / 40 * windfall
    np.testing.assert_allclose(score(ARMS), expected, rtol=1e-6)


@pytest.mark.parametrize("tried", [1, 16])
def test_the_same_score_is_an_upper_bound_with_attention(tried):
    score = Windfall(curiosity=1.0).focus(None, after(tried), situation(ARMS), None)
    ratio = np.asarray(score.ratio(ARMS))
    assert np.all(ratio >= 1.0)
    assert ratio.max() > 1.0
    np.testing.assert_allclose(score(ARMS), MEAN + WANING * ratio * DEVIATION, rtol=1e-12)


def test_an_improvement_lasts_longer_the_more_arms_were_tried():
    def pulls(tried, size):
        return float(Windfall().focus(None, after(tried), situation(ARMS[:size]), None).pulls)

    assert [pulls(n, 40) for n in (0, 4, 8, 16)] == [0.0, 3.0, 6.0, 12.0]
    # A box counts its parameters: more pulls than that is a share of 1.
    assert pulls(8, 2) == pulls(8, 8) == 30.0


@pytest.mark.parametrize(("left", "kappa"), [(0.0, 1.0), (0.5, 1.125), (1.0, 2.0), (1.1, 2.0)])
def test_curiosity_wanes_with_what_is_known(left, kappa):
    """From twice to once, by the share of the variance that is left; never more than twice."""
    belief = after(0, deviation=lambda x: 0.0 * x[:, 0] + left)
    score = Windfall(curiosity=1.0).focus(None, belief, situation(ARMS), None)
    np.testing.assert_allclose(score(ARMS), MEAN + kappa * left, rtol=1e-12)


@pytest.mark.parametrize(("tried", "kappa"), [(1, 2.0), (3, 2.0), (6, 1.5), (12, 1.25)])
def test_curiosity_wanes_with_pulls_where_arms_explain_nothing_of_each_other(tried, kappa):
    """All of the variance is left: (d + 1)/n, here 3/n, takes over."""
    belief = after(tried, deviation=lambda x: 0.0 * x[:, 0] + 1.0)
    score = Windfall(curiosity=1.0, patience=0.0).focus(None, belief, situation(ARMS), None)
    np.testing.assert_allclose(score(ARMS), MEAN + kappa, rtol=1e-12)


def test_without_patience_it_is_v_ucb():
    plain = VUCB(kappa=1.3 * WANING).focus(None, after(5), situation(ARMS), None)
    score = Windfall(curiosity=1.3, patience=0.0).focus(None, after(5), situation(ARMS), None)
    np.testing.assert_allclose(score(ARMS), plain(ARMS), rtol=1e-12)
    np.testing.assert_array_equal(score.ratio(ARMS), 1.0)


def test_before_any_reward_there_is_nothing_to_improve_on():
    score = Windfall(curiosity=0.9).focus(None, after(0), situation(ARMS), None)
    np.testing.assert_allclose(score(ARMS), MEAN + 0.9 * WANING * DEVIATION, rtol=1e-12)


def test_an_arm_known_exactly_draws_no_attention():
    score = Windfall().focus(
        None, after(5, deviation=lambda x: 0.0 * x[:, 0]), situation(ARMS), None
    )
    np.testing.assert_array_equal(score.ratio(ARMS), 1.0)
    gain = np.maximum(MEAN - MEAN[:5].max(), 0.0)
    np.testing.assert_allclose(score(ARMS), MEAN + 30.0 * 5 / 40 * gain, rtol=1e-9)


@settings(max_examples=20, deadline=None, derandomize=True)
@given(st.floats(-100.0, 100.0), st.floats(0.01, 100.0))
def test_choices_do_not_depend_on_the_units_of_the_rewards(shift, unit):
    def wavy(x):
        return jax.numpy.sin(5.0 * x[:, 0]) + x[:, 1]

    def bumpy(x):
        return 0.1 + (x[:, 0] - x[:, 1]) ** 2

    other = after(
        6,
        mean=lambda x: shift + unit * wavy(x),
        deviation=lambda x: unit * bumpy(x),
        prior=lambda x: jax.numpy.full(x.shape[0], unit),
    )
    here = Windfall().focus(None, after(6), situation(ARMS), None)(ARMS)
    there = Windfall().focus(None, other, situation(ARMS), None)(ARMS)
    np.testing.assert_allclose(there, shift + unit * np.asarray(here), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("mean", [Constant(), Linear()])
def test_a_mean_function_leaves_curiosity_as_it_is(mean):
    """Its prior variance of 100 is no measure of how much of the payoffs is known."""
    rewards = [0.3, -0.2, 0.5]
    plain = Windfall().focus(None, believing(ARMS, rewards), situation(ARMS), None).kappa
    other = Windfall().focus(None, believing(ARMS, rewards, mean), situation(ARMS), None).kappa
    assert other >= plain > 1.2


@pytest.mark.parametrize(
    ("rewards", "noise", "leads"),
    [
        ([0.0] * 9 + [1.0], 1e-4, 1.0),  # one among equals
        (np.sin(np.arange(10.0)), 1e-4, 0.0),  # payoffs that differ
        (np.sin(np.arange(10.0)), 1e2, 2.0),  # noise, says the model, and so is its mean
        ([0.0] * 10, 1e-4, 0.0),  # nothing leads
    ],
)
def test_a_reward_that_stands_alone_leaves_the_benefit_of_the_doubt(rewards, noise, leads):
    belief = believing(ARMS, rewards, noise=noise)
    score = Windfall().focus(None, belief, situation(ARMS), None)
    lead = np.max(rewards) - np.mean(rewards)
    np.testing.assert_allclose(score.bonus, leads * lead, atol=0.05 * lead)
    without = dataclasses.replace(score, bonus=np.float64(0.0))
    gain = np.asarray(score(ARMS)) - np.asarray(without(ARMS))
    # By the distance from the nearest of ten; twice as far where all may be luck.
    nearest = np.min(np.linalg.norm(ARMS[:, None] - ARMS[:10], axis=-1), axis=1)
    reach = 0.25 * max(leads, 1.0) / np.sqrt(10.0)
    novelty = 1.0 - np.exp(-0.5 * (nearest / reach) ** 2)
    np.testing.assert_allclose(gain, leads * lead * novelty, atol=0.05 * lead)
    np.testing.assert_allclose(gain[:10], 0.0, atol=1e-12)


def test_it_is_the_default_and_brings_its_own_model():
    policy = as_policy()
    assert isinstance(policy.acquisition, Windfall)
    for same in (as_policy("windfall"), as_policy(Windfall()), Policy(Windfall())):
        assert repr(same) == repr(policy)
    kernel = MainEffects(Matern52(0.5), 0.6) + Trend(0.3)
    assert repr(policy.model.kernel) == repr(kernel)
    # Medians and spreads of the weak priors, as decisions 8 and 15 have them.
    assert isinstance(policy.model.fit.prior, DimensionPrior)
    assert policy.model.fit.prior.terms == {
        "lengthscale": (0.3, 1.0),
        "variance": (1.0, 0.3),
        "noise": (1e-4, 2.0),
        "slope": (0.3, 1.0),
        "effect": (0.6, 1.0),
    }
    # A problem's own settings for V-UCB and LW-UCB are not meant for it.
    assert repr(as_policy("windfall", kappa=2.0, components=2)) == repr(policy)


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"curiosity": 0.0}, "curiosity is 0.0"), ({"patience": -1.0}, "patience is -1.0")],
)
def test_settings_are_checked(settings, message):
    with pytest.raises(InputError, match=message):
        Windfall(**settings)


def test_in_the_first_rounds_nothing_is_tried_twice():
    def rounds(size, budget=np.inf):
        early = Windfall().early
        return [n for n in range(1, 30) if early(np.int32(n), size, np.float64(budget - n + 1))]

    assert rounds(2500) == list(range(1, 17))
    assert rounds(40) == list(range(1, 9))
    assert rounds(4) == []
    # Not in the last pulls of a budget, over which curiosity wanes.
    assert rounds(2500, 50) == list(range(1, 17))
    assert rounds(2500, 14) == [1, 2, 3, 4]
    assert rounds(2500, 10) == []
    # A line, whose end is soon known to be the best: eight rounds, and then it is tried again.
    bandit = wf.Bandit(ARMS[np.argsort(ARMS[:, 0])], seed=0)
    arms = []
    for _ in range(20):
        choice = bandit.ask()
        bandit.tell(choice, 10.0 * choice.features[0])
        arms.append(choice.arm)
    assert len(set(arms[:11])) == 11  # three of them initial ones
    assert len(set(arms)) < 20


@pytest.mark.parametrize("bonus", [0.0, 0.5])
def test_of_many_inputs_the_nearest_is_sought_where_there_is_a_bonus_for_it(bonus):
    model, x = wf.GP(), np.random.default_rng(2).uniform(size=(9, 2))

    @jax.jit
    def compared(belief):
        for point, reward in ((x[0], 1.0), (x[1], 0.2), (x[2], 0.6)):
            belief = belief.observe(point, Reward(np.float64(reward)))
        belief = model.condition(belief)
        numbers = (jnp.asarray(value) for value in (bonus, 0.25, 1.0, 1.5, 2.0))
        score = WindfallScore(belief, *numbers)
        mean, deviation = belief.moments(x)
        plain = mean + 1.5 * deviation + 2.0 * expected_improvement(mean, deviation, 1.0)
        return score(x), plain + bonus * belief.novelty(x, 0.25), score.ratio(x), deviation, mean

    with jax.enable_x64(True):
        begun = jax.tree.map(jnp.asarray, model.begin(as_space(x), 2048))
        found, expected, ratio, deviation, mean = compared(begun)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(mean + 1.5 * ratio * deviation, expected, rtol=1e-9)
