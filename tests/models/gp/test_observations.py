"""Sufficient statistics against plain sums over every reward."""

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from models.gp import naive
from models.gp.naive import observed, pulls

from windfall.models.capacity import BUCKETS, bucket
from windfall.models.gp.observations import Observations, natural_scale

ARMS = np.array([[0.0, 0.0], [0.0, 0.5], [1.0, 0.5], [0.25, 0.75]])
rewards = st.floats(-1e6, 1e6, allow_subnormal=False)
histories = st.lists(st.tuples(st.integers(0, len(ARMS) - 1), rewards), min_size=1, max_size=12)
add = jax.jit(Observations.add)


def told(history, capacity=16):
    observations = Observations.empty(capacity, 2)
    for arm, reward in history:
        observations = add(observations, ARMS[arm], np.float64(reward))
    return observations


def by_arm(observations):
    """What is known about each input, whatever slot it is in."""
    used = int(observations.used)
    rows = [np.asarray(a)[:used] for a in (observations.count, observations.mean)]
    squares = np.asarray(observations.squares)[:used]
    keys = map(tuple, np.asarray(observations.features)[:used].tolist())
    return dict(zip(keys, np.stack([*rows, squares], axis=1), strict=True))


@given(histories)
def test_adding_one_by_one_equals_grouping(history):
    arms, rewards = np.array([a for a, _ in history]), np.array([r for _, r in history])
    ours, plain = told(history), observed(ARMS[arms], rewards)
    magnitude = np.abs(rewards).max() + 1e-3
    assert ours.used == plain.used
    np.testing.assert_array_equal(ours.features, plain.features)
    np.testing.assert_array_equal(ours.count, plain.count)
    np.testing.assert_allclose(ours.mean, plain.mean, rtol=1e-12, atol=1e-13 * magnitude)
    np.testing.assert_allclose(ours.squares, plain.squares, rtol=1e-9, atol=1e-12 * magnitude**2)


@given(histories, st.randoms(use_true_random=False))
def test_the_order_of_the_rewards_does_not_matter(history, random):
    shuffled = random.sample(history, len(history))
    magnitude = max(abs(reward) for _, reward in history) + 1e-3
    one, other = by_arm(told(history)), by_arm(told(shuffled))
    assert one.keys() == other.keys()
    scale = np.array([1.0, magnitude, magnitude**2])
    for key in one:
        np.testing.assert_allclose(one[key] / scale, other[key] / scale, rtol=1e-9, atol=1e-12)


def test_many_close_rewards_keep_their_spread():
    # The textbook Σy² − n·ȳ² would lose everything here.
    values = 1e8 + np.random.default_rng(0).standard_normal(200)
    squares = told([(0, v) for v in values]).squares[0]
    np.testing.assert_allclose(squares, np.sum((values - values.mean()) ** 2), rtol=1e-6)


def test_slots_are_filled_up_to_the_capacity():
    observations = told([(0, 1.0), (1, 2.0), (2, 3.0), (3, 4.0), (2, 5.0)], capacity=4)
    assert observations.used == observations.capacity == 4
    assert observations.live.all()
    assert observations.slot(ARMS[2]) == 2


def test_the_zeros_of_a_free_slot_are_no_input():
    observations = told([(1, 1.0)])
    assert observations.slot(ARMS[0]) == 1
    np.testing.assert_array_equal(observations.live, np.arange(16) < 1)


def test_resizing_keeps_the_data_and_adds_room_or_takes_it_away():
    observations = told([(3, 1.0), (1, 2.0), (3, 4.0)])
    larger = observations.resized(32)
    assert larger.capacity == 32
    assert by_arm(larger).keys() == by_arm(observations).keys()
    np.testing.assert_array_equal(larger.mean[:16], observations.mean)
    np.testing.assert_array_equal(larger.mean[16:], 0.0)
    for a, b in zip(*map(jax.tree.leaves, (larger.resized(16), observations)), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 64, 65, 4096, 4097, 10_000])
