"""The inverse of a triangular factor, and products with it, against NumPy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from rounding import EPS

from windfall.models.gp.evidence import log_normal
from windfall.models.gp.linalg import inner, lower_half, lower_product, triangular_inverse


@pytest.mark.parametrize("size", [1, 16, 33, 100])
def test_inverse_equals_numpy(size):
    rng = np.random.default_rng(size)
    root = rng.standard_normal((size, size))
    factor = np.linalg.cholesky(root @ root.T + np.eye(size))
    inverse = np.asarray(triangular_inverse(factor))
    np.testing.assert_allclose(inverse, np.linalg.inv(factor), rtol=1e-8, atol=1e-11)
    np.testing.assert_array_equal(np.triu(inverse, 1), 0.0)


def test_what_lies_above_the_diagonal_does_not_matter():
    rng = np.random.default_rng(0)
    full = rng.standard_normal((40, 40)) + 10.0 * np.eye(40)
    np.testing.assert_array_equal(triangular_inverse(full), triangular_inverse(np.tril(full)))


def test_a_failed_factor_stays_visible():
    assert np.isnan(triangular_inverse(np.full((20, 20), np.nan))).any()


@pytest.mark.parametrize("size", [100, 300])
def test_products_by_halves_are_the_whole_products(size):
    rng = np.random.default_rng(size)
    lower, x = np.tril(rng.standard_normal((size, size))), rng.standard_normal((size, 7))
    weighted = x * rng.uniform(size=7)
    # A sum of n products is off by n roundings of what they add up to without signs.
    for mine, (a, b) in (
        (lower_product(lower, x), (lower, x)),
        (inner(lower), (lower.T, lower)),
        (np.tril(lower_half(weighted, x)), (weighted, x.T)),
    ):
        off = np.abs(np.asarray(mine) - a @ b)
        off = np.tril(off) if a is weighted else off
        assert np.all(off <= 2.0 * EPS * a.shape[1] * (np.abs(a) @ np.abs(b)))


def test_a_density_and_its_derivatives_with_more_inputs_than_a_product_takes_whole():
    """By the closed formulas: ∂/∂A = ½ (αα⊤ − A⁻¹), ∂/∂y = −α."""
    rng = np.random.default_rng(0)
    root, y = rng.standard_normal((200, 200)), rng.standard_normal(200)
    matrix = root @ root.T / 200.0 + np.eye(200)
    value, (by_y, by_matrix) = jax.value_and_grad(log_normal, (0, 1))(
        jnp.asarray(y), jnp.asarray(matrix)
    )
    inverse = np.linalg.inv(matrix)  # of condition 5: n · eps · condition is 2e-13
    alpha = inverse @ y
    np.testing.assert_allclose(value, -0.5 * (y @ alpha + np.linalg.slogdet(matrix)[1]), rtol=1e-12)
    np.testing.assert_allclose(by_y, -alpha, rtol=0, atol=1e-11)
    np.testing.assert_allclose(
        by_matrix, 0.5 * (np.outer(alpha, alpha) - inverse), rtol=0, atol=1e-11
    )
