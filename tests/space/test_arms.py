"""The arms in the unit box, and points that fill it."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import qmc

from windfall import specs
from windfall.errors import InputError
from windfall.space import Arms
from windfall.space.arms import shuffled

features = hnp.arrays(
    float, st.tuples(st.integers(2, 8), st.integers(1, 4)), elements=st.floats(-1e6, 1e6, width=32)
)


@given(arms=features)
def test_arms_fill_the_unit_box_and_come_back(arms):
    space = Arms(arms)
    assert (space.size, space.dimension) == arms.shape
    assert space.points.min() >= 0.0
    assert space.points.max() <= 1.0
    varies = np.ptp(arms, axis=0) > 0
    np.testing.assert_array_equal(space.unit_box.varies, varies)
    np.testing.assert_array_equal(space.points.min(axis=0), 0.0)
    np.testing.assert_array_equal(space.points.max(axis=0), varies * 1.0)
    np.testing.assert_allclose(space.natural(space.points), arms, rtol=1e-12, atol=1e-6)
    np.testing.assert_allclose(space.unit(arms), space.points)


@given(arms=features)
def test_equal_arms_stay_equal(arms):
    space = Arms(np.concatenate([arms, arms]))
    np.testing.assert_array_equal(space.points[: len(arms)], space.points[len(arms) :])


def test_a_box_of_its_own():
    space = Arms([[0.0, 1.0], [1.0, 0.5]], box=[[-1.0, 0.0], [1.0, 2.0]])
    np.testing.assert_array_equal(space.points, [[0.5, 0.5], [1.0, 0.25]])
    np.testing.assert_array_equal(space.natural(np.array([[0.0, 0.0]])), [[-1.0, 0.0]])


@pytest.mark.parametrize("points", [16, 100, 2048])
def test_fill_covers_the_box(points):
    filled = Arms(np.random.default_rng(0).random((5, 3))).fill(points)
    assert filled.shape == (points, 3)
    assert filled.min() >= 0.0
    assert filled.max() <= 1.0
    random = np.random.default_rng(0).random((points, 3))
    assert qmc.discrepancy(filled) < 0.5 * qmc.discrepancy(random)


def test_fill_is_the_same_every_time():
    space = Arms(np.eye(2))
    np.testing.assert_array_equal(space.fill(64), space.fill(64))
    np.testing.assert_array_equal(space.fill(64)[:32], space.fill(32))


def test_a_constant_feature_changes_nothing():
    """Points off the plane of the arms would tell of a model that nobody will ever use."""
    arms = np.random.default_rng(0).random((10, 2))
    plain, padded = Arms(arms), Arms(np.insert(arms, 1, 7.0, axis=1))
    np.testing.assert_array_equal(padded.fill(64)[:, [0, 2]], plain.fill(64))
    np.testing.assert_array_equal(padded.fill(64)[:, 1], 0.0)
    np.testing.assert_array_equal(padded.natural(padded.fill(64))[:, 1], 7.0)


def test_arms_that_are_all_alike():
    space = Arms(np.full((3, 2), 4.0))
    np.testing.assert_array_equal(space.points, 0.0)
    np.testing.assert_array_equal(space.fill(16), np.zeros((16, 2)))


@pytest.mark.parametrize(("size", "expected"), [(5, 5), (512, 512), (513, 257), (2500, 500)])
def test_anchors_are_a_few_arms_evenly_picked(size, expected):
    space = Arms(np.arange(float(size))[:, None])
    anchors = space.anchors()
    assert anchors.shape == (expected, 1)
    assert np.ptp(np.diff(anchors[:, 0])) == pytest.approx(0.0, abs=1e-12)
    assert set(anchors[:, 0]) <= set(space.points[:, 0])


def test_arms_may_have_titles_which_specs_keep():
    arms = Arms([[0.0], [1.0]], titles=["blank", "<b>steel</b>"])
    assert [arms.title(0), arms.title(1)] == ["blank", "<b>steel</b>"]
    assert specs.from_spec(json.loads(json.dumps(specs.to_spec(arms)))) == arms
    assert arms != Arms([[0.0], [1.0]])


def test_arms_without_titles_have_the_spec_that_they_always_had():
    arms = Arms([[0.0], [1.0]])
    assert arms.title(0) is None
    assert "titles" not in specs.to_spec(arms)


@pytest.mark.parametrize("titles", ["ab", ["a"], ["a", 2], 7, np.array("a")])
def test_titles_are_a_text_for_each_arm(titles):
    with pytest.raises(InputError, match=r"^titles is .*; expected 2 texts, one per arm$"):
        Arms([[0.0], [1.0]], titles=titles)


zeros_and_ones = st.sampled_from([-0.0, 0.0, 1.0])
few = hnp.arrays(float, st.tuples(st.integers(2, 9), st.integers(1, 2)), elements=zeros_and_ones)


@given(arms=few, seed=st.integers(0, 3), data=st.data())
def test_the_next_initial_arm_is_that_of_a_search_by_hand(arms, seed, data):
    """New features if there are any, else an arm nobody has had, else the least used."""
    used = data.draw(st.lists(st.integers(0, len(arms) - 1), max_size=12))
    order = shuffled(np.arange(len(arms)), seed).tolist()
    fresh = [a for a in order if not any((arms[a] == arms[u]).all() for u in used)]
    least = min(order, key=used.count)  # the first of those, which nobody has had if there is one
    assert Arms(arms).untried(used, seed) == [*fresh, least][0]


@given(arms=few, data=st.data())
def test_features_mean_the_first_arm_that_has_them(arms, data):
    arm = data.draw(st.integers(0, len(arms) - 1))
    first = next(i for i, row in enumerate(arms) if (row == arms[arm]).all())
    assert Arms(arms).point(arms[arm]) == first


def test_single_precision_stays_and_changes_nothing():
    wide = np.random.default_rng(0).uniform(-3, 5, size=(40, 2)).astype(np.float32).astype(float)
    single, double = Arms(wide.astype(np.float32)), Arms(wide)
    assert single.arms.dtype == np.float32
    assert single.points.dtype == float
    np.testing.assert_array_equal(single.points, double.points)
    assert single == double
    assert hash(single) == hash(double)
    assert specs.describe(single) == specs.describe(double)
    assert [single.point(row) for row in wide] == [*range(40)]


def test_features_are_copied_unless_nobody_can_write_to_them():
    features = np.random.default_rng(0).uniform(size=(5, 2))
    frozen, view = features.copy(), features.view()
    frozen.setflags(write=False)
    view.setflags(write=False)  # while what it looks at can be written to
    assert np.shares_memory(Arms(frozen).arms, frozen)
    for given_away in (features, view):
        assert not np.shares_memory(Arms(given_away).arms, features)


@pytest.mark.parametrize("dtype", [float, np.float32])
def test_an_arm_is_found_by_its_features_whatever_its_zeros(dtype):
    space = Arms(np.array([[1.0, 0.0], [0.5, -0.0], [0.5, 0.0], [1.0, 2.0]], dtype))
    assert space.point([0.5, 0.0]) == space.point([0.5, -0.0]) == 1
    assert space.point((1.0, 2.0)) == 3
    with pytest.raises(InputError, match="expected the features of one"):
        space.point([2.0, 1.0])
