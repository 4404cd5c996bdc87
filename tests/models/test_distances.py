"""Distances and equality of points, against loops over pairs."""

import numpy as np
import pytest

from windfall.models.distances import same_points, square_distances
from windfall.runtime.execution import float64

#: A few columns, which are gone through one by one, and more than that.
COLUMNS = (1, 3, 40)


@pytest.mark.parametrize("columns", COLUMNS)
def test_distances_are_those_of_all_pairs(columns):
    rng = np.random.default_rng(columns)
    x, y = rng.normal(size=(5, columns)), rng.normal(size=(7, columns))
    naive = [[sum((a - b) ** 2 for a, b in zip(p, q, strict=True)) for q in y] for p in x]
    # Sums of as many positive terms, in whatever order.
    tolerance = (columns + 2) * np.finfo(np.float64).eps
    np.testing.assert_allclose(float64(square_distances)(x, y), naive, rtol=tolerance)


@pytest.mark.parametrize("columns", COLUMNS)
def test_the_same_points_are_those_that_agree_in_every_column(columns):
    rng = np.random.default_rng(columns)
    x = rng.integers(0, 2, (30, columns)).astype(float)
    y = np.concatenate([x[::3], x[:4], rng.integers(0, 2, (9, columns)).astype(float)])
    x[3, 0] = y[0, -1] = np.nan
    naive = [[all(a == b for a, b in zip(p, q, strict=True)) for q in y] for p in x]
    found = float64(same_points)(x, y)
    np.testing.assert_array_equal(found, naive)
    assert np.any(found)
    assert not np.all(found)
