"""Replicates: their means are the payoffs, and what is no such table is refused in words."""

import pickle

import numpy as np
import pytest

from windfall.errors import InputError
from windfall.problems import Problem

ARMS = [[0.0], [1.0], [2.0]]
GROUPS = [[1.0, 3.0], [4.0], [5.0, 5.0, 8.0]]


def test_payoff_and_noise_are_mean_and_spread():
    problem = Problem(arms=ARMS, replicates=GROUPS)
    np.testing.assert_allclose(problem.payoff, [2.0, 4.0, 6.0])
    # Mean squared deviations of a draw: 1 at the first arm, 0, and (1 + 1 + 4) / 3 at the third.
    assert problem.noise == pytest.approx(np.sqrt((1 + 0 + 2) / 3))
    np.testing.assert_array_equal(
        problem.replicates, [[1, 3, np.nan], [4, np.nan, np.nan], [5, 5, 8]]
    )
    with pytest.raises(ValueError, match="read-only"):
        problem.replicates[0, 0] = 9.0


def test_holes_anywhere_in_an_array_are_no_measurements():
    table = np.array([[np.nan, 1.0, 3.0], [4.0, np.nan, np.nan], [5.0, 5.0, 8.0]])
    np.testing.assert_array_equal(
        Problem(arms=ARMS, replicates=table).replicates,
        Problem(arms=ARMS, replicates=GROUPS).replicates,
    )


def test_problems_travel_to_other_processes():
    runs = {"them": [[1.0, 4.0], [2.0, np.nan]]}
    problem = pickle.loads(pickle.dumps(Problem(arms=ARMS, replicates=GROUPS, references=runs)))
    np.testing.assert_allclose(problem.reference_gap("them"), [4.5, 3.0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"replicates": GROUPS[:2]}, "replicates has 2 lists; expected 3, one per arm"),
        ({"replicates": [[1.0], [], [2.0]]}, "replicates of arm 1 is empty; expected at least one"),
        ({"replicates": [[1.0], [np.nan], [2.0]]}, "replicates of arm 1 is empty"),
        ({"replicates": [[1.0], [np.inf], [2.0]]}, "replicates.* is inf; expected a finite number"),
        ({"replicates": [["a"], ["b"], ["c"]]}, "replicates is no table of numbers; expected"),
        ({"replicates": 3.0}, "replicates is no table of numbers; expected"),
        ({"replicates": GROUPS, "payoff": [1, 2, 3]}, "payoff is given beside replicates"),
        ({"replicates": GROUPS, "noise": 0.1}, "noise is given beside replicates"),
        ({}, "payoff is missing; give it, or every single measurement as replicates"),
    ],
)  # fmt: skip
def test_what_is_refused(arguments, message):
    with pytest.raises(InputError, match=message) as caught:
        Problem(arms=ARMS, **arguments)
    assert "\n" not in str(caught.value)
