"""Spaces of parameters: encoding, decoding, snapping and filling."""

import math

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from many_points import uniform
from scipy.stats import qmc

from windfall.space import AtMost, Box, Categorical, Integer, Parameters, Real


def real(low, width):
    return Real(low, low + width)


def log_real(low, ratio):
    return Real(low, low * ratio, log=True)


def integer(low, width):
    return Integer(low, low + width)


def log_integer(low, width):
    return Integer(low, low + width, log=True)


#: What parameters are made of, since nothing of windfall may be made inside a strategy.
recipes = st.lists(
    st.one_of(
        st.tuples(st.just(real), st.floats(-1e6, 1e6), st.floats(1e-3, 1e6)),
        st.tuples(st.just(log_real), st.floats(1e-6, 1e3), st.floats(1.1, 1e6)),
        st.tuples(st.just(integer), st.integers(-1000, 1000), st.integers(1, 1000)),
        st.tuples(st.just(log_integer), st.integers(1, 1000), st.integers(1, 10**6)),
        st.tuples(
            st.just(Categorical),
            st.lists(st.sampled_from([*"abc", 1, 2, 3, None]), min_size=2, max_size=5, unique=True),
        ),
    ),
    min_size=1,
    max_size=5,
)


def made(recipe) -> Parameters:
    return Parameters({f"p{i}": make(*arguments) for i, (make, *arguments) in enumerate(recipe)})


def points_of(space: Parameters):
    def values(parameter):
        if isinstance(parameter, Categorical):
            return st.sampled_from(parameter.choices)
        if isinstance(parameter, Integer):
            return st.integers(parameter.low, parameter.high)
        return st.floats(parameter.low, parameter.high)

    return st.fixed_dictionaries({n: values(p) for n, p in space.parameters.items()})


def assert_same(space, one, other):
    for name, parameter in space.parameters.items():
        if isinstance(parameter, Real):
            size = max(abs(parameter.low), abs(parameter.high))
            assert math.isclose(one[name], other[name], rel_tol=1e-9, abs_tol=1e-12 * size)
        else:
            assert one[name] == other[name]
            assert type(one[name]) is type(other[name])


@given(data=st.data(), recipe=recipes)
def test_what_is_encoded_comes_back(data, recipe):
    space = made(recipe)
    point = data.draw(points_of(space))
    x = space.encode(point)
    assert x.shape == (space.dimension,)
    assert x.min() >= 0.0
    assert x.max() <= 1.0
    np.testing.assert_array_equal(space.snap(x[None])[0], x)
    back = space.decode(x)
    assert list(back) == list(space.names)
    assert_same(space, back, point)
    assert_same(space, space.named(space.features(space.point(point))), point)
    # Numbers in order name the same point.
    np.testing.assert_array_equal(space.encode(space.features(space.point(point))), x)


@given(data=st.data(), recipe=recipes)
def test_any_unit_point_snaps_to_one_that_exists(data, recipe):
    space = made(recipe)
    x = np.array([data.draw(st.lists(st.floats(-0.5, 1.5), min_size=space.dimension,
                                     max_size=space.dimension))])  # fmt: skip
    snapped = space.snap(x)
    np.testing.assert_array_equal(space.snap(snapped), snapped)
    point = space.decode(x[0])
    np.testing.assert_allclose(space.encode(point), snapped[0], rtol=0, atol=1e-9)
    hot = space.columns.hot
    sums = np.bincount(space.columns.group[hot], snapped[0][hot], minlength=space.size)
    choices = [isinstance(p, Categorical) for p in space.parameters.values()]
    np.testing.assert_array_equal(sums, choices)  # one choice of each, none elsewhere


@given(recipe=recipes, seed=st.integers(0, 10))
def test_fills_exist_and_stay_in_the_box(recipe, seed):
    space = made(recipe)
    filled = space.fill(50, seed)
    assert filled.shape == (50, space.dimension)
    np.testing.assert_array_equal(space.snap(filled), filled)
    natural = space.natural(filled)
    for i, parameter in enumerate(space.parameters.values()):
        last = parameter.width - 1
        low, high = (
            (0, last) if isinstance(parameter, Categorical) else (parameter.low, parameter.high)
        )
        assert natural[:, i].min() >= low
        assert natural[:, i].max() <= high
    np.testing.assert_array_equal(filled, space.fill(50, seed))
    np.testing.assert_array_equal(filled[:20], space.fill(20, seed))


