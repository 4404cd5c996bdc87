"""Predictions against scikit-learn and plain linear algebra; the factor's extension."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import sklearn.gaussian_process.kernels as sk
from hypothesis import given, settings
from hypothesis import strategies as st
from models.gp import naive
from models.gp.naive import largest_array, observed, pulls
from rounding import relative_distance, solving
from sklearn.gaussian_process import GaussianProcessRegressor

from windfall.models import blocks
from windfall.models.base import Reward
from windfall.models.gp.evidence import Hyper, covariance
from windfall.models.gp.kernels import (
    Custom,
    Linear,
    Matern52,
    Periodic,
    RationalQuadratic,
    SquaredExponential,
    White,
)
from windfall.models.gp.observations import Observations, Scale
from windfall.models.gp.posterior import Posterior, condition

NOISE = np.float64(0.05)
HYPER = Hyper(SquaredExponential([0.3, 0.7], 1.5), NOISE)
COMPOSITE = Periodic(0.6, 0.8) + Linear(0.5) * Matern52(0.4) + White(0.1)
AT = np.random.default_rng(9).uniform(size=(9, 2))
repeats = pytest.mark.parametrize("repeats", [False, True], ids=["distinct", "repeats"])
conditioned = jax.jit(condition)
moments = jax.jit(Posterior.moments)
mean_of = jax.jit(Posterior.mean)


@jax.jit
def predict(hyper, observations, x):
    return condition(hyper, observations).moments(x)


@jax.jit
def extended(posterior, x, reward, observations):
    more = observations.add(x, reward)
    return posterior.extend(more), more


@repeats
@pytest.mark.parametrize(
    ("kernel", "reference"),
    [
        (SquaredExponential([0.3, 0.7], 1.5), 1.5 * sk.RBF([0.3, 0.7])),
        (Matern52([0.3, 0.7], 0.8), 0.8 * sk.Matern([0.3, 0.7], nu=2.5)),
        (RationalQuadratic(0.5, 2.0, 0.8), 2.0 * sk.RationalQuadratic(0.5, alpha=0.8)),
    ],
    ids=["squared-exponential", "matern-5/2", "rational-quadratic"],
)
def test_moments_equal_scikit_learn(kernel, reference, repeats):
    x, y = pulls(repeats)
    location, spread = naive.scale(x, y)
    regressor = GaussianProcessRegressor(reference, alpha=float(NOISE), optimizer=None)
    regressor.fit(x, (y - location) / spread)
    expected_mean, expected_deviation = regressor.predict(AT, return_std=True)
    mean, deviation = predict(Hyper(kernel, NOISE), observed(x, y), AT)
    np.testing.assert_allclose(mean, location + spread * expected_mean, rtol=1e-9)
    np.testing.assert_allclose(deviation, spread * expected_deviation, rtol=1e-8)


def test_the_scale_can_be_given():
    x, y = pulls(repeats=True)
    mean, _ = naive.posterior(
        lambda a, b: np.asarray(HYPER.kernel.gram(a, b)), NOISE, x, (y - 5.0) / 3.0, AT
    )
    ours = conditioned(HYPER, observed(x, y), Scale(np.float64(5.0), np.float64(3.0)))
    np.testing.assert_allclose(mean_of(ours, AT), 5.0 + 3.0 * mean, rtol=1e-9)


@repeats
@pytest.mark.parametrize("kernel", [HYPER.kernel, COMPOSITE], ids=["plain", "composite"])
def test_moments_equal_the_formula_on_all_rewards(kernel, repeats):
    x, y = pulls(repeats)
    at = np.concatenate([AT, x[:3]])  # White remembers the inputs themselves
    location, spread = naive.scale(x, y)
    mean, matrix = naive.posterior(
        lambda a, b: np.asarray(kernel.gram(a, b)), NOISE, x, (y - location) / spread, at
    )
    ours = conditioned(Hyper(kernel, NOISE), observed(x, y))
    _, deviation = moments(ours, at)
    np.testing.assert_allclose(mean_of(ours, at), location + spread * mean, rtol=1e-9)
    np.testing.assert_allclose(moments(ours, at)[0], mean_of(ours, at), rtol=1e-12)
    np.testing.assert_allclose(deviation, spread * np.sqrt(np.diag(matrix)), rtol=1e-7, atol=1e-9)


def test_before_the_first_reward_the_posterior_is_the_prior():
    mean, deviation = predict(HYPER, Observations.empty(16, 2), AT)
    np.testing.assert_array_equal(mean, 0.0)
    np.testing.assert_allclose(deviation, np.sqrt(1.5), rtol=1e-12)


@repeats
def test_capacity_does_not_show(repeats):
    x, y = pulls(repeats)
    small, large = (predict(HYPER, observed(x, y, capacity), AT) for capacity in (16, 64))
    np.testing.assert_allclose(small, large, rtol=1e-11)


def test_capacity_does_not_show_when_jitter_is_needed():
    # Two features carry at most two functions: without jitter sixteen inputs have no factor.
    x = np.random.default_rng(4).uniform(size=(16, 2))
    hyper = Hyper(Linear(1e-2), np.float64(1e-30))
    small, large = (
        conditioned(hyper, observed(x, x @ [1.0, 2.0], capacity)) for capacity in (16, 64)
    )
    assert small.healthy
    assert large.healthy
    matrix = np.asarray(covariance(hyper, small.observations))
    jittered = matrix + 1e-10 * matrix.diagonal().max() * np.eye(16)
    tolerance = solving(jittered)
    assert tolerance < 1e-3
    # The least jitter that works, and no more of it where there are free slots.
    inverse = np.linalg.inv(jittered)
    assert relative_distance(small.whitener.T @ small.whitener, inverse) < tolerance
    assert relative_distance(large.whitener[:16, :16], small.whitener) < tolerance
    np.testing.assert_array_equal(large.whitener[16:], np.eye(64)[16:])
    assert relative_distance(mean_of(large, AT), mean_of(small, AT)) < tolerance


@pytest.mark.parametrize(
    ("broken", "jitter"),
    [(-0.1, 0.0), (5e-11, 1e-10), (5e-9, 1e-8), (5e-7, 1e-6), (5e-5, 1e-4), (5e-4, None)],
)
def test_as_little_jitter_as_works(broken, jitter):
    """K = I − (1 + e)/n 11ᵀ has the lowest eigenvalue −e: only more jitter than e mends it."""
    x, y = np.random.default_rng(4).uniform(size=(16, 2)), np.arange(16.0)
    kernel = Custom(lambda a, b: jnp.where(jnp.all(a == b), 1.0, 0.0) - (1.0 + broken) / 16)
    posterior = conditioned(Hyper(kernel, np.float64(1e-30)), observed(x, y))
    assert bool(posterior.healthy) == (jitter is not None)
    if jitter is not None:
        matrix = np.eye(16) - (1.0 + broken) / 16
        matrix += jitter * matrix[0, 0] * np.eye(16)
        inverse = posterior.whitener.T @ posterior.whitener
        assert relative_distance(inverse, np.linalg.inv(matrix)) < solving(matrix)


def test_rewards_that_differ_by_1e_10_of_their_size_are_different_rewards():
    """The deviation is theirs; rounding leaves them eps/1e-10 ≈ 2e-6 of their differences."""
    x, y = pulls(repeats=False)
    _, deviation = predict(HYPER, observed(x, y), AT)
    _, small = predict(HYPER, observed(x, 1.0 + 1e-10 * y), AT)
    np.testing.assert_allclose(small, 1e-10 * deviation, rtol=1e-4)


@settings(max_examples=25)
@given(st.permutations(range(12)), st.permutations(range(9)))
def test_the_order_of_rewards_and_of_arms_does_not_matter(order, rows):
    x, y = pulls(repeats=True)
    plain = np.asarray(predict(HYPER, observed(x, y), AT))
    shuffled = np.asarray(predict(HYPER, observed(x[order], y[order]), AT[rows]))
    np.testing.assert_allclose(shuffled, plain[:, rows], rtol=1e-9)


@settings(max_examples=25)
@given(st.floats(-1e3, 1e3), st.floats(1e-3, 1e3), st.sampled_from([-1.0, 1.0]), st.booleans())
def test_other_units_of_reward_change_the_answer_by_the_same_affine_map(shift, unit, sign, again):
    x, y = pulls(again)
    mean, deviation = predict(HYPER, observed(x, y), AT)
    moved = predict(HYPER, observed(x, shift + sign * unit * y), AT)
    tolerance = 1e-9 * (abs(shift) + unit)
    np.testing.assert_allclose(moved[0], shift + sign * unit * mean, rtol=1e-9, atol=tolerance)
    np.testing.assert_allclose(moved[1], unit * deviation, rtol=1e-6)


@pytest.mark.parametrize("is_new", [True, False], ids=["new input", "repeated input"])
@repeats
@pytest.mark.parametrize("kernel", [HYPER.kernel, COMPOSITE], ids=["plain", "composite"])
def test_extending_equals_refactoring(kernel, repeats, is_new):
    x, y = pulls(repeats)
    hyper = Hyper(kernel, NOISE)
    point = AT[0] if is_new else x[1]
    before = observed(x, y)
    after, _ = extended(conditioned(hyper, before), point, np.float64(4.0), before)
    factor = np.linalg.cholesky(np.asarray(covariance(hyper, after.observations)))
    np.testing.assert_allclose(after.whitener @ factor, np.eye(16), atol=1e-10)
    assert after.healthy
    # The scale is that of the rewards before.
    location, spread = naive.scale(x, y)
    scaled = (np.append(y, 4.0) - location) / spread
    mean, matrix = naive.posterior(
        lambda a, b: np.asarray(kernel.gram(a, b)), NOISE, np.vstack([x, point]), scaled, AT
    )
    ours = moments(after, AT)
    np.testing.assert_allclose(ours[0], location + spread * mean, rtol=1e-9)
    np.testing.assert_allclose(ours[1], spread * np.sqrt(np.diag(matrix)), rtol=1e-7, atol=1e-9)


def test_extending_from_nothing_reward_by_reward():
    x, y = pulls(repeats=True)
    observations = Observations.empty(16, 2)
    posterior = conditioned(HYPER, observations)
    for point, reward in zip(x, y, strict=True):
        posterior, observations = extended(posterior, point, np.float64(reward), observations)
    mean, matrix = naive.posterior(
        lambda a, b: np.asarray(HYPER.kernel.gram(a, b)), NOISE, x, y, AT
    )
    ours = moments(posterior, AT)
    np.testing.assert_allclose(ours[0], mean, rtol=1e-8)
    np.testing.assert_allclose(ours[1], np.sqrt(np.diag(matrix)), rtol=1e-7)


def test_extending_by_an_input_that_needs_jitter_stays_healthy():
    x = np.random.default_rng(4).uniform(size=(3, 2))
    hyper = Hyper(SquaredExponential([20.0, 20.0]), np.float64(1e-30))
    data = observed(x[:2], np.array([1.0, 2.0]))
    close = x[0] + 1e-9  # its own variance, given x[0], is lost to rounding
    after, _ = extended(conditioned(hyper, data), close, np.float64(1.0), data)
    assert after.healthy
    assert np.all(np.isfinite(moments(after, AT)))


@pytest.mark.parametrize("budget_rows", [1, 4])
def test_blocks_change_nothing(monkeypatch, budget_rows):
    x, y = pulls(repeats=True)
    posterior = conditioned(HYPER, observed(x, y))

    def answers(at):
        path = posterior.sample(jax.random.key(0), at, features=32)
        return posterior.mean(at), *posterior.moments(at), path(at)

    whole = jax.jit(answers)(AT)
    monkeypatch.setattr(blocks, "MEMORY_BUDGET", budget_rows * 3 * 32 * 8)
    parts = jax.jit(lambda at: answers(at))(AT)  # another function: compiled anew
    np.testing.assert_allclose(parts, whole, rtol=1e-11)


def test_blocks_are_larger_on_an_accelerator_but_not_as_large_as_its_memory(monkeypatch):
    assert blocks.most_rows(256) == blocks.MOST_ROWS
    monkeypatch.setattr(blocks, "on_accelerator", lambda: True)
    rows = blocks.most_rows(256)
    assert rows > blocks.MOST_ROWS
    assert 3 * 8 * 256 * rows <= blocks.ACCELERATOR_BUDGET < 3 * 8 * 256 * (rows + 1)
    assert blocks.most_rows(10**9) == 1


@pytest.mark.parametrize("what", ["moments", "mean", "sample"])
def test_no_array_is_larger_than_the_memory_budget(monkeypatch, what):
    x, y = pulls(repeats=True)
    posterior = conditioned(HYPER, observed(x, y))
    arms = np.random.default_rng(0).uniform(size=(20_000, 2))
    budget = 2**20
    monkeypatch.setattr(blocks, "MEMORY_BUDGET", budget)

    def answer(points):
        if what == "sample":
            return posterior.sample(jax.random.key(0), points[:100])(points)
        return getattr(posterior, what)(points)

    # Answers and inputs themselves (d = 2 numbers for each arm) have to be held anyway.
    assert largest_array(answer, arms) * 8 <= max(budget / 3, 2 * 8 * len(arms) + 8 * 1000)


def test_many_arms_in_one_answer():
    x, y = pulls(repeats=True)
    arms = np.random.default_rng(0).uniform(size=(100_000, 2))
    mean, deviation = predict(HYPER, observed(x, y), arms)
    some = predict(HYPER, observed(x, y), arms[-7:])
    np.testing.assert_allclose(mean[-7:], some[0], rtol=1e-10)
    np.testing.assert_allclose(deviation[-7:], some[1], rtol=1e-8)


def test_a_kernel_without_factor_is_unhealthy():
    x, y = pulls(repeats=False)
    hyper = Hyper(Custom(lambda a, b: -jnp.sum((a - b) ** 2)), np.float64(1e-6))
    assert not conditioned(hyper, observed(x, y)).healthy
    assert conditioned(HYPER, observed(x, y)).healthy


def test_predictions_at_the_data_are_certain_without_noise():
    x, y = pulls(repeats=False)
    mean, deviation = predict(Hyper(HYPER.kernel, np.float64(1e-8)), observed(x, y), x)
    np.testing.assert_allclose(mean, y, atol=1e-4)
    assert np.all(deviation < 1e-3)


def test_a_deviation_is_never_below_what_rounding_allows():
    """A thousand million exact pulls: the variance left is far below the rounding of 1 − 1."""
    x = np.linspace(0.0, 1.0, 12)[:, None] ** 2
    observations = jax.tree.map(jax.numpy.asarray, Observations.empty(16, 1))
    for row in x:
        reward = Reward(np.sin(row[0]), np.float64(1e9))
        observations = observations.observe(row, reward)
    hyper = Hyper(Matern52([0.5], 2.0), np.float64(1e-8))
    posterior = conditioned(hyper, observations, Scale(np.float64(0.0), np.float64(1.0)))
    _, deviation = moments(posterior, x)
    assert np.all(np.asarray(deviation) ** 2 >= 0.99 * np.finfo(float).eps * 2.0)
    assert np.all(np.asarray(deviation) < 1e-4)
