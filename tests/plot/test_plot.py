"""Figures show the numbers they claim to show; every shape of problem can be drawn."""

import subprocess
import sys

import numpy as np
import pytest
from made_up import made_up
from matplotlib.figure import Figure
from scipy import optimize
from small_problems import lattice

import windfall as wf
from windfall.plot.curves import _spread
from windfall.plot.style import COLOURS, palette

# --- regret curves -------------------------------------------------------------------------------


def test_regret_draws_medians_and_bands():
    rng = np.random.default_rng(1)
    results = [made_up(rng.uniform(1, 2, (7, 30)), name) for name in ("lw-ucb", "v-ucb")]
    (ax,) = wf.plot.regret(results).axes
    assert ax.get_yscale() == "log"
    for result, line, band in zip(results, ax.lines, ax.collections, strict=True):
        running = np.cumsum(result.regret, axis=1) / np.arange(1, 31)
        median = np.median(running, axis=0)
        mad = np.median(np.abs(running - median), axis=0)
        np.testing.assert_array_equal(line.get_xdata(), np.arange(1, 31))
        np.testing.assert_allclose(line.get_ydata(), median)
        assert line.get_color() == COLOURS[result.label]
        edge = band.get_paths()[0].vertices
        at_ten = np.unique(edge[edge[:, 0] == 10.0][:, 1])
        np.testing.assert_allclose(at_ten, [median[9] - mad[9], median[9] + mad[9]])
    bottom, top = ax.get_ylim()
    assert bottom < min(r.median.min() for r in results)
    assert top > max((r.median + r.deviation).max() for r in results)


def test_regret_names_every_curve_beside_its_end():
    results = [made_up(np.full((2, 9), v), n) for n, v in (("ei", 1.0), ("mine", 1.001))]
    (ax,) = wf.plot.regret(results).axes
    names = {text.get_text(): text for text in ax.texts}
    assert names.keys() == {"EI", "mine"}
    low, high = (names[n].get_position()[1] for n in ("EI", "mine"))
    assert high - low > 0.07  # far enough apart to be read
    assert names["EI"].get_color() == COLOURS["ei"] != names["mine"].get_color()


@pytest.mark.parametrize(
    "regret",
    [np.zeros((2, 5)), [[1.0]], [[2.0, 0.0, 0.0]], np.full((1, 4), 1e-12), np.eye(4) * 1e9],
    ids=["all zero", "one round", "one trial", "tiny", "huge"],
)
def test_regret_draws_edge_cases(regret, tmp_path):
    figure = wf.plot.regret(made_up(regret))
    bottom, top = figure.axes[0].get_ylim()
    assert 0 < bottom < top < np.inf
    wf.plot.save(figure, tmp_path / "a.png")


def test_regret_draws_into_the_axes_given():
    figure = Figure()
    ax = figure.add_subplot()
    assert wf.plot.regret(made_up([[1.0, 2.0]]), ax=ax) is figure
    assert len(ax.lines) == 1


def test_regret_wants_results():
    with pytest.raises(wf.InputError, match=r"results is \[\]; expected one Result or several"):
        wf.plot.regret([])


def test_no_two_curves_share_a_colour():
    labels = ["lw-ucb", "lw-ucb", "mine", "v-ucb", "lw-ucb κ=1"]
    colours = palette(labels)
    assert len(set(colours)) == len(labels)
    assert (colours[0], colours[3]) == (COLOURS["lw-ucb"], COLOURS["v-ucb"])
    assert len(palette(["x"] * 12)) == 12


def test_spread_is_the_nearest_that_keeps_order_gaps_and_edges():
    """Against SciPy's minimiser of the squared distances under the same conditions."""
    rng = np.random.default_rng(2)
    for _ in range(20):
        heights = np.sort(rng.uniform(0, 0.5, 6))
        moved = _spread(heights, 0.1)
        nearest = optimize.minimize(
            lambda y, wish: np.sum((y - wish) ** 2), np.linspace(0.1, 0.9, 6), (heights,),
            jac=lambda y, wish: 2 * (y - wish), method="SLSQP", bounds=[(0.03, 0.97)] * 6,
            constraints=[{"type": "ineq", "fun": lambda y: np.diff(y) - 0.1}],
            options={"ftol": 1e-14},
        )  # fmt: skip
        np.testing.assert_allclose(moved, nearest.x, atol=1e-5)  # SLSQP stops that near
        turned = rng.permutation(6)
        np.testing.assert_array_equal(_spread(heights[turned], 0.1), moved[turned])
    far = np.array([0.9, 0.1])
    np.testing.assert_allclose(_spread(far, 0.1), far)
    many = _spread(np.zeros(30), 0.1)
    np.testing.assert_allclose(np.sort(many), np.linspace(0.03, 0.97, 30))


