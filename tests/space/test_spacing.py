"""Features whose values crowd together: who is spread, how far, and that nothing else changes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import windfall as wf
from windfall import specs
from windfall.models.units import user_units
from windfall.runtime.execution import float64
from windfall.space import Arms
from windfall.space.growing import grown
from windfall.space.spacing import moved, spacing

columns = hnp.arrays(float, st.integers(2, 60), elements=st.floats(0, 1, width=32))


def naive(column: np.ndarray) -> np.ndarray:
    """Value by value: how far each goes towards the share of arms below it."""

    def below(value):
        return np.sum(column < value) + np.sum(column == value) / 2

    low, high = column.min(), column.max()
    part = 1 - len(set(column.tolist())) / len(column) / 2
    shares = [(below(v) - below(low)) / (below(high) - below(low)) for v in column]
    return (1 - part) * column + part * (low + (high - low) * np.array(shares))


@pytest.mark.parametrize("sizes", [10.0 ** np.arange(6), np.array([1.0, 2, 3, 50])])
def test_levels_that_many_share_are_steps(sizes):
    column = np.tile(sizes / sizes.max(), 400)
    spread = spacing(column)
    assert spread is not None
    np.testing.assert_allclose(np.diff(spread.to), np.diff(spread.to)[0], atol=1e-2)


def test_mixtures_most_of_which_have_none_of_it():
    """Whether there is any of a metal at all is the largest step, and not 0.6 to 1."""
    spread = spacing(np.repeat([0.0, 0.1, 0.2, 0.6, 1.0], [80, 5, 5, 5, 5]))
    assert spread is not None
    assert np.argmax(np.diff(spread.to)) == 0
    assert np.argmax(np.diff(spread.at)) > 1


@given(column=columns)
def test_the_order_and_the_ends_stay(column):
    spread = spacing(column)
    if spread is None:
        return
    assert (np.diff(spread.at) > 0).all()
    assert (np.diff(spread.to) > 0).all()
    assert (spread.to[0], spread.to[-1]) == (spread.at[0], spread.at[-1])
    there = moved(column, spread.at, spread.to)
    np.testing.assert_allclose(there, naive(column), atol=1e-12)
    np.testing.assert_allclose(moved(there, spread.to, spread.at), column, atol=1e-9)


def test_outside_nothing_moves():
    start, end = np.array([0.0, 0.1, 1.0]), np.array([0.0, 0.5, 1.0])
    beyond = np.array([-3.0, -1e-9, 1.0, 1.5])
    np.testing.assert_array_equal(moved(beyond, start, end), beyond)


@pytest.mark.parametrize("count", [5, 12, 40, 300])
def test_values_drawn_evenly_are_seldom_taken_for_crowded(count):
    """One case of twenty by luck, and fewer where a quarter of the range is more than that.

    The margin is four deviations of a share of 0.05 among 400 draws.
    """
    rng = np.random.default_rng(count)
    touched = [spacing(rng.random(count)) is not None for _ in range(400)]
    assert np.mean(touched) <= 0.05 + 4 * np.sqrt(0.05 * 0.95 / 400)


@pytest.mark.parametrize(
    "column",
    [
        np.linspace(0, 1, 50),
        np.repeat([0.0, 1.0], 5),
        np.array([0.0] * 99 + [1.0]),
        np.zeros(7),
    ],
    ids=["grid", "two levels", "one-hot", "constant"],
)
def test_evenly_spread_values_stay(column):
    assert spacing(column) is None


def test_units_make_no_difference():
    """Bytes or kilobytes: the model sees the same."""
    sizes = np.array([[10.0**k, k] for k in range(6)] * 30)
    here, there = Arms(sizes), Arms(sizes * [1e-3, 7.0] + [5.0, 0.0])
    np.testing.assert_allclose(here.points, there.points, atol=1e-12)
    assert here.unit_box.spacing[0] is not None
    assert here.unit_box.spacing[1] is None


def test_who_gives_a_box_means_distances():
    sizes = 10.0 ** np.arange(5)[:, None]
    given_box = Arms(sizes, box=[[10.0**0], [10.0**4]])
    np.testing.assert_array_equal(given_box.points, (sizes - 1) / (1e4 - 1))
    assert not np.allclose(Arms(np.tile(sizes, (9, 1))).points[:5], given_box.points)


def test_arms_that_come_later_move_nobody():
    first = Arms(np.tile(10.0 ** np.arange(5)[:, None], (9, 1)))
    more = grown(first, np.array([[3.0], [1e6]]), None, [45, 46])
    np.testing.assert_array_equal(more.points[:45], first.points)
    np.testing.assert_array_equal(more.points[45:], first.unit([[3.0], [1e6]]))
    assert more.points[46, 0] > 1
    again = specs.from_spec(specs.to_spec(more))
    np.testing.assert_array_equal(again.points, more.points)
    assert again == more


def test_studies_that_began_before_features_were_spread_go_on_as_they_were():
    sizes = np.tile(10.0 ** np.arange(5)[:, None], (9, 1))
    kept = {"type": "Arms", "features": sizes.tolist(), "names": ["size"], "box": None}
    before = specs.from_spec(kept)
    np.testing.assert_array_equal(before.points, (sizes - 1) / (1e4 - 1))
    spec = specs.to_spec(Arms(sizes, ["size"]))
    assert spec["founders"] == 45
    np.testing.assert_array_equal(specs.from_spec(spec).points, Arms(sizes).points)
    # Where nothing is spread, nothing is said of it.
    assert "founders" not in specs.to_spec(Arms(np.linspace(0, 1, 9)[:, None]))


def test_a_long_list_is_looked_at_in_part():
    values = np.random.default_rng(0).random(200_000) ** 8
    space = Arms(values[:, None])
    assert space.unit_box.spacing[0] is not None
    assert len(space.unit_box.spacing[0].at) == 1024
    np.testing.assert_allclose(space.natural(space.points)[:, 0], values, atol=1e-12)
    # Half of the way: the mean of where they are and of their ranks.
    ranks = np.argsort(np.argsort(values)) / (len(values) - 1)
    np.testing.assert_allclose(space.points[:, 0], 0.5 * (values + ranks), atol=5e-3)


@float64
def test_compiled_code_finds_the_way_back():
    sizes = np.array([[10.0**k, j] for k in range(6) for j in range(9)])
    space = Arms(sizes)
    x = np.random.default_rng(0).uniform(-0.2, 1.2, (50, 2))
    back = jax.jit(user_units(space))(jnp.asarray(x))
    np.testing.assert_allclose(back, space.natural(x), rtol=1e-12)
    np.testing.assert_allclose(user_units(space)(space.points), sizes, rtol=1e-9)


def test_a_payoff_of_the_logarithm_is_learned_as_if_it_were_given():
    """Levels 1, 10, … 10⁵: the model predicts as it does where the exponents are the feature."""
    sizes = 10.0 ** np.arange(6)
    others = np.linspace(0, 1, 8)
    plain = np.array([[k, y] for k in range(6) for y in others])
    given_sizes = plain.copy()
    given_sizes[:, 0] = sizes[plain[:, 0].astype(int)]
    means = []
    for arms in (plain, given_sizes):
        bandit = wf.Bandit(arms, seed=0)
        for arm in range(0, 48, 5):
            bandit.tell(arm, np.sin(plain[arm, 0]) + plain[arm, 1])
        bandit.ask()
        means.append(bandit.posterior()[0])
    np.testing.assert_allclose(means[0], means[1], atol=0.1)
