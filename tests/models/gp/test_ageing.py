"""Kernels of time, and the evidence of rewards that age."""

import jax
import numpy as np
import pytest

from windfall.models.base import Reward
from windfall.models.drifting import Drifting
from windfall.models.gp.ageing import Ageing, change_evidence, moved
from windfall.models.gp.evidence import log_evidence
from windfall.models.gp.means import Zero
from windfall.models.gp.model import GP
from windfall.space import Arms
from windfall.space.context import Frame
from windfall.space.joint import Joint

NEVER = np.float64(-np.inf)


def test_rewards_that_do_not_age_are_as_probable_as_without_time():
    """The evidence of (input, time) slots without ageing is that of merged slots: an identity."""
    inputs = Joint(Arms([[0.0], [1.0]]), None, Frame(timed=True))
    belief = Drifting(GP()).begin(inputs, 16)
    rng = np.random.default_rng(0)
    observe = jax.jit(lambda belief, x, y: belief.observe(x, Reward(y)))
    for t in range(10):
        belief = observe(belief, np.array([rng.integers(4) / 4, float(t)]), rng.normal())
    hyper = belief.still.posterior.hyper
    still = log_evidence(hyper, belief.still.rewards)
    moving = log_evidence(moved(hyper, np.float64(0.0), NEVER), belief.moving.rewards)
    # Ten rewards of noise 1e-4 and variance 1: condition numbers of 1e5 leave 1e-9.
    np.testing.assert_allclose(moving, still, rtol=1e-9)
    assert belief.still.used == 4 < belief.moving.used == 10
    parts = belief.moving.rewards
    before = parts.features[:, 1] < 6.0
    split = log_evidence(moved(hyper, np.float64(0.0), np.float64(6.0)), parts)
    assert np.sum(before[:10]) == 6
    assert split != moving


def test_every_change_is_judged_as_if_it_were_the_only_one():
    """Two factors say of all changes what a factorisation for each says: a naive twin."""
    inputs = Joint(Arms([[0.0], [1.0]]), None, Frame(timed=True))
    belief = Drifting(GP()).begin(inputs, 16)
    rng = np.random.default_rng(1)
    observe = jax.jit(lambda belief, x, y: belief.observe(x, Reward(y)))
    times = [0.0, 1.0, 2.0, 2.0, 3.0, 5.0, 9.0]
    for i, t in enumerate(times):  # the third and the fourth came at once
        belief = observe(belief, np.array([i / 7, t]), rng.normal())
    hyper = belief.still.posterior.hyper
    rewards = belief.moving.rewards
    values = np.asarray(change_evidence(moved(hyper, np.float64(0.0), NEVER), rewards, Zero()))
    assert np.isneginf(values[[0, 3]]).all()
    assert np.isneginf(values[len(times) :]).all()
    changes = np.array([1, 2, 4, 5, 6])
    moving = [moved(hyper, np.float64(0.0), np.float64(times[c])) for c in changes]
    exact = [log_evidence(each, rewards) for each in moving]
    # Condition numbers of 1e5 leave 1e-9; the constant is that of all rewards alike.
    np.testing.assert_allclose(values[changes] - values[1], np.array(exact) - exact[0], rtol=1e-9)


@pytest.mark.parametrize(("rate", "since"), [(0.3, -np.inf), (0.0, 4.0), (0.5, 4.0)])
def test_time_has_the_covariance_that_its_features_have(rate, since):
    kernel = Ageing(np.float64(rate), np.float64(since))
    t = np.array([0.0, 1.0, 3.0, 5.0, 9.0])[:, None]
    sides = (t >= since) == (since <= t.T)
    expected = np.exp(-rate * np.abs(t - t.T)) * sides
    np.testing.assert_allclose(kernel.gram(t, t), expected, rtol=1e-15)
    np.testing.assert_allclose(kernel(t[0], t[2]), expected[0, 2], rtol=1e-15)
    np.testing.assert_array_equal(kernel.diagonal(t), np.diag(expected))
    count = 40_000
    features = np.asarray(kernel.random_features(jax.random.key(0), count, t)(t))
    # Products of two features lie within ±2: five standard errors.
    np.testing.assert_allclose(features @ features.T / count, expected, atol=10 / np.sqrt(count))
