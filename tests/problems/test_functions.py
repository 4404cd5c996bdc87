"""The standard functions against plain formulas, published optima and a search for better ones."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import Bounds, minimize

import windfall as wf
from windfall.errors import InputError
from windfall.problems import functions
from windfall.problems.functions import load, names

# The best values as the literature prints them, with opposite sign where it minimises.
PUBLISHED = {
    "branin": -0.397887,
    "six-hump-camel": 1.0316,
    "michalewicz-2": 1.8013,
    "michalewicz-5": 4.687658,
    "michalewicz-10": 9.66015,
    "hartmann-3": 3.86278,
    "hartmann-6": 3.32237,
    "needle": 1.1,
    "griewank-3": 0.0,
    "rosenbrock-4": 0.0,
    "styblinski-tang-4": 4 * 39.16617,
    "ackley-5": 0.0,
}
OPTIMA = {"branin": 3, "six-hump-camel": 2}  # the others have one


def naive_branin(x):
    a, b, c, r, s, t = 1, 5.1 / (4 * math.pi**2), 5 / math.pi, 6, 10, 1 / (8 * math.pi)
    value = a * (x[1] - b * x[0] ** 2 + c * x[0] - r) ** 2 + s * (1 - t) * math.cos(x[0]) + s
    return -value


def naive_camel(x):
    first = 4 * x[0] ** 2 - 2.1 * x[0] ** 4 + x[0] ** 6 / 3
    return -(first + x[0] * x[1] - 4 * x[1] ** 2 + 4 * x[1] ** 4)


def naive_michalewicz(x):
    steepness = 10
    return sum(
        math.sin(v) * math.sin(i * v**2 / math.pi) ** (2 * steepness) for i, v in enumerate(x, 1)
    )


def naive_ackley(x):
    first = -20 * math.exp(-0.2 * math.sqrt(sum(v * v for v in x) / len(x)))
    second = -math.exp(sum(math.cos(2 * math.pi * v) for v in x) / len(x))
    return -(first + second + 20 + math.e)


def naive_rosenbrock(x):
    return -sum(100 * (b - a * a) ** 2 + (a - 1) ** 2 for a, b in pairwise(x))


def naive_griewank(x):
    product = math.prod(math.cos(v / math.sqrt(i)) for i, v in enumerate(x, 1))
    return product - sum(v * v for v in x) / 4000 - 1


def naive_styblinski_tang(x):
    return -sum(v**4 - 16 * v**2 + 5 * v for v in x) / 2


def naive_needle(x):
    r = math.dist(x, (0.72, 0.31, 0.58))
    return math.exp(-0.5 * (r / 0.05) ** 2) + 0.1 * math.exp(-0.5 * (r / 0.35) ** 2)


NAIVE = {
    "branin": naive_branin,
    "six-hump-camel": naive_camel,
    "michalewicz-2": naive_michalewicz,
    "michalewicz-5": naive_michalewicz,
    "michalewicz-10": naive_michalewicz,
    "needle": naive_needle,
    "griewank-3": naive_griewank,
    "rosenbrock-4": naive_rosenbrock,
    "styblinski-tang-4": naive_styblinski_tang,
    "ackley-5": naive_ackley,
}


def points(function, count, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(function.lower, function.upper, (count, function.dimension))


def test_all_functions_are_listed():
    assert set(names()) == set(PUBLISHED)
    assert wf.problems.functions is functions


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_published_optimum(name):
    function = load(name)
    printed = PUBLISHED[name]
    assert function.optimum == pytest.approx(printed, abs=5e-5)
    assert function.optimisers.shape == (OPTIMA.get(name, 1), function.dimension)
    np.testing.assert_allclose(function(function.optimisers), function.optimum, atol=1e-12)
    assert np.all(function.lower < function.optimisers)
    assert np.all(function.optimisers < function.upper)


@pytest.mark.parametrize("name", PUBLISHED)
def test_nothing_better_is_found(name):
    """10⁵ random points, and a polish from the best of them and from beside every optimiser."""
    function = load(name)
    sample = points(function, 100_000)
    values = function(sample)
    assert values.max() <= function.optimum
    beside = function.optimisers + 1e-3 * (function.upper - function.lower)
    starts = [*sample[np.argsort(values)[-3:]], *beside]
    found = [
        -minimize(
            lambda x: -float(function(x)), start, bounds=Bounds(function.lower, function.upper)
        ).fun
        for start in starts
    ]
    assert max(found) <= function.optimum + 1e-12
    assert max(found) == pytest.approx(function.optimum, abs=1e-6)  # the polish does arrive


@pytest.mark.parametrize("name", NAIVE)
def test_naive_formula(name):
    function = load(name)
    sample = points(function, 50)
    expected = [NAIVE[name](x.tolist()) for x in sample]
    np.testing.assert_allclose(function(sample), expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize(("name", "row", "hill"), [("hartmann-3", 3, 3.2), ("hartmann-6", 2, 3.0)])
def test_hartmann_at_the_top_of_a_hill(name, row, hill):
    """At a hill's centre that hill pays its full height, and the others a little."""
    top = {
        "hartmann-3": [0.0381, 0.5743, 0.8828],
        "hartmann-6": [0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650],
    }[name]
    value = float(load(name)(top))
    assert hill < value < load(name).optimum
    A, P = functions._HARTMANN[len(top)]
    np.testing.assert_allclose(P[row], top)
    others = sum(
        height * math.exp(-sum(a * (x - p) ** 2 for a, x, p in zip(*rows, strict=True)))
        for k, height in enumerate([1.0, 1.2, 3.0, 3.2])
        if k != row
        for rows in [(A[k], top, P[k])]
    )
    assert value == pytest.approx(hill + others, rel=1e-12)


