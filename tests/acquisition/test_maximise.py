"""The maximiser on functions whose maximum is known: edges, constraints, choices, NaN."""

import itertools
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from windfall.acquisition.maximise import APART, SCATTERED, maximise
from windfall.acquisition.polish import LANES, Climb, Surface, polish
from windfall.acquisition.region import Region
from windfall.space import AtMost, Box, Categorical, Integer, Parameters, Real


class Landscape(eqx.Module):
    """What the maximiser looks at: a function with a parameter."""

    value: Callable
    centre: Any

    def __call__(self, x):
        return self.value(x, self.centre)


def search(space, value, *, centre=0.0, seed=0, avoid=None, observed=(), starts=256):
    """The answer as a unit point, and how the search ended."""
    inputs = np.reshape(observed, (len(observed), space.dimension))
    avoid = np.zeros((0, space.dimension)) if avoid is None else avoid
    score = Landscape(value, np.asarray(centre))
    surface = Surface(score, Region.of(space), space.fill(starts), SCATTERED + 16)
    rng = np.random.default_rng(seed)
    x, ended = maximise(rng, surface, inputs, np.ones(len(inputs)), avoid)
    np.testing.assert_allclose(space.snap(x[None])[0], x, rtol=0, atol=1e-12)  # it exists
    assert space.feasible(space.natural(x[None]))[0]
    return x, ended


def bowl(x, centre):
    return -jnp.sum((x - centre) ** 2, axis=1)


BOX = Box([0, 0, 0], [1, 1, 1])


@given(centre=st.lists(st.floats(-0.5, 1.5), min_size=3, max_size=3), scale=st.floats(-9, 9))
@settings(max_examples=20)
def test_the_nearest_point_of_the_box_whatever_the_units(centre, scale):
    """Inside, on a face, on an edge, in a corner; and exactly so where the maximum is outside."""
    size = 10.0**scale
    centre = np.array(centre)
    x, ended = search(BOX, scaled_bowl, centre=np.append(centre, size))
    nearest = np.clip(centre, 0.0, 1.0)
    np.testing.assert_allclose(x, nearest, atol=2e-5)
    outside = (centre < -1e-3) | (centre > 1 + 1e-3)
    np.testing.assert_array_equal(x[outside], nearest[outside])
    assert ended.gradient_norm < 1e-4 * size
    best = -size * np.sum((nearest - centre) ** 2)
    assert float(ended.value) == pytest.approx(best, abs=1e-9 * size)


def scaled_bowl(x, packed):
    return packed[-1] * bowl(x, packed[:-1])


def ripples(x, centre):
    return jnp.sum(jnp.cos(12.0 * (x - centre)) - 2.0 * (x - centre) ** 2, axis=1)


def test_the_highest_of_many_peaks():
    for seed in range(4):
        centre = np.random.default_rng(seed).uniform(0.1, 0.9, 3)
        x, ended = search(BOX, ripples, centre=centre, seed=seed)
        np.testing.assert_allclose(x, centre, atol=1e-6)
        assert ended.polished
        assert ended.gradient_norm < 1e-4


def test_the_same_key_gives_the_same_answer_and_no_key_a_worse_one():
    centre = np.array([0.3, 0.4, 0.5])
    first, again = (search(BOX, ripples, centre=centre)[0] for _ in range(2))
    np.testing.assert_array_equal(first, again)
    for seed in range(1, 4):
        np.testing.assert_allclose(
            search(BOX, ripples, centre=centre, seed=seed)[0], centre, atol=1e-6
        )


def needle(x, centre):
    """Flat but for a spike that no space-filling point meets: no gradient leads there."""
    return jnp.exp(-0.5 * jnp.sum(((x - centre) / 1e-3) ** 2, axis=1))


