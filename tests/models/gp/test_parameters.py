"""Hyper-parameters as coordinates without bounds: there and back, ends, volume, starts."""

import jax
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from windfall.models.gp.evidence import Hyper
from windfall.models.gp.kernels import Matern52, RationalQuadratic
from windfall.models.gp.parameters import BOUNDS, Coordinates

HYPER = Hyper(RationalQuadratic([0.3, 0.7], 2.0, 1.5), np.float64(1e-3))
NAMES = [
    name
    for path, leaf in jax.tree_util.tree_flatten_with_path(HYPER)[0]
    for name in [path[-1].name] * np.size(leaf)
]


def flat(hyper) -> np.ndarray:
    return np.asarray(ravel_pytree(hyper)[0])


@pytest.fixture(autouse=True)
def _double():
    with jax.enable_x64(True):
        yield


def test_there_and_back():
    box = Coordinates(HYPER)
    for way in (box.at, box.exactly):
        np.testing.assert_allclose(
            flat(box.hyper(way(np.log(flat(HYPER))))), flat(HYPER), rtol=1e-12
        )


def test_far_out_lie_the_ends_of_the_box():
    box = Coordinates(HYPER)
    wanted = np.array([BOUNDS[name] for name in NAMES])
    for sign, end in ((-1.0, wanted[:, 0]), (1.0, wanted[:, 1])):
        np.testing.assert_allclose(
            flat(box.hyper(np.full(len(NAMES), sign * 50.0))), end, rtol=1e-12
        )
        at, exactly = box.at(np.log(end)), box.exactly(np.log(end))
        np.testing.assert_allclose(at, np.full(len(NAMES), sign * np.log(999.0)), rtol=1e-9)
        assert np.all(sign * np.asarray(exactly) > 30.0)
    outside = jax.tree.map(lambda x: 1e9 * x, HYPER)
    np.testing.assert_allclose(flat(box.inside(outside)), wanted[:, 1], rtol=1e-12)
    np.testing.assert_array_equal(flat(box.inside(HYPER)), flat(HYPER))


def test_the_volume_is_that_of_the_map():
    box = Coordinates(HYPER)

    def volume(u):
        slopes = jax.jacfwd(lambda u: jax.numpy.log(ravel_pytree(box.hyper(u))[0]))(u)
        return np.linalg.slogdet(np.asarray(slopes))[1]

    here, there = np.linspace(-2.0, 1.0, len(NAMES)), np.linspace(0.5, -3.0, len(NAMES))
    np.testing.assert_allclose(
        box.log_volume(here) - box.log_volume(there), volume(here) - volume(there), rtol=1e-9
    )


def test_a_unit_of_a_coordinate_is_the_slope_of_the_map_and_never_next_to_nothing():
    box = Coordinates(HYPER)
    u = np.linspace(-2.5, 2.5, len(NAMES))  # sigmoid(±2.5): between 0.05 and 0.95
    slopes = jax.jacfwd(lambda u: jax.numpy.log(ravel_pytree(box.hyper(u))[0]))(u)
    np.testing.assert_allclose(np.diag(box.per_unit(u)), slopes, rtol=1e-9, atol=1e-12)
    ends = box.per_unit(np.full(len(NAMES), 40.0))
    np.testing.assert_allclose(ends, box.per_unit(np.full(len(NAMES), np.log(0.05 / 0.95))))


def test_replicates_that_differ_much_make_room_for_noise_and_start_there():
    box, noise = Coordinates(HYPER, within=300.0), NAMES.index("noise")
    assert np.exp(box.high[noise]) == pytest.approx(10 * 300.0)
    assert np.exp(box.start_low[noise]) == pytest.approx(300.0)
    assert np.exp(box.start_high[noise]) == pytest.approx(300.0)
    plain, quiet = Coordinates(HYPER), Coordinates(HYPER, within=0.9)
    others = np.arange(len(NAMES)) != noise
    for side in ("low", "high", "start_low", "start_high"):
        np.testing.assert_array_equal(getattr(quiet, side), getattr(plain, side))
        np.testing.assert_array_equal(getattr(box, side)[others], getattr(plain, side)[others])


@pytest.mark.parametrize(("error", "least"), [(1e-9, 1e-3), (0.2, 0.2), (40.0, 1.0)])
def test_payoffs_vary_by_no_less_than_can_be_told(error, least):
    box, plain = Coordinates(HYPER, error=error), Coordinates(HYPER)
    variance = np.array(NAMES) == "variance"
    np.testing.assert_allclose(np.exp(box.low[variance]), least, rtol=1e-12)
    np.testing.assert_array_equal(box.low[~variance], plain.low[~variance])


def test_random_starts_are_what_features_in_a_unit_box_and_rewards_of_deviation_one_suggest():
    box = Coordinates(Hyper(Matern52([0.5, 0.5], 1.0), np.float64(1e-3)))
    low, high = np.exp(box.start_low), np.exp(box.start_high)
    assert np.all(np.asarray(box.low) < box.start_low)
    assert np.all(np.asarray(box.start_high) < box.high)
    names = ["lengthscale", "lengthscale", "variance", "noise"]
    for name, a, b in zip(names, low, high, strict=True):
        if name == "lengthscale":  # payoffs change inside the box: not longer than its side
            assert 10 < 1 / a <= 25
            assert b == pytest.approx(1.0)
        elif name == "variance":  # around that of the rewards
            assert a < 1 < b
            assert b / a < 50
        else:  # little, as the last start has much
            assert b <= 0.01 * (1 + 1e-12)
            assert a >= BOUNDS["noise"][0]
