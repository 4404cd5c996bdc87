"""The paper's maps: arms and payoffs, sensors, and the likelihood ratio after the last round."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from scipy.interpolate import RBFInterpolator

from windfall.compare.experiment import Run
from windfall.paper.replay import final_ratio, representative
from windfall.plot import payoff_map, ratio_map
from windfall.plot.style import root_figure, styled
from windfall.problems import Problem
from windfall.simulation.results import Result

__all__ = ["arms_figure", "ratio_figure", "sensors_figure"]

_GRID = 60
_MARGIN = 0.06


@styled
def arms_figure(problem: Problem) -> Figure:
    """The arms and their payoffs."""
    figure = Figure(figsize=(4.4, 3.8), layout="compressed")
    ax = figure.subplots()
    payoff_map(problem, ax=ax)
    ax.set_aspect("equal")
    return figure


def ratio_figure(run: Run, problem: Problem, result: Result) -> Figure:
    """Two trials on a grid of arms; six where the arms are sensors, each beside its payoffs."""
    if problem.snapshots > 1:
        return _sensor_maps(run, problem, result)
    return _grid_maps(run, problem, result)


@styled
def _grid_maps(run: Run, problem: Problem, result: Result) -> Figure:
    trials = representative(result, 2)
    figure = Figure(figsize=(4.5 * len(trials), 4.1), layout="compressed")
    panels = figure.subplots(1, len(trials), squeeze=False)[0]
    for ax, trial in zip(panels, trials, strict=True):
        ratio_map(result, problem, trial, policy=run.policy, ax=ax)
        ax.set_aspect("equal")
    return figure


@styled
def sensors_figure(problem: Problem) -> Figure:
    """Where the sensors are, numbered; coloured by the third feature if there is one."""
    figure = Figure(figsize=(6.0, 4.6), layout="compressed")
    ax = figure.subplots()
    x, y = problem.arms[:, 0], problem.arms[:, 1]
    if problem.dimension > 2:
        dots = ax.scatter(x, y, c=problem.arms[:, 2], s=130, cmap="YlOrBr", alpha=0.6,
                          edgecolors="#444444", linewidths=0.7)  # fmt: skip
        bar = figure.colorbar(dots, ax=ax, pad=0.02, aspect=30)
        bar.set_label(problem.feature_names[2])
    else:
        ax.scatter(x, y, s=130, color="#DCE9F5", edgecolors="#0072B2", linewidths=0.9)
    for number, place in enumerate(problem.arms[:, :2]):
        ax.annotate(str(number), place, ha="center", va="center", fontsize=6.5)
    _frame(ax, problem)
    ax.set(xlabel=problem.feature_names[0], ylabel=problem.feature_names[1])
    ax.set_title(f"{problem.name}: {problem.size} sensors, {problem.snapshots} snapshots")
    return figure


@styled
def _sensor_maps(run: Run, problem: Problem, result: Result) -> Figure:
    """Pairs of panels: the snapshot's payoffs, and the ratio with the activated sensors."""
    trials = representative(result, 6)
    pairs = min(2, len(trials))
    rows = -(-len(trials) // pairs)
    low, high = _limits(problem)
    height = 2.35 * (high[1] - low[1]) / (high[0] - low[0]) + 0.3  # of a row, title included
    figure = Figure(figsize=(5.9 * pairs, height * rows + 0.1), layout="compressed")
    panels = figure.subplots(rows, 2 * pairs, squeeze=False).reshape(-1, 2)
    for pair in panels[len(trials) :]:
        for ax in pair:
            ax.set_visible(False)
    grid = _grid(problem) if problem.dimension == 2 else None
    for (left, right), trial in zip(panels, trials, strict=False):
        payoffs = problem.payoffs(trial)
        visited = np.union1d(result.initial[trial], result.arms[trial])
        at = problem.arms if grid is None else np.concatenate([problem.arms, grid.points])
        ratio = final_ratio(run, problem, result, trial, at)
        field = None if grid is None else RBFInterpolator(problem.arms, payoffs)(grid.points)
        _panel(left, problem, grid, payoffs, field, "viridis")
        _panel(right, problem, grid, ratio[: problem.size], ratio[problem.size :], "magma")
        for ax in (left, right):
            x, y = problem.arms[visited, 0], problem.arms[visited, 1]
            ax.scatter(x, y, s=70, facecolors="none", edgecolors="white", linewidths=2.6)
            ax.scatter(x, y, s=70, facecolors="none", edgecolors="black", linewidths=1.1)
        best = problem.arms[problem.optimal_arm(trial), :2]
        left.plot(*best, "*", ms=13, mfc="white", mec="black", mew=0.8)
        left.set_title(f"snapshot {trial}: payoff, ☆ the best", fontsize=8)
        right.set_title(f"ratio w, ○ {len(visited)} activated", fontsize=8)
    return figure


class _Grid:
    """Points that fill a box around the arms, for a background."""

    def __init__(self, axes: list[np.ndarray]):
        self.axes = axes
        self.points = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)


def _grid(problem: Problem) -> _Grid:
    low, high = _limits(problem)
    return _Grid([np.linspace(a, b, _GRID) for a, b in zip(low, high, strict=True)])


def _limits(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    low, high = problem.arms[:, :2].min(axis=0), problem.arms[:, :2].max(axis=0)
    margin = _MARGIN * (high - low)
    return low - margin, high + margin


def _panel(ax: Axes, problem: Problem, grid, values, field, colours: str) -> None:
    """Sensors coloured by a value, over the field where there is one."""
    everything = values if grid is None else np.concatenate([values, field])
    low, high = float(everything.min()), float(everything.max())
    # A ratio spans orders of magnitude: two of them are shown.
    wide = low > 0 and high > 30 * low
    norm = LogNorm(max(low, high / 100), high) if wide else Normalize(low, high)
    if grid is not None:
        image = field.reshape(_GRID, _GRID)
        ax.pcolormesh(
            *grid.axes, image, cmap=colours, shading="nearest", rasterized=True, norm=norm
        )
    dots = ax.scatter(problem.arms[:, 0], problem.arms[:, 1], c=values, s=26, cmap=colours,
                      edgecolors="white", linewidths=0.5, norm=norm)  # fmt: skip
    bar = root_figure(ax).colorbar(dots, ax=ax, pad=0.02, aspect=25)
    bar.ax.tick_params(labelsize=6)
    bar.outline.set_visible(False)
    _frame(ax, problem)
    ax.set_xticks([])
    ax.set_yticks([])


def _frame(ax: Axes, problem: Problem) -> None:
    (left, bottom), (right, top) = _limits(problem)
    ax.set(xlim=(left, right), ylim=(bottom, top), aspect="equal")
    ax.spines[["top", "right"]].set_visible(True)