def test_what_was_observed_is_a_start():
    centre = np.array([0.123, 0.456, 0.789])
    beside = centre + 5e-4
    missed, _ = search(BOX, needle, centre=centre)
    assert np.abs(missed - centre).max() > 0.01
    found, _ = search(BOX, needle, centre=centre, observed=[beside])
    np.testing.assert_allclose(found, centre, atol=1e-6)


def test_never_worse_than_the_best_start():
    def rough(x, centre):  # nothing that a gradient could say about it is true
        return jnp.sin(1e4 * jnp.sum(x * jnp.array([1.0, 1.7, 2.9]), axis=1))

    _, ended = search(BOX, rough, starts=512)
    assert ended.value >= float(jnp.max(rough(BOX.fill(512), 0.0)))


def half_nan(x, centre):
    return jnp.where(x[:, 0] < 0.5, jnp.nan, bowl(x, centre))


def test_nan_never_wins():
    x, ended = search(BOX, half_nan, centre=np.array([0.2, 0.5, 0.5]))
    assert x[0] >= 0.5
    assert np.isfinite(ended.value)
    assert ended.value > -0.1  # -0.09 on the border of what is no number
    x, ended = search(BOX, lambda x, centre: jnp.full(x.shape[0], jnp.nan))
    assert np.all(np.isfinite(x))
    assert np.isnan(ended.value)  # which the caller reports


def test_other_points_than_those_to_avoid():
    centre = np.array([0.3, 0.4, 0.5])
    avoid = np.full((4, 3), np.nan)
    for i in range(4):
        x, ended = search(BOX, bowl, centre=centre, avoid=avoid)
        assert not np.any(np.abs(avoid - x).max(axis=1) <= APART)
        assert ended.value > -1e-2  # and still a good one
        avoid[i] = x
    on_top = np.array([centre, *np.full((3, 3), np.nan)])
    x, _ = search(BOX, bowl, centre=centre, avoid=on_top)
    assert np.abs(x - centre).max() > APART


TRIANGLE = Box([0, 0], [1, 1], names=["x", "y"], constraints=[AtMost({"x": 1.0, "y": 1.0}, 1.0)])


def ring(p):
    return 0.5 - (p["x"] - 0.5) ** 2 - 2 * (p["y"] - 0.5) ** 2 - 0.3


def outside_the_disc(p):
    return (p["x"] - 0.5) ** 2 + (p["y"] - 0.5) ** 2 - 0.09


CONSTRAINED = {
    "a line": (TRIANGLE, [0.8, 0.7]),
    "a corner of line and edge": (TRIANGLE, [1.5, 0.1]),
    "not active": (TRIANGLE, [0.2, 0.3]),
    "an ellipse": (Box([0, 0], [1, 1], names=["x", "y"], constraints=[ring]), [0.9, 0.95]),
    "two at once": (
        Box([0, 0], [1, 1], ["x", "y"], [ring, AtMost({"x": 1e4, "y": 1e4}, 1.2e4)]), [0.9, 0.95],
    ),
    "not convex": (Box([0, 0], [1, 1], ["x", "y"], [outside_the_disc]), [0.55, 0.62]),
}  # fmt: skip


@pytest.mark.parametrize("case", CONSTRAINED)
def test_constraints_hold_and_the_best_allowed_point_is_found(case):
    space, centre = CONSTRAINED[case]
    centre = np.array(centre)
    _, ended = search(space, bowl, centre=centre)
    rules = [
        {"type": "ineq", "fun": lambda x, c=c: float(c({"x": x[0], "y": x[1]}))}
        for c in space.constraints
    ]
    reference = min(
        (
            minimize(lambda x: np.sum((x - centre) ** 2), start, bounds=[(0, 1)] * 2,
                     constraints=rules, tol=1e-14)
            for start in space.natural(space.fill(8))
        ),
        key=lambda end: end.fun if end.success else np.inf,
    )  # fmt: skip
    np.testing.assert_allclose(ended.value, -reference.fun, atol=1e-6)
    assert ended.gradient_norm < 0.02  # of an ordinary size 1; 0 but for where it ended exactly


