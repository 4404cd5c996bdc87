"""The synthetic landscapes against plain formulas, SciPy and known values."""

import math

import numpy as np
import pytest
from scipy.optimize import differential_evolution

from windfall.problems import load
from windfall.problems.synthetic import (
    cosine,
    michalewicz,
    modified_michalewicz,
    standardise,
    synthetic,
)


def naive_cosine(x, y):
    u, v = 1.6 * x - 0.5, 1.6 * y - 0.5
    ripples = 0.3 * math.cos(3 * math.pi * u) + 0.3 * math.cos(3 * math.pi * v)
    return 1 - (u * u + v * v - ripples)


def naive_michalewicz(x, y, p=1, q=2):
    first = math.sin(math.pi * x) * math.sin(p * math.pi * x * x) ** 20
    return first + math.sin(math.pi * y) * math.sin(q * math.pi * y * y) ** 20


def naive_modified_michalewicz(x, y):
    return naive_michalewicz(x, y, 2, 3)


# function, naive function, place and value of the maximum over the square. Cosine's is exact; the
# Michalewicz value is the one in the literature, 1.8013 at (2.20, 1.57) / π.
CASES = {
    "cosine": (cosine, naive_cosine, (0.3125, 0.3125), 1.6),
    "michalewicz": (michalewicz, naive_michalewicz, (2.2029 / np.pi, 0.5), 1.8013),
    "modified-michalewicz": (
        modified_michalewicz,
        naive_modified_michalewicz,
        (0.5, 0.40903),
        1.95909,
    ),
}

naive_payoffs = {}


def on_grid(name):
    """The naive values on the 50 × 50 grid, by a double loop."""
    if name not in naive_payoffs:
        naive = CASES[name][1]
        naive_payoffs[name] = [naive(i / 49, j / 49) for i in range(50) for j in range(50)]
    return np.array(naive_payoffs[name])


@pytest.mark.parametrize("name", CASES)
def test_arms_are_the_grid_and_payoffs_standardised(name):
    problem = load(name)
    grid = [(i / 49, j / 49) for i in range(50) for j in range(50)]
    np.testing.assert_allclose(problem.arms, grid, atol=1e-15)
    values = on_grid(name)
    deviation = math.sqrt(sum((values - values.mean()) ** 2) / 2500)
    np.testing.assert_allclose(problem.payoffs(0), (values - values.mean()) / deviation, atol=1e-10)
    assert abs(problem.payoffs(0).mean()) < 1e-12
    assert abs(problem.payoffs(0).std() - 1) < 1e-12


@pytest.mark.parametrize("name", CASES)
def test_the_best_arm_is_the_naive_one(name):
    assert load(name).optimal_arm(0) == max(range(2500), key=on_grid(name).__getitem__)


@pytest.mark.parametrize("name", CASES)
def test_the_maximum_over_the_square(name):
    """SciPy's global search finds the known maximum; the best arm lies in the cell beside it."""
    function, _, place, value = CASES[name]
    found = differential_evolution(
        lambda x: -float(function(x)), [(0, 1), (0, 1)], rng=0, tol=1e-10
    )
    np.testing.assert_allclose(found.x, place, atol=1e-4)
    assert -found.fun == pytest.approx(value, abs=1e-5 if name != "michalewicz" else 1e-4)
    problem = load(name)
    best = problem.arms[problem.optimal_arm(0)]
    assert np.abs(best - place).max() <= 1 / 49
    assert function(best) <= -found.fun


@pytest.mark.parametrize("name", CASES)
def test_no_point_of_a_finer_grid_beats_the_maximum(name):
    function, _, _, value = CASES[name]
    axis = np.linspace(0, 1, 801)
    fine = function(np.stack(np.meshgrid(axis, axis), axis=-1))
    assert value - 2e-3 < fine.max() < value + 1e-4


def test_standardised_optima():
    """As measured once with the naive formulas and a calculator's precision."""
    optima = {name: round(load(name).optimum(0), 4) for name in CASES}
    assert optima == {"cosine": 2.0656, "michalewicz": 4.85, "modified-michalewicz": 5.1353}


def test_modified_michalewicz_has_six_spikes():
    axis = np.linspace(0, 1, 401)
    values = modified_michalewicz(np.stack(np.meshgrid(axis, axis), axis=-1))
    inner = values[1:-1, 1:-1]
    peaks = inner > 0.5
    for i in (0, 1, 2):
        for j in (0, 1, 2):
            if (i, j) != (1, 1):
                peaks &= inner > values[i : i + 399, j : j + 399]
    assert peaks.sum() == 6


@pytest.mark.parametrize("name", CASES)
def test_protocol(name):
    problem = synthetic(name)
    assert problem.name == name
    assert problem.noise == 1e-4
    assert (problem.protocol.rounds, problem.protocol.trials) == (150, 100)
    assert (problem.protocol.initial, problem.protocol.kappa) == (3, 2.0)
    assert problem.protocol.components == (2 if name == "cosine" else 4)
    assert problem.initial_pool is None
    np.testing.assert_array_equal(problem.box, [[0, 0], [1, 1]])


def test_equal_values_are_standardised_to_zero():
    """The computed deviation of equal values may be a rounding error, which must not divide."""
    assert standardise(np.full(7, 0.1)).tolist() == [0.0] * 7


def test_regrets_of_the_authors_are_gaps_of_these_payoffs(shared):
    """Their runs recorded gaps with the noise of a reward on them: |ε| < 5.5 σ in 15,000 draws."""
    saved = np.load(shared / "reference" / "authors_regret.npz")
    for name in CASES:
        problem = load(name)
        gaps = np.unique(problem.optimum(0) - problem.payoffs(0))
        regret = saved[f"{name}/ei"].ravel().astype(float)
        right = np.searchsorted(gaps, regret).clip(1, len(gaps) - 1)
        distance = np.minimum(abs(regret - gaps[right]), abs(regret - gaps[right - 1]))
        assert distance.max() < 5.5 * problem.noise
