"""Arm sets have the shape they promise, and features say no less than points."""

import numpy as np
import pytest

from windfall.problems import arm_sets


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def test_a_grid_holds_every_combination_once(rng):
    points = arm_sets.grid(rng, side=3, dimension=3)
    assert sorted(map(tuple, points)) == sorted(
        (a, b, c) for a in (0, 0.5, 1) for b in (0, 0.5, 1) for c in (0, 0.5, 1)
    )


def test_levels_hold_every_combination_once(rng):
    points = arm_sets.levels(rng, (2, 3))
    assert sorted(map(tuple, points)) == [(a, b) for a in range(2) for b in range(3)]


def test_scattered_points_fill_the_unit_box(rng):
    points = arm_sets.scattered(rng, 4000, 2)
    assert points.shape == (4000, 2)
    assert points.min() >= 0
    assert points.max() <= 1
    # Each quarter gets 1000 ± 27 points; five deviations are allowed.
    quarters, _, _ = np.histogram2d(*points.T, bins=2, range=[(0, 1), (0, 1)])
    np.testing.assert_allclose(quarters, 1000, atol=137)


def test_uneven_points_crowd_at_zero(rng):
    points = arm_sets.uneven(rng, 4000, 1, 2.0)
    # P(u² < 0.25) = 0.5: 2000 ± 32 points.
    assert abs((points < 0.25).sum() - 2000) < 160


def test_no_point_lies_in_a_hole(rng):
    points = arm_sets.holes(rng, 500, 2, count=3, radius=0.2)
    centres = np.random.default_rng(3).uniform(size=(3, 2))  # what the same generator drew first
    assert points.shape == (500, 2)
    for point in points:
        assert min(np.hypot(*(point - centre)) for centre in centres) > 0.2


def test_clusters_are_tight_and_apart(rng):
    points = arm_sets.clusters(rng, count=6, each=80, dimension=3, spread=0.01)
    groups = points.reshape(6, 80, 3)
    np.testing.assert_allclose(groups.std(axis=1), 0.01, rtol=0.4)  # deviation 8 % of itself
    assert groups.mean(axis=1).std(axis=0).min() > 0.1


def test_one_hot_features_spell_the_category(rng):
    points = arm_sets.categories(rng, count=4, each=5, dimension=2)
    features = arm_sets.one_hot(points)
    assert features.shape == (20, 6)
    for point, row in zip(points, features, strict=True):
        expected = [float(k == point[0]) for k in range(4)]
        assert row.tolist() == [*expected, *point[1:]]


def test_stretched_features_span_the_decades():
    features = arm_sets.stretched(np.ones((2, 5)), decades=6.0)
    np.testing.assert_allclose(features[0], [1e-3, 10**-1.5, 1.0, 10**1.5, 1e3])


def test_a_helix_has_radius_one_and_constant_speed():
    position = np.linspace(0.0, 1.0, 101)[:, None]
    x, y, z = arm_sets.helix(position, turns=5.0).T
    np.testing.assert_allclose(x**2 + y**2, 1.0)
    np.testing.assert_allclose(z, 2 * position[:, 0])
    steps = np.hypot(np.hypot(np.diff(x), np.diff(y)), np.diff(z))
    np.testing.assert_allclose(steps, steps[0])
    turned = np.unwrap(np.arctan2(y, x))
    assert turned[-1] - turned[0] == pytest.approx(10 * np.pi)