def test_bucket_is_the_smallest_that_fits(size):
    capacity = bucket(size)
    assert capacity >= size
    smaller = [c for c in BUCKETS if c < capacity] + [capacity - BUCKETS[-1]]
    assert all(c < max(size, 1) for c in smaller)
    assert capacity in BUCKETS or capacity % BUCKETS[-1] == 0


@pytest.mark.parametrize("repeats", [False, True])
def test_standardised_rewards_have_mean_0_and_deviation_1_over_the_inputs(repeats):
    x, y = pulls(repeats)
    data = observed(x, y)
    scale = natural_scale(data)
    scaled = scale.apply(data)
    location, spread = naive.scale(x, y)
    plain = observed(x, (y - location) / spread)
    np.testing.assert_allclose([scale.location, scale.spread], [location, spread], rtol=1e-12)
    np.testing.assert_allclose(scaled.mean, plain.mean, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(scaled.squares, plain.squares, rtol=1e-9, atol=1e-12)
    live = np.asarray(scaled.mean)[: int(scaled.used)]
    np.testing.assert_allclose([live.mean(), live.std()], [0.0, 1.0], atol=1e-12)


def test_pulling_an_arm_again_does_not_move_the_scale():
    x, y = pulls(repeats=False)
    once = natural_scale(observed(x, y))
    again = np.r_[np.arange(12), np.full(50, 3)]
    often = natural_scale(observed(x[again], y[again]))
    np.testing.assert_allclose(
        [often.location, often.spread], [once.location, once.spread], rtol=1e-12
    )


@pytest.mark.parametrize("value", [0.0, 0.1, -7.3, 1e9, 1e-12])
def test_equal_rewards_are_only_centred(value):
    x, y = pulls(repeats=True)
    data = observed(x, np.full_like(y, value))
    scale = natural_scale(data)
    scaled = scale.apply(data)
    np.testing.assert_allclose(scale.location, value, rtol=1e-12)
    # Their size is the only scale there is.
    np.testing.assert_allclose(scale.spread, abs(value) or 1.0, rtol=1e-12)
    np.testing.assert_allclose(scaled.mean, 0.0, atol=1e-12)
    assert data.alike
    assert not observed(x, y).alike


def test_repeated_pulls_of_one_arm_have_the_scale_of_their_noise():
    y = np.array([998.0, 1002.0, 1000.0, 1004.0])
    data = observed(np.zeros((4, 2)), y)
    scale = natural_scale(data)
    np.testing.assert_allclose([scale.location, scale.spread], [1001.0, y.std(ddof=1)], rtol=1e-12)
    np.testing.assert_allclose(data.within(), y.var(ddof=1), rtol=1e-12)


@pytest.mark.parametrize("unit", [1e-12, 1e9, 1e100])
def test_the_unit_of_the_rewards_does_not_show(unit):
    x, y = pulls(repeats=True)
    data, large = observed(x, y), observed(x, y * unit)
    plain = natural_scale(data).apply(data)
    scale = natural_scale(large)
    scaled = scale.apply(large)
    np.testing.assert_allclose(scaled.mean, plain.mean, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(scaled.squares, plain.squares, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(scale.spread, naive.scale(x, y)[1] * unit, rtol=1e-12)


@pytest.mark.parametrize("unit", [1e-300, 1e-200, 1e150])
def test_squares_of_rewards_neither_underflow_nor_overflow(unit):
    x, y = pulls(repeats=False)
    scale = natural_scale(observed(x, y * unit))
    location, spread = naive.scale(x, y)
    np.testing.assert_allclose(scale.location / unit, location, rtol=1e-12)
    np.testing.assert_allclose(scale.spread / unit, spread, rtol=1e-12)


def test_no_rewards_have_no_scale():
    empty = Observations.empty(16, 2)
    scale = natural_scale(empty)
    scaled = scale.apply(empty)
    assert (scale.location, scale.spread) == (0.0, 1.0)
    np.testing.assert_array_equal(scaled.mean, 0.0)
