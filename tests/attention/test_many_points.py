"""The attention over twenty thousand points against SciPy and naive EM (see ``many_points``)."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from attention.test_mixture import em_step, joint
from many_points import MANY, assert_all_points_count, uniform
from scipy.special import logsumexp
from scipy.stats import gaussian_kde

from windfall.attention.density import estimate
from windfall.attention.mixture import fit_mixture
from windfall.attention.ratio import Domain, direct_ratio, mixture_ratio

WEIGHTS = np.random.default_rng(1).random(MANY)


def wavy(x):
    return np.sin(5.0 * x[:, 0]) + x.sum(axis=1)


def test_the_density_of_many_values_is_scipys():
    values = wavy(uniform(3))
    density = jax.jit(estimate)(values, WEIGHTS)
    at = np.linspace(values.min(), values.max(), 40)
    exact = gaussian_kde(values, "scott", WEIGHTS)(at)
    # The bins' error, as in the tests of the density.
    step, width = float(density.step), float(density.bandwidth)
    tolerance = 0.25 * (step / width) ** 2 * 0.39894229 / width
    assert tolerance < 0.05 * exact.max()
    np.testing.assert_allclose(density(at), exact, atol=tolerance)
    assert_all_points_count(lambda v: density(v), values)


@pytest.mark.parametrize("dimension", [1, 2, 3, 5])
def test_the_mixture_of_many_points(dimension):
    points = uniform(dimension)

    @jax.jit
    def fit(points, steps):
        return fit_mixture(
            jax.random.key(0), points, WEIGHTS, 3, iterations=steps, tolerance=-jnp.inf
        )[0]

    before, after = (jax.tree.map(np.asarray, fit(points, n)) for n in (2, 3))
    naive = em_step(before, points, WEIGHTS)
    np.testing.assert_allclose(after.weights, naive.weights, rtol=1e-8)
    np.testing.assert_allclose(after.means, naive.means, rtol=1e-8)
    np.testing.assert_allclose(after.covariances, naive.covariances, rtol=1e-6, atol=1e-9)
    exact = np.exp(logsumexp(joint(after, points, 0.0), axis=1))
    np.testing.assert_allclose(jax.jit(lambda x: after(x))(points), exact, rtol=1e-8)


@pytest.mark.parametrize("components", [0, 3], ids=["direct", "mixture"])
def test_the_ratio_over_many_points(components):
    """E w = 1 over the domain, and no point's ratio depends on how many others are asked about."""
    points = uniform(3)
    mean, domain, one = wavy(points), Domain(points, WEIGHTS), jnp.ones(())

    @jax.jit
    def ratio():
        if components:
            return mixture_ratio(jax.random.key(0), mean, domain, one, components)
        return direct_ratio(mean, domain, one)

    found = ratio()
    assert_all_points_count(lambda *rows: found(*rows), points, mean, WEIGHTS)
    w = np.asarray(jax.jit(lambda *rows: found(*rows))(points, mean, WEIGHTS))
    assert w.mean() == pytest.approx(1.0, rel=1e-9)
    if not components:
        some = WEIGHTS[:50] / gaussian_kde(mean, "scott", WEIGHTS)(mean[:50])
        np.testing.assert_allclose(w[:50] / w[0], some / some[0], rtol=0.02)
