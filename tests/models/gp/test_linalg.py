"""The inverse of a triangular factor against NumPy."""

import numpy as np
import pytest

from windfall.models.gp.linalg import triangular_inverse


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
