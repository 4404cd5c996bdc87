"""Random features and functions drawn from the posterior, within computed margins.

Every average is compared within five standard errors, estimated from the same draws: a correct
implementation fails one comparison with a chance below 1e-6, and seeds are fixed.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from models.gp import naive
from models.gp.naive import largest_array, observed, pulls

from windfall.models.gp.evidence import Hyper
from windfall.models.gp.kernels import (
    Constant,
    Custom,
    Effects,
    Linear,
    MainEffects,
    Matern12,
    Matern32,
    Matern52,
    Own,
    Periodic,
    RationalQuadratic,
    SquaredExponential,
    Trend,
    White,
)
from windfall.models.gp.posterior import condition

POINTS = np.array([[0.1, 0.2], [0.1, 0.2], [0.15, 0.3], [0.6, 0.3], [0.9, 0.9]])
SCALES = [0.3, 0.7]


def brownian(a, b):
    return jnp.minimum(a[0], b[0]) + 0.1


KERNELS = {
    "squared-exponential": SquaredExponential(SCALES, 1.7),
    "matern-1/2": Matern12(SCALES, 0.6),
    "matern-3/2": Matern32(SCALES, 0.6),
    "matern-5/2": Matern52(SCALES, 0.6),
    "rational-quadratic": RationalQuadratic(SCALES, 2.0, 0.8),
    "periodic": Periodic(0.6, SCALES, 1.3),
    "linear": Linear(SCALES),
    "trend": Trend(0.8),
    "effects": Effects((0, 1), 0.8),
    "main effects": MainEffects(Matern52(SCALES, 0.6), 0.8),
    "main effects of a choice": MainEffects(Matern52(SCALES, 0.6), 0.8, ((0, 1),)),
    "constant": Constant(2.5),
    "white": White(0.4),
    "own": Own(0.4),
    "custom": Custom(brownian),
    "sum": SquaredExponential(0.4) + Constant(0.5) + Linear(0.3),
    "product": Matern52(0.5) * (Linear() + 0.5),
    "sum of the same": Constant(1.0) + Constant(1.0),
}


def assert_mean(draws, expected):
    """The mean over the first axis is the expected one, within five standard errors."""
    error = np.std(draws, axis=0) / np.sqrt(len(draws))
    gap = np.abs(np.mean(draws, axis=0) - expected)
    assert np.all(gap <= 5.0 * error + 1e-9), f"{gap} > 5 · {error}"


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS.keys())
def test_each_random_feature_has_mean_0_and_the_covariance_of_the_kernel(kernel):
    count = 50_000
    features = np.asarray(kernel.random_features(jax.random.key(0), count, POINTS)(POINTS))
    assert features.shape == (len(POINTS), count)
    assert_mean(features.T, np.zeros(len(POINTS)))
    products = np.einsum("ic,jc->cij", features, features)
    assert_mean(products, np.asarray(kernel.gram(POINTS, POINTS)))


def test_nystrom_features_are_exact_on_the_anchors(monkeypatch):
    # With the identity in place of the random mixture, z zᵀ is what the mixture has on average.
    monkeypatch.setattr(jax.random, "normal", lambda key, shape, dtype: jnp.eye(*shape))
    kernel = Custom(brownian)
    features = kernel.random_features(jax.random.key(0), len(POINTS), POINTS)
    z = features(POINTS)  # two anchors coincide: the Gram matrix is singular
    np.testing.assert_allclose(z @ z.T, kernel.gram(POINTS, POINTS), atol=1e-10)
    between = np.array([[0.4, 0.0]])
    z = features(between)
    assert jnp.sum(z**2) <= kernel(between[0], between[0]) + 1e-10


POSTERIORS = {
    "squared-exponential": SquaredExponential(SCALES, 1.7),
    "composite": 0.6 * Matern52(0.4) * Linear(2.0) + Constant(0.5),
    "custom": Custom(brownian),
}


@pytest.mark.parametrize("kernel", POSTERIORS.values(), ids=POSTERIORS.keys())
def test_draws_have_the_mean_and_covariance_of_the_posterior(kernel):
    x, y = pulls(repeats=True)
    noise = np.float64(0.05)
    at = np.concatenate([POINTS[1:], x[:2]])
    anchors = np.unique(np.concatenate([at, x]), axis=0)

    @jax.jit
    def draw(keys):
        posterior = condition(Hyper(kernel, noise), observed(x, y))
        # Few features on purpose: the moments over draws do not depend on their number.
        return jax.vmap(lambda key: posterior.sample(key, anchors, features=16)(at))(keys)

    draws = np.asarray(draw(jax.random.split(jax.random.key(1), 8_000)))
    location, spread = naive.scale(x, y)
    mean, matrix = naive.posterior(
        lambda a, b: np.asarray(kernel.gram(a, b)), noise, x, (y - location) / spread, at
    )
    mean, matrix = location + spread * mean, spread**2 * matrix
    assert_mean(draws, mean)
    assert_mean(np.einsum("ni,nj->nij", draws - mean, draws - mean), matrix)


GRID = np.stack(np.meshgrid(np.linspace(0, 1, 50), np.linspace(0, 1, 50)), -1).reshape(-1, 2)


@pytest.mark.parametrize(
    "kernel", [SquaredExponential(0.2), Custom(brownian)], ids=["spectrum", "function"]
)
def test_a_joint_draw_over_2500_arms_needs_no_matrix_of_all_pairs(kernel):
    rng = np.random.default_rng(5)
    pulled = rng.choice(2500, 12, replace=False) // 5 * 5  # among the anchors
    y = GRID[pulled, 0]
    data, anchors = observed(GRID[pulled], y), GRID[::5]
    noise = np.float64(1e-6)

    def draw(key, arms):
        return condition(Hyper(kernel, noise), data).sample(key, anchors)(arms)

    assert largest_array(partial(draw, jax.random.key(0)), GRID) < 2500 * 2500 / 4
    one, other = (jax.jit(draw)(jax.random.key(seed), GRID) for seed in (0, 1))
    for path in (one, other):
        assert path.shape == (2500,)
        assert np.all(np.isfinite(path))
        # Where payoffs are known every draw passes through them.
        np.testing.assert_allclose(path[pulled], y, atol=6 * np.sqrt(noise) * y.std())
    assert np.max(np.abs(one - other)) > 0.01


def test_one_draw_is_one_function():
    x, y = pulls(repeats=True)

    @jax.jit
    def draw(at):
        posterior = condition(Hyper(SquaredExponential(0.3), np.float64(0.1)), observed(x, y))
        return posterior.sample(jax.random.key(0), x, features=16)(at)

    np.testing.assert_allclose(draw(POINTS)[3:], draw(POINTS[3:]), rtol=1e-11)
