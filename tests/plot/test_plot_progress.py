"""The figure of a study: every value, the best so far, failures, and values off the scale."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

import windfall as wf
from windfall.errors import InputError
from windfall.plot.progress import progress

VALUES = [0.1, None, 0.7, 0.4, 0.9, 0.2, None, 0.8]


def drawn(figure: Figure) -> dict[str, np.ndarray]:
    """The points of every line, by its label."""
    lines = figure.axes[0].lines
    return {str(line.get_label()): np.asarray(line.get_xydata()) for line in lines}


def test_values_best_and_failures():
    lines = drawn(progress(VALUES, initial=3))
    assert set(lines) == {"value", "best so far", "failed", "end of the initial pulls"}
    np.testing.assert_array_equal(
        lines["value"], [(1, 0.1), (3, 0.7), (4, 0.4), (5, 0.9), (6, 0.2), (8, 0.8)]
    )
    np.testing.assert_array_equal(lines["failed"][:, 0], [2, 7])
    np.testing.assert_array_equal(lines["end of the initial pulls"][:, 0], 3.5)


@pytest.mark.parametrize("minimize", [False, True])
@given(values=st.lists(st.one_of(st.none(), st.floats(-1e3, 1e3)), min_size=1, max_size=12))
def test_the_line_is_the_best_so_far_and_no_value_is_lost(minimize, values):
    figure = progress(values, minimize=minimize)
    lines = drawn(figure)
    seen, expected = [], []
    for value in values:
        seen += [] if value is None else [value]
        expected.append((min if minimize else max)(seen) if seen else np.nan)
    if seen:
        np.testing.assert_array_equal(lines["best so far"][:, 1], expected)
        low, high = figure.axes[0].get_ylim()
        assert low < expected[-1] < high
    shown = sum(len(lines.get(name, [])) for name in ("value", "off the scale", "failed"))
    assert shown == len(values)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_value_far_worse_than_the_rest_is_drawn_on_the_edge(sign):
    values = [sign * v for v in [0.0, 0.2, 0.4, 0.6, 0.8, 1.0, -1e4]]
    figure = progress(values, minimize=sign < 0)
    limits = figure.axes[0].get_ylim()
    (edge,) = drawn(figure)["off the scale"]
    assert edge[0] == 7
    assert edge[1] == limits[0 if sign > 0 else 1]
    assert abs(edge[1]) < 10
    assert len(drawn(figure)["value"]) == 6


@pytest.mark.parametrize("values", [[1.0], [None, None], [2.0] * 5])
def test_small_studies(values, tmp_path):
    assert wf.plot.save(progress(values), tmp_path / "a.png").stat().st_size > 5_000


def test_nothing_to_draw():
    with pytest.raises(InputError, match="values is empty"):
        progress([])


def test_into_a_figure_of_the_users_own():
    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert progress(VALUES, ax=right, title="mine") is figure
    assert right.get_title() == "mine"
    assert not left.lines
