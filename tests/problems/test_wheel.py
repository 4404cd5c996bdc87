"""The wheel, counted by a plain loop."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windfall.errors import InputError
from windfall.problems import load
from windfall.problems.wheel import wheel, wheel_payoff


def naive_wheel(rho, grid=70):
    arms, payoffs, inner = [], [], []
    for i in range(grid):
        for j in range(grid):
            x, y = -1 + 2 * i / (grid - 1), -1 + 2 * j / (grid - 1)
            r = math.hypot(x, y)
            if r > 1:
                continue
            if r <= rho:
                inner.append(len(arms))
                payoffs.append(0.2)
            elif y > 0:
                payoffs.append(1.0 if x > 0 else 0.05)
            else:
                payoffs.append(0.1 if x > 0 else 0.0)
            arms.append((x, y))
    return arms, payoffs, inner


@pytest.mark.parametrize("rho", [0.5, 0.7, 0.9])
def test_regions(rho):
    problem = load(f"wheel-{rho}")
    arms, payoffs, inner = naive_wheel(rho)
    np.testing.assert_allclose(problem.arms, arms, atol=1e-15)
    assert problem.payoffs(0).tolist() == payoffs
    assert problem.initial_pool.tolist() == inner
    assert (problem.optimum(0), problem.payoffs(0)[problem.optimal_arm(0)]) == (1.0, 1.0)
    assert payoffs.count(1.0) == payoffs.count(0.05) == payoffs.count(0.1) == payoffs.count(0.0)


@pytest.mark.parametrize("rho", [0.5, 0.7, 0.9])
def test_protocol(rho):
    problem = load(f"wheel-{rho}")
    assert (problem.name, problem.noise, problem.size) == (f"wheel-{rho}", 1e-3, 3720)
    protocol = problem.protocol
    assert (protocol.rounds, protocol.trials, protocol.initial) == (100, 100, 3)
    assert (protocol.kappa, protocol.components) == (2.0, 4)
    np.testing.assert_array_equal(problem.box, [[-1, -1], [1, 1]])


@given(rho=st.floats(0.1, 0.95))
def test_areas_of_any_wheel(rho):
    """Shares of the arms are shares of the area, up to a strip one cell wide along the edges."""
    problem = wheel(rho)
    jackpot = (problem.payoffs(0) == 1.0).mean()
    cell = 2 / 69
    strip = cell * (2 + 2 * math.pi) / math.pi  # radii and both arcs, against the disk's area π
    assert jackpot == pytest.approx((1 - rho**2) / 4, abs=strip)
    assert len(problem.initial_pool) / problem.size == pytest.approx(rho**2, abs=2 * strip)


def test_an_arm_on_an_axis_is_right_or_upper():
    corners = np.array([[0.9, 0.0], [0.0, 0.9], [-0.9, 0.0], [0.0, -0.9]])
    assert wheel_payoff(corners, 0.5).tolist() == [1.0, 1.0, 0.05, 0.1]


@pytest.mark.parametrize(
    ("rho", "grid", "message"),
    [
        (0.0, 70, "rho is 0.0; .*between 0 and 1"),
        (1.0, 70, "rho is 1.0; .*between 0 and 1"),
        (-0.5, 70, "rho is -0.5"),
        (math.nan, 70, "rho is nan"),
        (0.5, 1, "grid is 1; .*2 or more"),
        (0.9999, 70, "grid is 70, in which no arm pays 1 with rho 0.9999"),
        (0.01, 70, "initial_pool has 0 arms"),
    ],
)
def test_bad_arguments(rho, grid, message):
    with pytest.raises(InputError, match=message):
        wheel(rho, grid)
