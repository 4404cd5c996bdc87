"""A model of payoffs that change: over which columns its kernel goes."""

import numpy as np
import pytest

from windfall.models.gp.ageing import columns_of
from windfall.models.gp.evidence import Hyper
from windfall.models.gp.kernels import Matern52, Part, Trend


@pytest.mark.parametrize(
    "kernel",
    [
        Matern52([0.1, 0.2, 0.3]),
        Matern52([0.1, 0.2, 0.3]) + Trend(0.3),
        Part(Matern52([0.1, 0.2]), 0, 2) + Part(Matern52([0.3]), 2, 3),
        Part(Matern52([0.1, 0.2]) + Trend(0.3), 0, 2) * Part(Matern52([0.3]), 2, 3),
    ],
    ids=["one", "plane", "additive contexts", "contexts of their own"],
)
def test_time_comes_after_all_columns_of_arms_and_contexts(kernel):
    assert columns_of(Hyper(kernel, np.float64(0.1))) == 3
