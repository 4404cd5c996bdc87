"""Features from outside: what is accepted, and what each complaint says."""

import numpy as np
import pandas as pd
import pytest

from windfall.errors import InputError
from windfall.space import Arms
from windfall.space.checks import check_arms, finite_array, read_only


@pytest.mark.parametrize(
    "arms",
    [
        [[0, 1], [2, 3]],
        np.array([[0, 1], [2, 3]], dtype=np.float32),
        np.array([[0, 1], [2, 3]], dtype=object),
        pd.DataFrame({"a": [0, 2], "b": [1.0, 3.0]}),
    ],
)
def test_tables_become_float64_unless_they_are_float32(arms):
    checked = check_arms(arms)
    single = getattr(arms, "dtype", None) == np.float32
    assert checked.dtype == (np.float32 if single else np.float64)
    np.testing.assert_array_equal(checked, [[0.0, 1.0], [2.0, 3.0]])


def test_constant_features_and_duplicate_arms_are_fine():
    np.testing.assert_array_equal(check_arms([[1, 5], [1, 5], [2, 5]])[:, 1], [5, 5, 5])


@pytest.mark.parametrize(
    ("arms", "message"),
    [
        ([[0, 1], [2, np.nan]], r"arms\[1, 1\] is nan; expected a finite number"),
        ([[0, np.inf], [2, 3]], r"arms\[0, 1\] is inf; expected a finite number"),
        ([[0, 1], [2]], "arms is ragged or mixed; expected as many numbers in every row"),
        ([], r"arms has shape \(0,\); expected \(arms, features\)"),
        (np.empty((0, 2)), r"arms has shape \(0, 2\); expected at least 2 arms"),
        (np.empty((3, 0)), r"arms has shape \(3, 0\); expected at least one feature"),
        ([1.0, 2.0], r"arms has shape \(2,\).*arms\.reshape\(-1, 1\)"),
        (np.zeros((2, 2, 2)), r"arms has shape \(2, 2, 2\); expected \(arms, features\)"),
        (3.0, r"arms has shape \(\); expected \(arms, features\)"),
        ([[0.0, 1.0]], r"arms has shape \(1, 2\); expected at least 2 arms"),
        ([["0", "1"], ["2", "3"]], r"arms\[0, 0\] is .*'0'.*; expected a number"),
        ([[0, None], [1, 2]], r"arms\[0, 1\] is None; expected a number"),
        ([[0, 1j], [1, 2]], r"arms\[0, 0\] is .*; expected a number"),
        (np.array([["2020-01-01"], ["2020-01-02"]], "datetime64[D]"), r"arms\[0, 0\] is"),
        (
            [[-1e308], [0.0], [1e308]],
            r"arms has a range from -1e\+308 to 1e\+308 in feature 0;",
        ),
        ([[10**400], [1]], r"arms\[0, 0\] is 1000.*\.\.\.; expected a number"),
    ],
)
def test_bad_features(arms, message):
    with pytest.raises(InputError, match=message) as caught:
        check_arms(arms)
    assert "\n" not in str(caught.value)


def test_the_argument_is_called_by_its_name():
    with pytest.raises(InputError, match=r"^features\[0, 0\] is nan"):
        check_arms([[np.nan], [1.0]], name="features")


def test_the_widest_and_the_narrowest_ranges_are_fine():
    """Half of the largest float either way, and the smallest denormal number."""
    for low, high in ((-8e307, 8e307), (0.0, 5e-324), (1e-320, 3e-320)):
        arms = check_arms([[low], [high]])
        np.testing.assert_array_equal(Arms(arms).points, [[0.0], [1.0]])


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ([-1e308, 1e308], r"arms has a range from .* in column 'colour'; expected a narrower one"),
        (["red", "blue"], "arms row 0, column 'colour' is 'red'; expected a number"),
        ([1.0, None], "arms row 1, column 'colour' is nan; expected a finite number"),
        (pd.array([1, pd.NA], dtype="Int64"), "arms row 1, column 'colour' is "),
    ],
)
def test_a_bad_column_of_a_table_is_named(column, message):
    with pytest.raises(InputError, match=message):
        check_arms(pd.DataFrame({"size": [1.0, 2.0], "colour": column}))


def test_a_series_is_not_a_table():
    with pytest.raises(InputError, match=r"shape \(2,\)"):
        check_arms(pd.Series([1.0, 2.0]))


def test_finite_array_takes_any_shape():
    assert finite_array(2, "noise").shape == ()
    with pytest.raises(InputError, match=r"^noise is nan; expected a finite number"):
        finite_array(np.nan, "noise")


def test_read_only_copies():
    original = np.arange(3.0)
    copy = read_only(original)
    original[0] = 7
    assert copy[0] == 0
    with pytest.raises(ValueError, match="read-only"):
        copy[0] = 1
