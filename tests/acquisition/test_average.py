"""Scores under full Bayes against plain averages over the members."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from acquisition.fakes import situation
from models.gp.believing import believing
from models.gp.naive import observed, pulls
from models.gp.test_bayes import HYPERS, SCALE, ensemble
from policies import DIRECT, small

from windfall.acquisition.average import Average, focus
from windfall.acquisition.ei import EI, ExpectedImprovement
from windfall.acquisition.lw import Survey
from windfall.acquisition.thompson import TS
from windfall.acquisition.ucb import VUCB
from windfall.attention.domain_prior import Tabulated
from windfall.attention.ratio import Domain
from windfall.models.gp.belief import GPBelief

KEY = jax.random.key(3)
ARMS = np.random.default_rng(0).uniform(size=(40, 2))
POINTS = np.random.default_rng(1).uniform(size=(64, 2))
NOW = situation(ARMS, round=5)
PRIOR = np.linspace(0.5, 1.5, 40)
SETUP = Survey(Domain(POINTS, np.ones(64)), Tabulated.of(ARMS, PRIOR))
#: Each kind of score: a sum, a logarithm, one with a ratio. The contract asks every acquisition.
ACQUISITIONS = [small("windfall"), small("ei"), DIRECT]


def data():
    return observed(*pulls(repeats=True))


def whole():
    """One belief of several members."""
    return GPBelief(data(), ensemble(data()), np.int32(0))


def member(hyper):
    return believing(hyper, data(), SCALE)


@pytest.mark.parametrize("acquisition", ACQUISITIONS, ids=repr)
def test_scores_and_ratios_are_averages_over_the_members(acquisition):
    @jax.jit
    def ours():
        score = focus(acquisition, KEY, whole(), NOW, SETUP)
        return score(ARMS), score.ratio(ARMS)

    @jax.jit
    def alone(key, hyper):
        score = acquisition.focus(key, member(hyper), NOW, SETUP)
        return score(ARMS), score.ratio(ARMS)

    score, ratio = ours()
    plain = [alone(*one) for one in zip(jax.random.split(KEY, 3), HYPERS, strict=True)]
    scores, ratios = zip(*plain, strict=True)
    if isinstance(acquisition, EI):
        expected = np.log(np.mean(np.exp(scores), axis=0))
    else:
        expected = np.mean(scores, axis=0)
    np.testing.assert_allclose(score, expected, rtol=1e-8)
    np.testing.assert_allclose(ratio, np.mean(ratios, axis=0), rtol=1e-8)
    assert np.ptp(scores, axis=0).max() > 0.1  # the members differ


def test_a_thompson_draw_is_that_of_one_member():
    @jax.jit
    def draw(key):
        return focus(TS(features=64), key, whole(), NOW, None)(ARMS)

    @jax.jit
    def members(key):
        _, key = jax.random.split(key)  # the first one draws the member
        return jnp.stack([member(hyper).sample(key, NOW.anchors, 64)(ARMS) for hyper in HYPERS])

    met = set()
    for seed in range(12):
        gaps = np.abs(members(jax.random.key(seed)) - draw(jax.random.key(seed))).max(axis=1)
        assert np.sum(gaps < 1e-9) == 1
        met.add(int(np.argmin(gaps)))
    assert met == {0, 1, 2}


def test_improvements_too_small_for_a_number_are_averaged_all_the_same():
    score = ExpectedImprovement(member(HYPERS[0]), np.float64(0.0))
    values = np.array([[-2000.0, -1.0], [-2001.0, -3.0]])
    expected = [-2000.0 + np.log((1 + np.exp(-1)) / 2), np.log((np.exp(-1) + np.exp(-3)) / 2)]
    np.testing.assert_allclose(score.average(values), expected, rtol=1e-12)


@pytest.mark.parametrize("acquisition", [VUCB(), EI(), TS(features=8)], ids=repr)
def test_a_belief_without_members_is_left_to_the_acquisition(acquisition):
    belief = member(HYPERS[0])
    score = focus(acquisition, KEY, belief, NOW, None)
    assert not isinstance(score, Average)
    expected = acquisition.focus(KEY, belief, NOW, None)(ARMS)
    np.testing.assert_array_equal(score(ARMS), expected)


@pytest.mark.parametrize("acquisition", [VUCB(), EI()], ids=repr)
def test_gradients_go_through_the_average(acquisition):
    @jax.jit
    def value(x):
        return focus(acquisition, KEY, whole(), NOW, None)(x[None])[0]

    at = np.array([0.3, 0.6])
    expected = [(value(at + e) - value(at - e)) / 2e-6 for e in 1e-6 * np.eye(2)]
    np.testing.assert_allclose(jax.jit(jax.grad(value))(at), expected, rtol=1e-4, atol=1e-6)
