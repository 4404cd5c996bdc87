"""The Problem: payoffs in every form, its optimum, and bad arguments."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from windfall.errors import InputError
from windfall.problems import Problem, Protocol

ARMS = np.array([[0.0, 1.0], [0.5, 0.5], [1.0, 0.0], [0.2, 0.9]])
PAYOFF = np.array([1.0, 4.0, 2.0, 3.0])


def test_defaults():
    problem = Problem(arms=ARMS, payoff=PAYOFF)
    assert (problem.size, problem.dimension, problem.snapshots) == (4, 2, 1)
    assert (problem.noise, problem.name, problem.initial_pool) == (0.0, "custom", None)
    assert problem.feature_names == ("x1", "x2")
    assert problem.protocol == Protocol(100, 100, 3, 2.0, 4)
    assert problem.box is None
    assert (problem.optimum(5), problem.optimal_arm(5)) == (4.0, 1)


finite = st.floats(-1e6, 1e6)


@given(
    payoff=hnp.arrays(float, st.tuples(st.integers(1, 5), st.integers(2, 6)), elements=finite),
    trial=st.integers(0, 20),
)
def test_trials_cycle_through_the_snapshots(payoff, trial):
    snapshots, size = payoff.shape
    problem = Problem(arms=np.arange(size)[:, None], payoff=payoff)
    row = list(payoff[trial % snapshots])
    assert problem.snapshots == snapshots
    assert problem.payoffs(trial).tolist() == row
    assert problem.optimum(trial) == max(row)
    assert problem.optimal_arm(trial) == row.index(max(row))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[:, 0] + 2 * x[:, 1],  # vectorised
        lambda x: x @ [1.0, 2.0],  # either way
        lambda x: float(x[0] + 2 * x[1]) if x.ndim == 1 else 1 / 0,  # one arm only, and it raises
        lambda x: (x * [1.0, 2.0]).sum(),  # one arm only, silently wrong with all arms
        lambda x: math.fsum([x[0], 2 * x[1]]),  # one arm only
        lambda x: (x * [1.0, 2.0]).sum(axis=-1, keepdims=True),  # a value too wrapped up
    ],
)
def test_a_function_is_evaluated_at_every_arm(function):
    expected = [2.0, 1.5, 1.0, 2.0]
    np.testing.assert_allclose(Problem(arms=ARMS, payoff=function).payoffs(0), expected)


@pytest.mark.parametrize("function", [lambda x: x[0] - x[1], lambda x: x[:, 0] - x[:, 1]])
def test_as_many_arms_as_features_is_not_misread(function):
    """There, `x[0] - x[1]` of the whole table has one value per arm, and the wrong ones."""
    arms = np.array([[5.0, 1.0], [2.0, 7.0]])
    np.testing.assert_array_equal(Problem(arms=arms, payoff=function).payoffs(0), [4.0, -5.0])


def test_a_vectorised_function_is_called_once():
    calls = []

    def payoff(x):
        calls.append(x.shape)
        return x[:, 0]

    problem = Problem(arms=ARMS, payoff=payoff)
    problem.optimum(0)
    assert calls == [(4, 2)]


def test_arrays_are_read_only_copies():
    arms, payoff = ARMS.copy(), PAYOFF.copy()
    corners = [[0.0, 0.0], [1.0, 1.0]]
    problem = Problem(arms=arms, payoff=payoff, initial_pool=np.arange(3), box=corners)
    arms[:] = payoff[:] = 9
    np.testing.assert_array_equal(problem.arms, ARMS)
    np.testing.assert_array_equal(problem.payoffs(0), PAYOFF)
    for array in (problem.arms, problem.payoff, problem.box, problem.initial_pool):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(ValueError, match="read-only"):
        problem.payoffs(0)[0] = 0


def test_a_table_names_the_features():
    frame = pd.DataFrame(ARMS, columns=["width", "height"])
    assert Problem(arms=frame, payoff=PAYOFF).feature_names == ("width", "height")
    assert Problem(arms=frame, payoff=PAYOFF, feature_names=("w", "h")).feature_names == ("w", "h")


def test_fewer_arms_than_initial_ones_lowers_the_protocol():
    assert Problem(arms=ARMS[:2], payoff=PAYOFF[:2]).protocol == Protocol(initial=2)


def test_a_box_may_have_no_width():
    corners = [[1.0, 3.0], [2.0, 3.0]]
    problem = Problem(arms=[[1.0, 3.0], [2.0, 3.0]], payoff=[0.0, 1.0], box=corners)
    np.testing.assert_array_equal(problem.box, corners)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"arms": [[0.0], [np.nan]]}, r"arms\[1, 0\] is nan"),
        ({"arms": [[0.0]], "payoff": [1.0]}, "at least 2 arms"),
        ({"payoff": PAYOFF[:3]}, r"payoff has shape \(3,\); expected \(4,\)"),
        ({"payoff": np.zeros((4, 3))}, r"payoff has shape \(4, 3\); .* or \(snapshots, 4\)"),
        ({"payoff": np.zeros((0, 4))}, r"payoff has shape \(0, 4\)"),
        ({"payoff": np.zeros((1, 1, 4))}, r"payoff has shape \(1, 1, 4\)"),
        ({"payoff": 1.0}, r"payoff has shape \(\)"),
        ({"payoff": [1.0, np.inf, 0.0, 0.0]}, r"payoff\[1\] is inf; expected a finite number"),
        ({"payoff": ["a", "b", "c", "d"]}, r"payoff\[0\] is .*'a'.*; expected a number"),
        ({"payoff": lambda x: x[:, 0] * np.nan}, r"payoff\[0\] is nan"),
        ({"payoff": lambda x: x}, r"payoff\(arms\) fails \(.*size 1.*\); expected a fun"),
        ({"payoff": lambda x: x.nothing}, r"payoff\(arms\) .*AttributeError.*'nothing'"),
        ({"noise": -0.1}, "noise is -0.1; expected one standard deviation, 0 or more"),
        ({"noise": np.nan}, "noise is nan; expected a finite number"),
        ({"noise": np.inf}, "noise is inf; expected a finite number"),
        ({"noise": "loud"}, "noise is .*'loud'.*; expected a number"),
        ({"noise": [0.1, 0.1]}, "noise is .*; expected one standard deviation"),
        ({"initial_pool": [0, 1, 4]}, "initial_pool has arm 4; expected whole numbers from 0 to 3"),
        ({"initial_pool": [-1, 1, 2]}, "initial_pool has arm -1"),
        ({"initial_pool": [0, 1.5, 2]}, "initial_pool has arm 1.5"),
        ({"initial_pool": [0, 1, 1e300]}, r"initial_pool has arm 1e\+300"),
        ({"initial_pool": [0, 2, 2, 1]}, "initial_pool has arm 2 more than once"),
        ({"initial_pool": [0, 1]}, "initial_pool has 2 arms; expected at least protocol.in"),
        ({"initial_pool": []}, "initial_pool has 0 arms"),
        ({"initial_pool": [[0, 1, 2]]}, r"initial_pool has shape \(1, 3\)"),
        ({"box": [0.0, 1.0]}, r"box has shape \(2,\); expected \(2, 2\)"),
        ({"box": [[0.0, 0.0], [1.0, np.nan]]}, r"box\[1, 1\] is nan"),
        (
            {"box": [[0.0, 2.0], [1.0, 1.0]]},
            r"box goes from 2\.0 to 1\.0 in feature 1; exp",
        ),
        (
            {"box": [[0.0, -1e308], [1.0, 1e308]]},
            r"box has a range from -1e\+308 to 1e\+308 in",
        ),
        ({"feature_names": ("a",)}, r"feature_names is \('a',\); expected 2 names"),
        ({"feature_names": ("a", 2)}, r"feature_names is \('a', 2\); expected 2 names"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(InputError, match=message) as caught:
        Problem(**({"arms": ARMS, "payoff": PAYOFF} | arguments))
    assert "\n" not in str(caught.value)