# --- decisions -----------------------------------------------------------------------------------


def test_decision_draws_the_means_that_the_bandit_goes_by():
    bandit = wf.Bandit(np.array([[0.0], [2.0], [1.0]]), "v-ucb", seed=0)
    bandit.tell(2, 0.01)
    bandit.tell(2, 1.0, count=99, deviation=0.1)
    bandit.tell(0, 0.2, noise=0.1)
    bandit.tell(0, 0.7, noise=0.2)
    (dots,) = [line for line in wf.plot.decision(bandit).axes[0].lines
               if line.get_label() == "mean reward"]  # fmt: skip
    means = dict(zip(dots.get_xdata(), dots.get_ydata(), strict=True))
    assert means == pytest.approx({1.0: 0.9901, 0.0: 0.3})


# --- overview and files --------------------------------------------------------------------------


def test_overview_puts_lw_ucb_s_median_trial_beside_the_curves():
    problem = lattice()
    weighted = made_up([[9.0, 9.0], [5.0, 5.0], [1.0, 1.0]], "lw-ucb")
    plain = made_up(np.ones((3, 2)), "v-ucb")
    figure = wf.plot.overview([plain, weighted], problem)
    titles = [ax.get_title() for ax in figure.axes if ax.get_title()]
    assert len(titles) == 4
    assert titles[0].startswith("made-up\n20 arms")
    assert [title.partition("\n")[0] for title in titles[1:3]] == [
        "regret per round",
        "what was found",
    ]
    assert titles[3].startswith("LW-UCB after round 2 of trial 1")
    labels = {ax.get_ylabel() for ax in figure.axes}
    assert {"payoff", "likelihood ratio w"} <= labels


def test_overview_without_lw_ucb_shows_the_predicted_payoff():
    figure = wf.plot.overview(made_up(np.ones((1, 2)), "v-ucb"), lattice())
    assert "predicted payoff μ" in {ax.get_ylabel() for ax in figure.axes}


def test_overview_without_maps_where_they_would_be_a_handful_of_dots():
    arms = np.array(np.meshgrid(*[[0.0, 1.0]] * 4, [1.0, 2.0, 5.0])).reshape(5, -1).T
    problem = wf.Problem(arms=arms, payoff=np.arange(48.0), name="made-up")
    figure = wf.plot.overview(made_up(np.ones((1, 2)), "v-ucb"), problem)
    assert figure.get_suptitle() == "made-up, 48 arms"
    titles = [ax.get_title().partition("\n")[0] for ax in figure.axes]
    assert titles == ["regret per round", "what was found"]


@pytest.mark.parametrize(
    ("name", "start"), [("a.png", b"\x89PNG"), ("b.PDF", b"%PDF"), ("c.svg", b"<?xml")]
)
def test_save_writes_the_format_of_the_ending(tmp_path, name, start):
    path = wf.plot.save(wf.plot.regret(made_up([[1.0, 2.0]])), tmp_path / name)
    assert path.read_bytes().startswith(start)
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_a_failed_save_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "a.png"
    path.write_text("old")

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("windfall.runtime.files.os.replace", full)
    with pytest.raises(wf.InputError, match="No space left on device"):
        wf.plot.save(wf.plot.regret(made_up([[1.0, 2.0]])), path)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.png"]


@pytest.mark.parametrize(
    ("name", "words"),
    [("a.gif", "ending in .png"), ("a", "ending in"), ("none/a.png", "no existing folder"),
     ("folder.png", "is a folder")],
)  # fmt: skip
def test_a_path_that_cannot_be_a_figure(tmp_path, name, words):
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(wf.InputError, match=words):
        wf.plot.save(Figure(), tmp_path / name)


def test_pyplot_and_the_user_s_style_are_left_alone():
    code = """
import sys, matplotlib
import numpy as np
import windfall as wf
before = dict(matplotlib.rcParams)
wf.plot.payoff_map(wf.Problem(arms=[[0.0], [1.0]], payoff=[0.0, 1.0]))
print("matplotlib.pyplot" in sys.modules, dict(matplotlib.rcParams) == before)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.split() == ["False", "True"]
