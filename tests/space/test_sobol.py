"""Sobol points are SciPy's, bit for bit."""

import numpy as np
import pytest
from scipy.stats import qmc

from windfall.errors import InputError
from windfall.space.sobol import Sobol


@pytest.mark.parametrize(("dimension", "seed"), [(1, 0), (2, 7), (6, 0), (23, 1), (150, 2**40)])
def test_the_points_of_scipy(dimension, seed):
    """Also in several draws; polynomials of ten degrees."""
    ours, theirs = Sobol(dimension, seed), qmc.Sobol(dimension, scramble=True, rng=seed)
    for count in (64, 64, 1024):
        np.testing.assert_array_equal(ours.draw(count), theirs.random(count))


def test_any_number_of_points_and_no_more_columns_than_there_are():
    np.testing.assert_array_equal(Sobol(3, 0).draw(5), Sobol(3, 0).draw(8)[:5])
    with pytest.raises(InputError, match="columns are 30000; expected at most 21201"):
        Sobol(30_000, 0)