@pytest.mark.parametrize("name", ["styblinski-tang-4", "ackley-5"])
@given(data=st.data())
def test_coordinates_may_be_exchanged(name, data):
    function = load(name)
    side = st.floats(float(function.lower[0]), float(function.upper[0]))
    x = data.draw(st.lists(side, min_size=function.dimension, max_size=function.dimension))
    order = data.draw(st.permutations(range(function.dimension)))
    assert float(function(np.array(x)[order])) == pytest.approx(float(function(x)), abs=1e-9)


@pytest.mark.parametrize("name", PUBLISHED)
def test_one_point_or_many(name):
    function = load(name)
    grid = points(function, 6).reshape(2, 3, -1)
    values = function(grid)
    assert values.shape == (2, 3)
    assert values.dtype == np.float64
    assert function(grid[1, 2].tolist()).shape == ()
    assert float(function(grid[1, 2])) == pytest.approx(values[1, 2], rel=1e-13)


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_centre_of_the_box_is_no_optimum(name):
    function = load(name)
    centre = (function.lower + function.upper) / 2
    assert function(centre) < function.optimum - 1e-2


def test_random_search_seldom_meets_the_needle():
    """The share of the cube where the spike is higher than the hill ever is, and what it means."""
    function = load("needle")
    share = float(np.mean(function(points(function, 400_000)) > 0.2))
    # Where the spike alone pays 0.1 the hill pays almost 0.1 as well: a ball of radius r.
    r = 0.05 * math.sqrt(2 * math.log(10))
    expected = 4 / 3 * math.pi * r**3
    assert share == pytest.approx(expected, rel=0.1)  # 4.5 standard deviations of the sample
    assert 0.2 < 1 - (1 - expected) ** 50 < 0.25


def test_what_is_known_cannot_be_changed():
    function = load("branin")
    for array in (function.lower, function.upper, function.optimisers):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.0


@pytest.mark.parametrize("x", [0.5, [0.5], [[0.5, 1.0, 2.0]]])
def test_a_point_of_the_wrong_size(x):
    with pytest.raises(InputError, match=r"branin: x has shape .*expected \(\.\.\., 2\)"):
        load("branin")(x)


def test_an_unknown_name():
    with pytest.raises(InputError, match="function is 'zzz'; expected one of branin"):
        load("zzz")
