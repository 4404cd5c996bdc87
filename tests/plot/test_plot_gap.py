"""Curves of the gap: means of what the best arm so far misses, and the runs of others."""

import numpy as np
import pytest
from made_up import made_up
from scipy import stats

import windfall as wf
from windfall.plot.style import COLOURS


def test_gap_draws_means_and_standard_errors():
    rng = np.random.default_rng(1)
    results = [made_up(rng.uniform(1, 2, (7, 30)), name) for name in ("lw-ucb", "v-ucb")]
    (ax,) = wf.plot.gap(results).axes
    assert (ax.get_yscale(), ax.get_xlabel()) == ("log", "round t")
    for result, line, band in zip(results, ax.lines, ax.collections, strict=True):
        best = np.array([[min(row[: t + 1]) for t in range(30)] for row in result.regret])
        mean, error = best.mean(axis=0), stats.sem(best, axis=0)
        np.testing.assert_allclose(line.get_ydata(), mean)
        assert line.get_color() == COLOURS[result.label]
        edge = band.get_paths()[0].vertices
        at_ten = np.unique(edge[edge[:, 0] == 10.0][:, 1])
        np.testing.assert_allclose(at_ten, [mean[9] - error[9], mean[9] + error[9]])


@pytest.mark.parametrize(
    "regret", [np.zeros((2, 5)), [[1.0]], [[2.0, 0.0, 0.0]], np.eye(4) * 1e9],
    ids=["all zero", "one round", "one trial", "huge"],
)  # fmt: skip
def test_gap_draws_edge_cases(regret, tmp_path):
    figure = wf.plot.gap(made_up(regret))
    bottom, top = figure.axes[0].get_ylim()
    assert 0 < bottom < top < np.inf
    wf.plot.save(figure, tmp_path / "a.png")


def test_who_misses_nothing_is_drawn_at_the_bottom_and_named_within_the_axes():
    labels = ("ei", "ts", "v-ucb", "gp-ucb", "lw-ucb")
    found = [made_up(np.tile([2.0, 0.5, 0.0, 0.0], (3, 1)), label) for label in labels]
    (ax,) = wf.plot.gap([*found, made_up(np.full((3, 4), 0.4), "windfall")]).axes
    bottom, top = ax.get_ylim()
    for line in ax.lines[:-1]:
        np.testing.assert_allclose(line.get_ydata(), [2.0, 0.5, bottom, bottom])
        assert not line.get_clip_on()  # half of it would be
    assert 0 < bottom < 0.4 < top
    assert ax.get_ylabel() == "gap of the best arm so far (0 at the bottom)"
    heights = [text.get_position()[1] for text in ax.texts]
    assert min(heights) > 0.02
    assert max(heights[:-1]) < heights[-1] < 0.98
    (plain,) = wf.plot.gap(made_up(np.full((3, 4), 0.4))).axes
    assert "0" not in plain.get_ylabel()


def test_nothing_but_zeros_has_a_curve_and_a_name():
    (ax,) = wf.plot.gap([made_up(np.zeros((6, 5)), label) for label in ("ei", "ts")]).axes
    for line in ax.lines:
        np.testing.assert_array_equal(line.get_ydata(), ax.get_ylim()[0])
    assert [text.get_text() for text in ax.texts] == ["EI", "TS"]


def test_reference_runs_stand_beside_the_policies_in_the_same_rounds():
    runs = {"them": [[3.0, 9.0, 5.0, 19.0], [7.0, 1.0, 12.0, np.nan]], "short": [[4.0, 5.0]]}
    problem = wf.Problem(
        arms=np.arange(20.0)[:, None], payoff=np.arange(20.0), references=runs
    )  # the best arm pays 19
    (ax,) = wf.plot.gap(made_up(np.full((2, 9), 1.5)), problem).axes
    assert [line.get_linestyle() for line in ax.lines] == ["-", "--"]
    # Round 1 is after three initial arms: the best then are 9 and 12, then 19 and 12 (stopped).
    np.testing.assert_allclose(ax.lines[1].get_ydata(), [19 - 10.5, 19 - 15.5])
    np.testing.assert_array_equal(ax.lines[1].get_xdata(), [1, 2])
    assert "them" in [text.get_text() for text in ax.texts]
