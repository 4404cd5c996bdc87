"""The figure of ratios: every dot where it belongs, the means in the last row."""

import numpy as np
import pytest
from made_up import made_up

import windfall as wf
from windfall.errors import InputError
from windfall.plot.style import COLOURS

PROBLEMS, LABELS = ["cosine", "hill-3d", "steps-1d"], ["lw-ucb", "ei", "mine"]
RATIOS = np.array([[0.5, 1.0, 1.3], [0.9, 1.0, 4.0], [1.2, 1.1, 1.0]])


def test_dots_are_the_ratios_and_their_geometric_means():
    (ax,) = wf.plot.ratios(PROBLEMS, LABELS, RATIOS, "the best classical baseline").axes
    assert ax.get_xscale() == "log"
    assert [t.get_text() for t in ax.get_yticklabels()] == [*PROBLEMS, "geometric mean"]
    assert "the best classical baseline" in ax.get_xlabel()
    dots = {c.get_label(): c.get_offsets() for c in ax.collections if not
            c.get_label().startswith("_")}  # fmt: skip
    assert list(dots) == ["LW-UCB", "EI", "mine"]
    rows = ax.get_yticks()
    assert all(np.diff(rows) < 0)
    for j, offsets in enumerate(dots.values()):
        np.testing.assert_allclose(offsets[:-1, 0], RATIOS[:, j])
        np.testing.assert_allclose(offsets[-1, 0], np.prod(RATIOS[:, j]) ** (1 / 3))
        np.testing.assert_allclose(offsets[:, 1], rows)
    low, high = ax.get_xlim()
    assert low < RATIOS.min()
    assert high > RATIOS.max()


def test_earning_and_finding_stand_side_by_side_with_one_legend():
    figure = wf.plot.earned_and_found(PROBLEMS, LABELS, RATIOS, 2 * RATIOS, "EI")
    earned, found = figure.axes
    assert (earned.get_xlabel(), found.get_xlabel()) == ("regret / regret of EI", "gap / gap of EI")
    for ax, values in ((earned, RATIOS), (found, 2 * RATIOS)):
        dots = [c.get_offsets() for c in ax.collections if not c.get_label().startswith("_")]
        np.testing.assert_allclose(np.array([d[:-1, 0] for d in dots]).T, values)
    assert [ax.get_legend() is None for ax in figure.axes] == [True, False]


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_curves_stand_below_one_panel_a_problem(count, tmp_path):
    played = []
    for i in range(count):
        runs = {"them": [[0.0, 0.5, 0.25, 1.0]]}
        problem = wf.Problem(arms=[[0.0], [1.0]], payoff=[0.0, 1.0], name=f"p{i}", references=runs)
        played.append(([made_up(np.full((2, 4), 0.5), "ei")], problem))
    figure = wf.plot.earned_and_found(PROBLEMS, LABELS, RATIOS, RATIOS, "EI", played)
    panels = figure.axes[2:]
    assert [ax.get_title().partition("\n")[0] for ax in panels] == [
        f"p{i}: what was found" for i in range(count)
    ]
    for ax in panels:
        assert [line.get_label() for line in ax.lines] == ["EI", "them"]
    wf.plot.save(figure, tmp_path / "a.png")


def test_policies_differ_in_colour_and_shape():
    labels = ["lw-ucb", "ei", "ts", "v-ucb-1", "v-ucb-2", "gp-ucb", "gp-ucb-scaled", "a", "b"]
    (ax,) = wf.plot.ratios(["cosine"], labels, np.ones((1, 9))).axes
    dots = [c for c in ax.collections if not c.get_label().startswith("_")]
    looks = {(tuple(c.get_facecolor()[0]), c.get_paths()[0].vertices.tobytes()) for c in dots}
    assert len(looks) == len(labels)
    assert wf.plot.style.palette(labels)[0] == COLOURS["lw-ucb"]


def test_one_is_in_sight_when_all_ratios_are_equal():
    (ax,) = wf.plot.ratios(["cosine"], ["ei"], np.ones((1, 1))).axes
    low, high = ax.get_xlim()
    assert low < 0.8
    assert high > 1.25


def test_it_can_be_written_and_drawn_into_one_s_own_axes(tmp_path):
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    figure = wf.plot.ratios(PROBLEMS, LABELS, RATIOS, ax=ax)
    assert figure is ax.get_figure()
    written = wf.plot.save(wf.plot.ratios(PROBLEMS, LABELS, RATIOS), tmp_path / "a.png")
    assert written.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("values", [np.ones((2, 3)), np.zeros((3, 3)), np.full((3, 3), np.nan)])
def test_bad_ratios_are_named(values):
    with pytest.raises(InputError, match="expected ratios above 0 for 3 problems and 3 policies"):
        wf.plot.ratios(PROBLEMS, LABELS, values)