MIXED = Parameters({
    "r": Real(1e-4, 1.0, log=True), "n": Integer(1, 40), "m": Integer(1, 64, log=True),
    "k": Categorical(list("abcde")),
})  # fmt: skip


def mixed_payoff(x, centre):
    """Each choice has its own best r and n."""
    kind = x[:, 3:] @ jnp.arange(5.0)
    worth = x[:, 3:] @ jnp.array([0.0, 0.3, 0.1, 0.31, 0.25])
    r, n = centre + 0.1 * kind, 0.9 - 0.15 * kind
    return worth - (x[:, 0] - r) ** 2 - 3.0 * (x[:, 1] - n) ** 2 - (x[:, 2] - x[:, 0]) ** 2


def test_whole_numbers_and_choices_as_good_as_trying_them_all():
    _, ended = search(MIXED, mixed_payoff, centre=0.2, starts=1024)
    rows = MIXED.unit(
        np.array([
            (1.0, n, m, k) for n, m, k in itertools.product(range(1, 41), range(1, 65), range(5))
        ])
    )  # fmt: skip
    kind = rows[:, 3:] @ np.arange(5.0)
    rows[:, 0] = np.clip(0.5 * (0.2 + 0.1 * kind + rows[:, 2]), 0.0, 1.0)  # the best r for each
    best = np.asarray(mixed_payoff(rows, 0.2)).max()
    assert float(ended.value) == pytest.approx(best, abs=1e-9)
    assert ended.gradient_norm < 1e-5


def test_a_space_that_is_used_up_repeats():
    space = Parameters({"n": Integer(0, 1), "k": Categorical(["a", "b"])})
    everything = np.array([[0, 1, 0], [0, 0, 1], [1, 1, 0], [1, 0, 1]], float)
    seen = np.full((4, 3), np.nan)
    for i in range(4):
        seen[i], _ = search(space, bowl, centre=np.array([1.0, 0.0, 1.0]), avoid=seen, starts=64)
    np.testing.assert_array_equal(np.unique(seen, axis=0), np.unique(everything, axis=0))
    np.testing.assert_array_equal(seen[0], [1, 0, 1])
    again, _ = search(space, bowl, centre=np.array([1.0, 0.0, 1.0]), avoid=seen, starts=64)
    np.testing.assert_array_equal(again, [1, 0, 1])


def test_neighbours_are_one_step_away():
    region = Region.of(MIXED)
    x = MIXED.encode({"r": 0.01, "n": 40, "m": 1, "k": "b"})
    moves = {tuple(MIXED.decode(row).items()) for row in np.asarray(region.neighbours(x))}
    here = {"r": MIXED.decode(x)["r"], "n": 40, "m": 1, "k": "b"}
    others = [here, {**here, "n": 39}, {**here, "m": 2}, *({**here, "k": k} for k in "acde")]
    assert moves == {tuple(point.items()) for point in others}


class Stairs(Surface):
    """Lane i climbs i steps and ends where it began, whatever the score."""

    def climb(self, scale, starts, angles, multipliers, evaluations):
        constraints = self.region.constraints
        slack = np.ones((LANES, len(constraints)))
        normals = np.zeros((LANES, len(constraints), 2))
        return Climb(angles, np.arange(LANES), np.zeros_like(angles), slack, normals)


def test_points_scored_on_a_climb_are_counted_in_the_lanes_asked_for_and_every_round():
    starts = np.full((4, 2), 0.25)
    for space, rounds in ((Box([0, 0], [1, 1]), 1), (TRIANGLE, 6)):
        ends, spent = polish(Stairs(bowl, Region.of(space), starts, 0), 1.0, starts)
        assert spent == rounds * (0 + 1 + 2 + 3)
        np.testing.assert_allclose(ends, starts, rtol=1e-12)