def test_scales_are_what_they_say():
    space = Parameters({
        "log": Real(1e-4, 1.0, log=True), "plain": Real(-1, 3), "whole": Integer(1, 5),
        "many": Integer(1, 100, log=True), "kind": Categorical(["a", "b", "c"]),
    })  # fmt: skip
    x = space.encode({"log": 1e-2, "plain": 0.0, "whole": 2, "many": 10, "kind": "b"})
    np.testing.assert_allclose(x, [0.5, 0.25, 0.25, 0.5, 0.0, 1.0, 0.0], atol=1e-12)
    assert space.dimension == 7
    assert space.size == 5
    assert space.decode([0.5, 0.25, 0.3, 0.51, 0.2, 0.1, 0.2]) == {
        "log": pytest.approx(0.01), "plain": 0.0, "whole": 2, "many": 10, "kind": "a",
    }  # fmt: skip


def test_another_seed_fills_otherwise_and_evenly():
    box = Box([0, 0, 0], [1, 1, 1])
    one, other = box.fill(256, 0), box.fill(256, 1)
    assert not np.array_equal(one, other)
    random = np.random.default_rng(0).random((256, 3))
    for filled in (one, other):
        assert qmc.discrepancy(filled) < 0.5 * qmc.discrepancy(random)


def test_whole_numbers_and_choices_get_equal_shares():
    space = Parameters({"n": Integer(1, 4), "k": Categorical(list("abcde"))})
    natural = space.natural(space.fill(4096))
    shares = np.bincount(natural[:, 0].astype(int), minlength=5)[1:] / 4096
    np.testing.assert_allclose(shares, 1 / 4, atol=0.005)  # the ends as much as the middle
    np.testing.assert_allclose(np.bincount(natural[:, 1].astype(int)) / 4096, 1 / 5, atol=0.005)


constraints = {
    "linear": [AtMost({"x": 1.0, "y": 2.0}, 1.0)],
    "disc": [lambda p: 0.25 - (p["x"] - 0.5) ** 2 - (p["y"] - 0.5) ** 2],
    "both": [AtMost({"x": 1.0, "y": 2.0}, 1.0), lambda p: p["x"] - p["y"]],
    "rare": [AtMost({"x": 1.0, "y": 1.0}, 1e-4)],
}


@pytest.mark.parametrize("case", constraints)
def test_fills_keep_to_the_constraints(case):
    space = Parameters({"x": Real(0, 1), "y": Real(0, 1), "n": Integer(0, 3)}, constraints[case])
    filled = space.fill(300)
    natural = space.natural(filled)
    for constraint in constraints[case]:
        assert np.all(constraint({"x": natural[:, 0], "y": natural[:, 1]}) >= 0)
    assert space.feasible(natural).all()
    np.testing.assert_array_equal(space.snap(filled), filled)
    assert len(np.unique(filled, axis=0)) > 200
    np.testing.assert_array_equal(filled, space.fill(300))
    outside = np.array([[1.0, 1.0, 0.0]])
    assert not space.feasible(outside)[0]


def test_a_point_on_the_edge_of_a_constraint_is_allowed():
    space = Box([0, 0], [1, 1], constraints=[AtMost({"x1": 0.1, "x2": 0.2}, 0.3)])
    assert space.feasible(np.array([[1.0, 1.0]]))[0]  # 0.1 + 0.2 > 0.3 in floating point


def test_the_only_allowed_points_are_repeated_when_more_are_asked_for():
    space = Parameters({"n": Integer(0, 9), "m": Integer(0, 9)}, [AtMost({"n": 1, "m": 1}, 1)])
    filled = space.fill(64)
    assert len(filled) == 64
    assert {tuple(row) for row in space.natural(filled).astype(int).tolist()} == {
        (0, 0), (1, 0), (0, 1),
    }  # fmt: skip


def test_spaces_are_equal_when_their_parts_are():
    def make(high=1.0):
        return Parameters({"x": Real(0, high), "k": Categorical(["a", "b"])}, [AtMost({"x": 1}, 1)])

    assert make() == make()
    assert hash(make()) == hash(make())
    assert make() != make(2.0)
    names = {"Parameters": Parameters, "Real": Real, "Categorical": Categorical, "AtMost": AtMost,
             "Box": Box, "Integer": Integer}  # fmt: skip
    for space in (make(), Box([0, 1], [2, 3], names=["a", "b"]), Box([0], [1])):
        assert eval(repr(space), names) == space


def test_constraints_at_many_points():
    """A user's function that jaxlib 0.10.2 miscompiles over so many (see ``many_points``)."""
    matrix = np.random.default_rng(1).standard_normal((3, 3))

    def ball(p):
        return 1.0 - jnp.sum((matrix @ jnp.stack([p["a"], p["b"], p["c"]])) ** 2)

    space = Box([0.0] * 3, [1.0] * 3, names=["a", "b", "c"], constraints=[ball])
    points = uniform(3)
    room = 1.0 - np.sum((points @ matrix.T) ** 2, axis=1)
    sure = np.abs(room) > 1e-6
    np.testing.assert_array_equal(space.feasible(points)[sure], room[sure] > 0)
    assert 0.01 < np.mean(room > 0) < 0.99
