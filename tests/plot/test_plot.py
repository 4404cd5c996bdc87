"""Figures show the numbers they claim to show; every shape of problem can be drawn."""

import subprocess
import sys

import numpy as np
import pytest
from made_up import made_up
from matplotlib.figure import Figure

import windfall as wf
from windfall.plot.curves import _spread
from windfall.plot.maps import _lattice
from windfall.plot.style import COLOURS, palette


def lattice_problem(**extra) -> wf.Problem:
    axis = np.linspace(0.0, 2.0, 5)
    arms = np.stack(np.meshgrid(axis, axis[:4]), axis=-1).reshape(-1, 2)
    return wf.Problem(arms=arms, payoff=np.arange(20.0), name="made-up", **extra)


def played(label: str = "lw-ucb", rounds: int = 6) -> wf.Result:
    rng = np.random.default_rng(0)
    arms = rng.integers(0, 20, (3, rounds))
    arms[:, 0] = 2
    return made_up(19.0 - arms, label, arms=arms)


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


def test_spread_keeps_order_gap_and_mean():
    rng = np.random.default_rng(2)
    for _ in range(20):
        heights = rng.uniform(0, 0.3, 6)
        moved = _spread(heights, 0.1)
        assert (np.argsort(moved) == np.argsort(heights)).all()
        assert np.diff(np.sort(moved)).min() >= 0.1 - 1e-12
        assert moved.mean() == pytest.approx(heights.mean())
    far = np.array([0.9, 0.1])
    np.testing.assert_allclose(_spread(far, 0.1), far)


# --- maps ----------------------------------------------------------------------------------------


def test_a_lattice_becomes_an_image_with_every_payoff_in_its_place():
    problem = lattice_problem()
    ax, bar = wf.plot.payoff_map(problem).axes
    (mesh,) = ax.collections
    np.testing.assert_array_equal(mesh.get_array(), np.arange(20.0).reshape(4, 5))
    assert bar.get_ylabel() == "payoff"
    (star,) = ax.lines
    assert (star.get_xdata()[0], star.get_ydata()[0]) == tuple(problem.arms[19])


def test_a_disk_of_grid_points_is_an_image_with_holes():
    problem = wf.problems.load("wheel-0.5")
    ax = wf.plot.payoff_map(problem).axes[0]
    image = ax.collections[0].get_array()
    assert image.shape == tuple(len(np.unique(x)) for x in problem.arms.T)
    assert image.count() == problem.size
    assert len(ax.lines) == 0  # many arms are equally good: no star


def test_scattered_or_repeated_arms_are_not_a_lattice():
    rng = np.random.default_rng(3)
    assert _lattice(rng.uniform(size=(30, 2))) is None
    assert _lattice(np.array([[0, 0], [0, 1], [1, 0], [1, 1], [1, 1.0]])) is None
    assert _lattice(np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]])) is None


def test_scattered_arms_are_dots_of_the_trial_s_payoffs():
    rng = np.random.default_rng(4)
    payoff = rng.normal(size=(2, 12))
    for dimension in (2, 3):
        problem = wf.Problem(arms=rng.uniform(size=(12, dimension)), payoff=payoff)
        ax = wf.plot.payoff_map(problem, trial=1).axes[0]
        np.testing.assert_allclose(ax.collections[0].get_offsets(), problem.arms[:, :2])
        np.testing.assert_array_equal(ax.collections[0].get_array(), payoff[1])
        assert "trial 1" in ax.get_title()


def test_one_feature_is_a_line_in_order():
    problem = wf.Problem(arms=[[2.0], [0.0], [1.0]], payoff=[5.0, 3.0, 4.0], feature_names=["dose"])
    (ax,) = wf.plot.payoff_map(problem).axes
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), [0, 1, 2])
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), [3, 4, 5])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("dose", "payoff")


@pytest.mark.parametrize("quantity", ["ratio", "mean"])
def test_ratio_map_shows_what_a_bandit_with_these_rewards_thinks(quantity):
    problem, result = lattice_problem(), played()
    policy = wf.LWUCB(kappa=1.0, components=2)
    bandit = wf.Bandit(problem.arms, policy, seed=0)
    for arm, reward in [(0, 0.0), (1, 1.0), (2, result.rewards[1, 0])]:
        bandit.tell(arm, reward)  # arm 2 is the best initial one: its noisy reward is known
    for arm, reward in zip(result.arms[1, 1:], result.rewards[1, 1:], strict=True):
        bandit.tell(int(arm), reward)
    ax = wf.plot.ratio_map(result, problem, 1, policy=policy, quantity=quantity).axes[0]
    mesh, rings = ax.collections
    np.testing.assert_allclose(np.ravel(mesh.get_array()), bandit.explain()[quantity])
    visited = np.unique([0, 1, 2, *result.arms[1]])
    np.testing.assert_allclose(rings.get_offsets(), problem.arms[visited])
    assert f"{len(visited)} visited arms" in ax.get_title()
    assert "LW-UCB after round 6 of trial 1" in ax.get_title()


def test_ratio_map_finds_the_policy_by_its_label():
    problem, result = lattice_problem(), played()
    protocol = problem.protocol
    policy = wf.LWUCB(kappa=protocol.kappa, components=protocol.components)
    by_label, given = (
        wf.plot.ratio_map(result, problem, policy=p).axes[0].collections[0].get_array()
        for p in (None, policy)
    )
    np.testing.assert_array_equal(by_label, given)


def test_ratio_map_names_what_does_not_fit():
    problem, result = lattice_problem(), played()
    with pytest.raises(wf.InputError, match="trial is 3; expected a number from 0 to 2"):
        wf.plot.ratio_map(result, problem, 3)
    with pytest.raises(wf.InputError, match="quantity is 'std'"):
        wf.plot.ratio_map(result, problem, quantity="std")
    with pytest.raises(wf.InputError, match="problem is 'cosine' with 2500 arms"):
        wf.plot.ratio_map(result, wf.problems.load("cosine"))


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
    problem = lattice_problem()
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
    figure = wf.plot.overview(made_up(np.ones((1, 2)), "v-ucb"), lattice_problem())
    assert "predicted payoff μ" in {ax.get_ylabel() for ax in figure.axes}


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
