"""Runs of others: what is kept of them, and what is refused in words."""

import numpy as np
import pandas as pd
import pytest

from windfall.errors import InputError
from windfall.problems import Problem
from windfall.problems.references import check_references

NAN = np.nan


def test_runs_are_kept_by_name_as_read_only_copies():
    runs = np.array([[1.0, 4.0], [2.0, NAN]])
    kept = check_references({"them": runs, "us": pd.DataFrame({"1": [3]})})
    runs[:] = 9.0
    np.testing.assert_array_equal(kept["them"], [[1.0, 4.0], [2.0, NAN]])
    np.testing.assert_array_equal(kept["us"], [[3.0]])
    with pytest.raises(ValueError, match="read-only"):
        kept["them"][0, 0] = 0.0
    assert check_references(None) == check_references({}) == {}


def test_a_gap_is_exactly_0_where_all_runs_have_the_best():
    """The mean of fifty times 0.1 is not 0.1: a curve of such gaps spans sixteen decades."""
    problem = Problem(
        arms=[[0.0], [1.0]], payoff=[0.0, 0.1], references={"them": [[0.0, 0.1]] * 50}
    )
    assert np.mean([0.1] * 50) != 0.1
    assert problem.reference_gap("them")[1] == 0.0


@pytest.mark.parametrize(
    ("references", "message"),
    [
        ([[1.0, 2.0]], r"references is \[\[1.0, 2.0\]\]; expected runs by name"),
        ("them", "references is 'them'; expected runs by name"),
        ({1: [[1.0]]}, r"references is \{1: \[\[1.0\]\]\}; expected runs by name"),
        ({"a": [[1, 2], [1]]}, r"references\['a'\] is \[\[1, 2\], \[1\]\]; expected rows of"),
        ({"a": "x"}, r"references\['a'\] is 'x'; expected rows of as many numbers, NaN where"),
        ({"a": [["1", "2"]]}, r"references\['a'\] is \[\['1', '2'\]\]; expected rows"),
        ({"a": [[1.0, 2.0], [NAN, np.inf]]}, r"references\['a'\]\[1, 1\] is inf; expected a fin"),
        ({"a": [1.0]}, r"references\['a'\] has shape \(1,\); expected \(runs, pulls\) rewards"),
        ({"a": [[]]}, r"references\['a'\] has shape \(1, 0\)"),
        ({"a": [[NAN, 1.0]]}, r"references\['a'\] has shape \(1, 2\); .* at least one of a first"),
    ],
)  # fmt: skip
def test_what_is_refused(references, message):
    with pytest.raises(InputError, match=message) as caught:
        Problem(arms=[[0.0], [1.0]], payoff=[0.0, 1.0], references=references)
    assert "\n" not in str(caught.value)
