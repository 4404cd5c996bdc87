"""Weighted EM against a naive implementation, scikit-learn and the laws that EM obeys."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.mixture import GaussianMixture

from windfall.attention.mixture import SMEAR, Mixture, _whiten, fit_mixture

#: Most tests share one shape, so that one compiled program serves them all.
SIZE, COMPONENTS = 90, 3
STEPS = (1, 2, 3, 4, 6, 10, 20, 40)


@partial(jax.jit, static_argnames="components")
def fit(seed, points, weights, components, iterations, tolerance):
    return fit_mixture(
        jax.random.key(seed),
        points,
        weights,
        components,
        iterations=iterations,
        tolerance=tolerance,
    )


def fitted(points, weights=None, components=COMPONENTS, seed=0, iterations=50, tolerance=1e-3):
    weights = np.ones(len(points)) if weights is None else weights
    mixture, info = fit(seed, points, weights, components, iterations, tolerance)
    return jax.tree.map(np.asarray, mixture), info


@jax.jit
def density(mixture, x):
    return mixture(x)


def clusters(dimension: int, centres, spread: float = 0.03, seed: int = 0) -> np.ndarray:
    rng, size = np.random.default_rng(seed), SIZE // len(centres)
    return np.concatenate([rng.normal(c, spread, (size, dimension)) for c in centres])


def joint(mixture: Mixture, points, smear: float) -> np.ndarray:
    """log(weight_k N(x_i; m_k, S_k)) − ½ smear tr S_k⁻¹, one component after the other."""
    return np.stack(
        [
            np.log(max(w, 1e-300))
            + multivariate_normal(m, s).logpdf(points)
            - 0.5 * smear * np.trace(np.linalg.inv(s))
            for w, m, s in zip(mixture.weights, mixture.means, mixture.covariances, strict=True)
        ],
        axis=1,
    )


def likelihood(mixture: Mixture, points, weights) -> float:
    return np.average(logsumexp(joint(mixture, points, SMEAR), axis=1), weights=weights)


def em_step(mixture: Mixture, points, weights) -> Mixture:
    table = joint(mixture, points, SMEAR)
    shares = np.exp(table - logsumexp(table, axis=1, keepdims=True))
    shares = shares * (weights / weights.sum())[:, None]
    means, covariances = [], []
    for share in shares.T:
        mean = np.average(points, axis=0, weights=share)
        centred = points - mean
        covariance = (share[:, None] * centred).T @ centred / share.sum()
        means.append(mean)
        covariances.append(covariance + SMEAR * np.eye(points.shape[1]))
    return Mixture(shares.sum(axis=0), np.array(means), np.array(covariances))


@pytest.mark.parametrize("dimension", range(1, 7))
def test_small_factors_agree_with_numpy(dimension):
    rng = np.random.default_rng(dimension)
    roots = rng.normal(size=(5, dimension, dimension))
    matrices = roots @ roots.transpose(0, 2, 1) + 0.01 * np.eye(dimension)
    whitener, log_determinant = _whiten(jnp.asarray(matrices))
    np.testing.assert_allclose(
        whitener, np.linalg.inv(np.linalg.cholesky(matrices)), rtol=1e-8, atol=1e-8
    )
    np.testing.assert_allclose(log_determinant, np.linalg.slogdet(matrices)[1], rtol=1e-10)


@pytest.mark.parametrize("dimension", range(1, 7))
def test_the_density_agrees_with_scipy_in_every_dimension(dimension):
    mixture, info = fitted(clusters(dimension, (0.25, 0.5, 0.75)))
    held_out = clusters(dimension, (0.25, 0.5, 0.75), seed=1)
    found = np.asarray(density(mixture, held_out))
    np.testing.assert_allclose(
        found, np.exp(logsumexp(joint(mixture, held_out, 0.0), axis=1)), rtol=1e-9
    )
    # Far better than the uniform density 1, which knows nothing of the clusters.
    assert np.mean(np.log(found)) > 0.5 * dimension
    assert bool(info.converged)


@pytest.mark.parametrize(
    ("dimension", "tail"), [(1, 1.0), (2, 1.0), (2, 0.05), (3, 0.02), (6, 0.2)]
)
def test_the_likelihood_never_decreases(dimension, tail):
    """Also with weights over many magnitudes (a gamma with a small shape)."""
    rng = np.random.default_rng(3)
    points, weights = rng.random((SIZE, dimension)), rng.gamma(tail, size=SIZE) + 1e-12
    values, reported = [], []
    for steps in STEPS:
        mixture, info = fitted(points, weights, iterations=steps, tolerance=-np.inf)
        assert int(info.iterations) == steps
        values.append(likelihood(mixture, points, weights))
        reported.append(float(info.log_likelihood))
    assert np.all(np.diff(values) > -1e-8)
    assert values[-1] > values[0] + 1e-6  # there was something to gain
    for i in (0, 1, 2):  # steps 1, 2, 3, 4: the report is the likelihood before the last step
        assert reported[i + 1] == pytest.approx(values[i], rel=1e-9)


@pytest.mark.parametrize("dimension", [1, 3])
def test_one_step_agrees_with_naive_em(dimension):
    rng = np.random.default_rng(4)
    points, weights = rng.random((SIZE, dimension)), rng.random(SIZE)
    before, after = (fitted(points, weights, iterations=n, tolerance=-np.inf)[0] for n in (2, 3))
    naive = em_step(before, points, weights)
    np.testing.assert_allclose(after.weights, naive.weights, rtol=1e-8)
    np.testing.assert_allclose(after.means, naive.means, rtol=1e-8)
    np.testing.assert_allclose(after.covariances, naive.covariances, rtol=1e-6, atol=1e-12)


def test_components_start_around_points_drawn_far_apart():
    """k-means++ with draws by ``jax.random.categorical``, which takes logarithms of chances."""
    rng = np.random.default_rng(5)
    points, weights = rng.random((SIZE, 1)), rng.random(SIZE)
    for seed in range(20):
        distance, label = np.ones(SIZE), np.zeros(SIZE, int)
        for k in range(COMPONENTS):
            key = jax.random.fold_in(jax.random.key(seed), k)
            chosen = points[jax.random.categorical(key, jnp.log(weights * distance))]
            square = np.sum((points - chosen) ** 2, axis=1)
            label = np.where((k == 0) | (square < distance), k, label)
            distance = square if k == 0 else np.minimum(square, distance)
        start, _ = fitted(points, weights, seed=seed, iterations=0)
        shares = np.bincount(label, weights, COMPONENTS) / weights.sum()
        np.testing.assert_allclose(start.weights, shares, rtol=1e-9)


@pytest.mark.parametrize(
    ("dimension", "centres"),
    [(1, (0.1, 0.5, 0.9)), (2, ((0.2, 0.2), (0.8, 0.7), (0.2, 0.9))), (4, (0.2, 0.5, 0.8))],
)
def test_agrees_with_scikit_learn(dimension, centres):
    points = clusters(dimension, centres)
    # The same regularisation: what we call the smear is their addition to the covariance.
    peer = GaussianMixture(3, reg_covar=SMEAR, tol=1e-10, max_iter=500, n_init=3, random_state=0)
    peer.fit(points)
    ours, info = fitted(points, iterations=500, tolerance=1e-10)
    assert bool(info.converged)
    # Both are within 1e-10 of the same maximum but for the smear, which is worth
    # ½·SMEAR·tr S⁻¹ ≈ d·SMEAR/(2·0.03²) < 0.003 a point.
    found = np.mean(np.log(density(ours, points)))
    assert found == pytest.approx(peer.score(points), abs=0.003)
    mine, theirs = np.lexsort(ours.means.T), np.lexsort(peer.means_.T)
    np.testing.assert_allclose(ours.means[mine], peer.means_[theirs], atol=1e-4)
    np.testing.assert_allclose(ours.weights[mine], peer.weights_[theirs], atol=1e-4)
    np.testing.assert_allclose(
        ours.covariances[mine], peer.covariances_[theirs], atol=1e-5, rtol=0.02
    )


def test_integer_weights_are_repeated_points():
    points = clusters(2, (0.2, 0.5, 0.8))
    weights = np.tile([2.0, 1.0, 0.0], SIZE // 3)  # every third point is not there at all
    exact = {"iterations": 200, "tolerance": 1e-12}
    weighted, _ = fitted(points, weights, **exact)
    repeated, _ = fitted(np.repeat(points, weights.astype(int), axis=0), **exact)
    a, b = np.argsort(weighted.means[:, 0]), np.argsort(repeated.means[:, 0])
    np.testing.assert_allclose(weighted.weights[a], repeated.weights[b], rtol=1e-6)
    np.testing.assert_allclose(weighted.means[a], repeated.means[b], rtol=1e-6)
    np.testing.assert_allclose(weighted.covariances[a], repeated.covariances[b], rtol=1e-5)


def test_one_component_is_the_weighted_mean_and_covariance():
    rng = np.random.default_rng(5)
    points, weights = rng.random((SIZE, 3)), rng.random(SIZE)
    mixture, _ = fitted(points, weights, components=1)
    np.testing.assert_allclose(mixture.means[0], np.average(points, axis=0, weights=weights))
    wanted = np.cov(points.T, aweights=weights, bias=True) + SMEAR * np.eye(3)
    np.testing.assert_allclose(mixture.covariances[0], wanted, rtol=1e-9)


def test_only_the_proportions_of_the_weights_matter():
    points = clusters(2, (0.2, 0.5, 0.8))
    weights = np.random.default_rng(1).random(SIZE)
    one, other = fitted(points, weights)[0], fitted(points, 1e6 * weights)[0]
    np.testing.assert_allclose(one.means, other.means, rtol=1e-6)
    np.testing.assert_allclose(one.covariances, other.covariances, rtol=1e-5)


RANDOM = np.random.default_rng(6).random((SIZE, 2))
FIRST = np.arange(SIZE) == 3
ONE = np.ones(SIZE)
DEGENERATE = {
    "fewer distinct points than components": (np.repeat(RANDOM[:2], SIZE // 2, axis=0), ONE),
    "all points coincide": (np.full((SIZE, 2), 0.3), ONE),
    "one point carries all mass": (RANDOM, 1.0 * FIRST),
    "one point carries nearly all mass": (RANDOM, np.where(FIRST, 1.0, 1e-12)),
    "two points carry all mass": (RANDOM, 1.0 * (np.arange(SIZE) < 2)),
    "points on a line": (np.linspace(0, 1, SIZE)[:, None] * [1.0, 2.0], ONE),
    "a coordinate that never varies": (RANDOM * [1.0, 0.0], ONE),
    "weights of 1e-300": (RANDOM, 1e-300 * ONE),
    "weights of 1e300": (RANDOM, 1e300 * ONE),
    "far from the origin": (RANDOM + 100.0, ONE),
}


@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_points_give_a_sane_mixture(name):
    points, weights = DEGENERATE[name]
    mixture, info = fitted(points, weights)
    assert np.isfinite(float(info.log_likelihood))
    assert mixture.weights.sum() == pytest.approx(1.0)
    assert np.all(mixture.weights >= 0)
    assert np.all(np.isfinite(mixture.means))
    assert np.all(np.linalg.eigvalsh(mixture.covariances) > 0.9 * SMEAR)
    found = np.asarray(density(mixture, points))
    assert np.all(np.isfinite(found))
    assert np.all(found[weights > 1e-3 * weights.max()] > 0)
    # The mass is where the weights are: the mixture has the points' mean.
    centre = np.average(points, axis=0, weights=weights / weights.max())
    np.testing.assert_allclose(mixture.weights @ mixture.means, centre, atol=1e-6)


def test_a_component_that_dies_takes_no_part():
    """Sixty components on two distinct points: the rest share or vanish, nothing breaks."""
    points = np.array([[0.2], [0.2], [0.8], [0.8]])
    mixture, _ = fitted(points, components=60)
    found = np.asarray(density(mixture, np.array([[0.2], [0.8], [0.5]])))
    np.testing.assert_allclose(found[0], found[1], rtol=0.05)
    assert found[2] < 1e-6 * found[0]


def test_the_density_integrates_to_one():
    line, _ = fitted(clusters(1, (0.2, 0.5, 0.8), spread=0.1))
    axis = np.linspace(-1.0, 2.0, 3001)
    assert np.trapezoid(density(line, axis[:, None]), axis) == pytest.approx(1.0, abs=1e-6)

    plane, _ = fitted(clusters(2, (0.2, 0.5, 0.8), spread=0.1))
    axis = np.linspace(-1.0, 2.0, 601)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    cell = (axis[1] - axis[0]) ** 2
    assert np.sum(density(plane, grid)) * cell == pytest.approx(1.0, abs=1e-6)


def test_the_key_decides():
    once, again, other = (fitted(RANDOM, seed=seed)[0] for seed in (1, 1, 2))
    np.testing.assert_array_equal(once.means, again.means)
    assert not np.array_equal(once.means, other.means)
