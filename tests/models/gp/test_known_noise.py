"""Known noise and replicates against a Gaussian process with one row per reward."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from models.gp.test_sampling import assert_mean
from scipy.optimize import minimize
from scipy.stats import multivariate_normal, norm

from windfall.models.base import EXACT, Reward
from windfall.models.gp.evidence import Hyper, covariance, log_evidence
from windfall.models.gp.kernels import SquaredExponential
from windfall.models.gp.observations import (
    LEAST_NOISE,
    Observations,
    Scale,
    natural_scale,
)
from windfall.models.gp.posterior import condition

ARMS = np.array([[0.0, 0.0], [0.4, 0.1], [0.9, 0.8], [0.3, 1.0]])
AT = np.random.default_rng(9).uniform(size=(5, 2))
HYPERS = [
    Hyper(SquaredExponential([0.3, 0.7], 1.5), np.float64(0.05)),
    Hyper(SquaredExponential([0.6, 0.2], 0.7), np.float64(0.4)),
]
SCALE = Scale(np.float64(0.5), np.float64(2.0))
rewards = st.floats(-3, 3)
arms = st.integers(0, len(ARMS) - 1)
#: What is told: one reward, several replicates at once, or a reward with known variance.
histories = st.lists(
    st.one_of(
        st.tuples(arms, rewards),
        st.tuples(arms, st.lists(rewards, min_size=2, max_size=4)),
        st.tuples(arms, rewards, st.floats(1e-3, 2.0)),
    ),
    min_size=1,
    max_size=8,
)
MIXED = [(0, 1.0), (0, 0.7, 0.1), (1, [2.0, 1.0, 1.6]), (0, [0.2, 0.4]), (2, -1.0, 0.3), (1, 2.2)]
MIXED += [(0, 0.9, 0.02), (3, -0.5, 1.0), (2, -0.8, 0.6)]
observe = jax.jit(Observations.observe)
evidence = jax.jit(log_evidence)


def tell(observations, arm, reward, variance=None):
    if variance is not None:
        told = Reward(np.float64(reward), variance=np.float64(variance or EXACT))
    elif isinstance(reward, list):
        squares = np.sum((reward - np.mean(reward)) ** 2)
        told = Reward(np.mean(reward), np.float64(len(reward)), squares)
    else:
        told = Reward(np.float64(reward))
    return observe(observations, ARMS[arm], told)


def told(history, capacity=16):
    observations = Observations.empty(capacity, 2)
    for event in history:
        observations = tell(observations, *event)
    return observations


def one_by_one(history, noise):
    """Input, reward and noise variance of every single reward."""
    rows = []
    for arm, reward, *variance in history:
        values = reward if isinstance(reward, list) else [reward]
        rows += [(ARMS[arm], value, variance[0] if variance else noise) for value in values]
    x, y, variances = zip(*rows, strict=True)
    return np.array(x), np.array(y), np.array(variances)


def dense(hyper, history, at, unit=1.0):
    x, y, variances = one_by_one(history, hyper.noise * unit**2)
    k = lambda a, b: unit**2 * np.asarray(hyper.kernel.gram(a, b))  # noqa: E731
    matrix = k(x, x) + np.diag(variances)
    density = multivariate_normal(np.zeros(len(y)), matrix).logpdf(y)
    cross = k(at, x)
    precision = np.linalg.inv(matrix)
    return density, cross @ precision @ y, k(at, at) - cross @ precision @ cross.T


@jax.jit
def predict(hyper, observations, x, scale):
    return condition(hyper, observations, scale).moments(x)


@settings(max_examples=60)
@given(histories)
def test_the_evidence_is_the_density_of_all_rewards_up_to_a_constant(history):
    """The scatter of rewards with known noise around their mean says nothing about the model."""
    ours = [float(evidence(hyper, told(history))) for hyper in HYPERS]
    expected = [dense(hyper, history, AT)[0] for hyper in HYPERS]
    np.testing.assert_allclose(ours[0] - ours[1], expected[0] - expected[1], rtol=1e-8, atol=1e-8)
    known = [event for event in history if len(event) == 3]
    if len({arm for arm, *_ in known}) == len(known):  # none of them was merged
        np.testing.assert_allclose(ours, expected, rtol=1e-8, atol=1e-8)


@settings(max_examples=60)
@given(histories)
def test_moments_are_those_of_all_rewards(history):
    hyper = HYPERS[0]
    scale = Scale(np.float64(0.0), np.float64(2.0))
    mean, deviation = predict(hyper, told(history), AT, scale)
    _, expected, matrix = dense(hyper, history, AT, unit=2.0)
    np.testing.assert_allclose(mean, expected, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(deviation, np.sqrt(np.diag(matrix)), rtol=1e-6)


@settings(max_examples=30)
@given(histories, st.randoms(use_true_random=False))
def test_the_order_of_the_rewards_does_not_matter(history, random):
    shuffled = random.sample(history, len(history))
    one, other = (predict(HYPERS[0], told(h), AT, SCALE) for h in (history, shuffled))
    np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-9)


@settings(max_examples=40)
@given(st.lists(rewards, min_size=2, max_size=9), st.integers(1, 8))
def test_replicates_told_in_two_parts_are_those_told_one_by_one(values, cut):
    parts = [part for part in (values[:cut], values[cut:]) if part]
    together, single = told([(1, part) for part in parts]), told([(1, v) for v in values])
    for a, b in zip(jax.tree.leaves(together), jax.tree.leaves(single), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(single.squares[0], len(values) * np.var(values), atol=1e-12)


def test_rewards_of_known_noise_have_a_slot_of_their_own():
    observations = told(MIXED)
    assert observations.used == 5
    np.testing.assert_array_equal(observations.count[:5], [3, 2, 4, 2, 1])
    np.testing.assert_allclose(observations.known[:5], [0, 1 / 60, 0, 0.2, 1.0], rtol=1e-12)
    np.testing.assert_allclose(observations.mean[1], (0.7 / 0.1 + 0.9 / 0.02) / 60, rtol=1e-12)
    np.testing.assert_array_equal(observations.squares[jnp.array([1, 3, 4])], 0.0)


@pytest.mark.parametrize("arm", range(4))
@pytest.mark.parametrize("known", [False, True])
def test_a_reward_goes_to_the_slot_of_its_input_and_kind_of_noise_or_to_a_new_one(arm, known):
    observations = told([(0, 1.0), (1, 2.0, 0.1), (2, 3.0), (2, 3.0, 0.1)])
    expected = {(0, False): 0, (1, True): 1, (2, False): 2, (2, True): 3}.get((arm, known), 4)
    assert observations.slot(ARMS[arm], known) == expected
    assert observations.slot(ARMS[arm] + 1e-12, known) == 4
    assert Observations.empty(16, 2).slot(np.zeros(2), known) == 0


@pytest.mark.parametrize(
    "event",
    [(3, 1.0), (3, [1.0, 2.0]), (3, 1.0, 0.5), (0, 1.0, 0.5), (2, 1.0, 0.5), (0, 1.0), (1, [1.0])],
    ids=["new", "new replicates", "new known", "new slot", "known again", "again", "replicates"],
)
def test_extending_equals_conditioning(event):
    before = told([e for e in MIXED if e[0] != 3 and e[:1] + e[2:] != (0, 0.1)])
    after = tell(before, *event)

    @jax.jit
    def both(before, after):
        extended = condition(HYPERS[0], before, SCALE).extend(after)
        return extended, condition(HYPERS[0], after, SCALE)

    extended, expected = both(before, after)
    np.testing.assert_allclose(extended.whitener, expected.whitener, atol=1e-10)
    np.testing.assert_allclose(extended.moments(AT), expected.moments(AT), rtol=1e-9)


def test_draws_have_the_mean_and_covariance_of_the_posterior():
    observations, hyper = told(MIXED), HYPERS[0]

    @jax.jit
    def draw(keys):
        posterior = condition(hyper, observations, Scale(np.float64(0.0), np.float64(1.0)))
        return jax.vmap(lambda key: posterior.sample(key, ARMS, features=16)(AT))(keys)

    draws = np.asarray(draw(jax.random.split(jax.random.key(1), 8_000)))
    _, mean, matrix = dense(hyper, MIXED, AT)
    assert_mean(draws, mean)
    assert_mean(np.einsum("ni,nj->nij", draws - mean, draws - mean), matrix)


def test_an_exact_reward_is_believed_and_merges_with_others():
    observations = told([(0, 1.0, 0.0), (0, 3.0, 1.0), (1, 2.0, 0.5), (0, 1.5, 0.0)])
    assert observations.used == 2
    np.testing.assert_allclose(observations.mean[0], 1.25)  # exact ones outweigh the other
    scale = natural_scale(observations)
    assert scale.apply(observations).known[0] == LEAST_NOISE
    mean, deviation = predict(HYPERS[0], observations, ARMS[:1], scale)
    np.testing.assert_allclose(mean, 1.25, atol=1e-6)
    assert deviation[0] < 1e-3


@pytest.mark.parametrize("unit", [1e-140, 1e-9, 1e100])
def test_the_unit_of_the_rewards_does_not_show(unit):
    def scaled(history):
        observations = told(history)
        return natural_scale(observations).apply(observations)

    history = [(0, 1.0), (0, 1.4, 0.3), (2, [2.0, 3.0]), (1, 5.0, 0.0)]
    moved = [(0, unit), (0, 1.4 * unit, 0.3 * unit**2), (2, [2.0 * unit, 3.0 * unit])]
    plain, other = scaled(history), scaled([*moved, (1, 5.0 * unit, 0.0)])
    for a, b in zip(jax.tree.leaves(plain), jax.tree.leaves(other), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


def test_telling_an_input_both_ways_moves_the_scale_no_further_however_often():
    """It counts as one more input, at most as much as one that is known exactly."""
    history = [(0, 1.0), (1, 2.0), (2, 4.0)]
    exact = natural_scale(told([*history, (1, 2.0, 0.0)]))
    for times, near in ((20, 1e-2), (2000, 1e-4)):
        often = natural_scale(told(history + [(1, 2.0, 0.1)] * times))
        np.testing.assert_allclose(often.location, exact.location, rtol=near)
        np.testing.assert_allclose(often.spread, exact.spread, rtol=near)


def test_free_slots_have_no_noise_of_their_own():
    matrix = np.asarray(covariance(HYPERS[0], told(MIXED)))
    np.testing.assert_array_equal(matrix[5:], np.eye(16)[5:])


def side_by_side(rewards, variances):
    """Rewards of known noise, each at an input of its own."""
    observations = Observations.empty(16, 2)
    for i, (reward, variance) in enumerate(zip(rewards, variances, strict=True)):
        x = np.array([i / 16, 0.5])
        known = np.float64(max(variance, EXACT))
        told = Reward(np.float64(reward), np.float64(1.0), np.float64(0.0), known)
        observations = observe(observations, x, told)
    return observations


def test_location_and_spread_are_the_most_probable_ones_given_the_noise():
    noise = [0.0, 0.5, 2.0, 9.0, 30.0, 0.1]
    y = [1.0, -0.4, 3.0, -5.0, 8.0, 2.0]
    scale = natural_scale(side_by_side(y, noise))

    def surprise(parameters):
        deviation = np.sqrt(np.exp(parameters[1]) + noise)
        return -np.sum(norm.logpdf(y, parameters[0], deviation))

    best = minimize(surprise, [0.0, 0.0], tol=1e-12)
    found = [float(scale.location), 2.0 * np.log(float(scale.spread))]
    # At a minimum an error of δ in the parameters costs δ² only: half the digits.
    np.testing.assert_allclose(found, best.x, atol=1e-4)
    assert surprise(found) <= best.fun + 1e-9


@pytest.mark.parametrize("reward", [0.0, 1000.0, -3000.0])
def test_a_reward_that_says_nothing_does_not_move_the_scale(reward):
    y, exact = np.sin(np.arange(6.0)), np.zeros(6)
    plain = natural_scale(side_by_side(y, exact))
    other = natural_scale(side_by_side([*y, reward], [*exact, 1e6]))
    # Its weight is T²/10⁶, and it lies up to 3,000 away.
    np.testing.assert_allclose(other.location, plain.location, atol=1e-2 * plain.spread)
    np.testing.assert_allclose(other.spread, plain.spread, rtol=1e-2)
