"""Maps over the arms: what they pay, and what a policy makes of them."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FuncFormatter

from windfall.errors import InputError
from windfall.plot.style import display, new_axes, root_figure, styled
from windfall.policy import as_policy
from windfall.problems import Problem
from windfall.runtime.given import PolicyLike
from windfall.simulation.results import Result
from windfall.study.bandit import Bandit

__all__ = ["can_be_mapped", "payoff_map", "ratio_map"]

#: With fewer different values of every feature, a map is a handful of dots that hide the others.
_FEWEST = 5

_RING: dict[str, Any] = {  # white with a black rim: to be seen on every colour of the image
    "s": 16,
    "edgecolors": "white",
    "linewidths": 0.9,
    "path_effects": [withStroke(linewidth=1.9, foreground="black")],
}


@styled
def payoff_map(problem: Problem, trial: int = 0, ax: Axes | None = None) -> Figure:
    """The noise-free payoff of every arm, with a star on the best if there is only one.

    Two features give a map, one gives a line; of more features the two with the most different
    values are shown, and of arms in the same place the one on top is that with the highest.
    """
    ax = ax or new_axes(4.4, 3.6)
    values = problem.payoffs(trial)
    _field(ax, problem, values, "payoff", "viridis")
    best = _mark_best(ax, problem, values, trial)
    of_trial = f", payoffs of trial {trial}" if problem.snapshots > 1 else ""
    ax.set_title(f"{problem.name}{of_trial}\n{problem.size:,} arms{best}")
    return root_figure(ax)


@styled
def ratio_map(
    result: Result,
    problem: Problem,
    trial: int = 0,
    *,
    policy: PolicyLike | None = None,
    quantity: str = "ratio",
    ax: Axes | None = None,
) -> Figure:
    """What the model made of a trial after its last round, with the visited arms marked.

    The trial's rewards are told to a ``Bandit`` again and its model is fitted once, at the end.
    Noisy rewards are known for all pulls but the initial ones other than the best; there the
    noise-free payoff is told.

    Args:
        result: Where the trial comes from.
        problem: The problem that was played.
        trial: Which trial.
        policy: The policy that played; by default the one the result's label names, with the
            problem's own settings.
        quantity: ``"ratio"`` for the likelihood ratio w, ``"mean"`` for the predicted payoff.
        ax: Where to draw; a new figure by default.
    """
    if quantity not in ("ratio", "mean"):
        raise InputError(f"quantity is {quantity!r}; expected 'ratio' or 'mean'")
    bandit = _replay(result, problem, trial, policy)
    ax = ax or new_axes(4.4, 3.6)
    values = bandit.explain()[quantity]
    label = {"ratio": "likelihood ratio w", "mean": "predicted payoff μ"}[quantity]
    on_image = _field(ax, problem, values, label, "viridis" if quantity == "mean" else "magma")
    visited = np.flatnonzero(bandit.pulls)
    x, y = _positions(problem, values)
    around = {"s": 40 if problem.dimension == 1 else 130, "edgecolors": "black"}
    style = _RING if on_image else around
    ax.scatter(x[visited], y[visited], facecolors="none", zorder=4, clip_on=False, **style)
    best = _mark_best(ax, problem, values, trial)
    when = f"after round {result.rounds} of trial {trial}"
    ax.set_title(f"{display(result.label)} {when}\n○ {len(visited)} visited arms{best}")
    return root_figure(ax)


def _replay(result: Result, problem: Problem, trial: int, policy: PolicyLike | None) -> Bandit:
    """A bandit that has been told what the trial's policy was told."""
    if result.problem != problem.name or result.settings.get("arms", problem.size) != problem.size:
        raise InputError(
            f"problem is {problem.name!r} with {problem.size} arms, but the result is of "
            f"{result.problem!r}; give the problem that was played"
        )
    if not 0 <= trial < result.trials:
        raise InputError(f"trial is {trial}; expected a number from 0 to {result.trials - 1}")
    if policy is None:
        protocol = problem.protocol
        policy = as_policy(result.label, kappa=protocol.kappa, components=protocol.components)
    initial, payoffs = result.initial[trial], problem.payoffs(trial)
    bandit = Bandit(problem.arms, policy, seed=result.seed, initial=len(initial))
    for arm in initial:
        known = arm == result.arms[trial, 0]
        bandit.tell(int(arm), float(result.rewards[trial, 0] if known else payoffs[arm]))
    for arm, reward in zip(result.arms[trial, 1:], result.rewards[trial, 1:], strict=True):
        bandit.tell(int(arm), float(reward))
    return bandit


def _field(ax: Axes, problem: Problem, values: np.ndarray, label: str, colours: str) -> bool:
    """A value per arm: a line, an image where the arms lie on a lattice (then True), else dots."""
    axes = _axes(problem.arms)
    ax.set_xlabel(problem.feature_names[axes[0]])
    if problem.dimension == 1:
        order = np.argsort(problem.arms[:, 0], kind="stable")
        ax.plot(problem.arms[order, 0], values[order], color="#555555", lw=1.2, zorder=1)
        ax.set_ylabel(label)
        return False
    ax.set_ylabel(problem.feature_names[axes[1]])
    # A ratio spans orders of magnitude where the mean is a spike: three of them are shown.
    wide = values.min() > 0 and values.max() > 100 * values.min()
    scale = LogNorm(max(values.min(), values.max() / 1e3), values.max()) if wide else None
    lattice = _lattice(problem.arms) if problem.dimension == 2 else None
    if lattice is None:
        (x, y), up = _positions(problem, values), np.argsort(values, kind="stable")
        drawn = ax.scatter(x[up], y[up], c=values[up], s=60, cmap=colours, norm=scale,
                           edgecolors="#777777", linewidths=0.5, zorder=2)  # fmt: skip
    else:
        (xs, column), (ys, row) = lattice
        image = np.full((len(ys), len(xs)), np.nan)
        image[row, column] = values
        drawn = ax.pcolormesh(xs, ys, image, cmap=colours, norm=scale, shading="nearest",
                              rasterized=True)  # fmt: skip
    bar = root_figure(ax).colorbar(drawn, ax=ax, pad=0.02, aspect=30, label=label)
    if wide:
        bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    bar.outline.set_visible(False)
    return lattice is not None


def _lattice(arms: np.ndarray):
    """Per feature its distinct values and each arm's place among them, if arms fill a grid."""
    (xs, column), (ys, row) = (np.unique(a, return_inverse=True) for a in arms.T)
    distinct = len(np.unique(arms, axis=0)) == len(arms)
    filled = len(arms) > 0.5 * len(xs) * len(ys) and min(len(xs), len(ys)) > 1
    return ((xs, column), (ys, row)) if distinct and filled else None


def _axes(arms: np.ndarray) -> list[int]:
    """The features to show, in their order: those two with the most different values.

    A column of 0 and 1 tells two groups of arms apart, and two of them would hide all but four arms
    behind others.

    Example:
        >>> _axes(np.array([[0.0, 1.0, 5.0], [1.0, 2.0, 6.0], [0.0, 3.0, 7.0]]))
        [1, 2]
    """
    return sorted(np.argsort(-_different(arms), kind="stable")[:2].tolist())


def can_be_mapped(problem: Problem) -> bool:
    """Whether a map shows more than a handful of dots: not if there are only columns of 0 and 1.

    Example:
        >>> can_be_mapped(Problem(arms=np.eye(4), payoff=np.arange(4.0)))
        False
    """
    return problem.dimension < 3 or int(_different(problem.arms).max()) >= _FEWEST


def _different(arms: np.ndarray) -> np.ndarray:
    """How many different values each feature has."""
    return np.array([len(np.unique(feature)) for feature in arms.T])


def _positions(problem: Problem, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    x, *y = problem.arms.T[_axes(problem.arms)]
    return x, (y[0] if y else values)


def _mark_best(ax: Axes, problem: Problem, values: np.ndarray, trial: int) -> str:
    """A star on the best arm and words for it; nothing where several arms are equally good."""
    if np.sum(problem.payoffs(trial) == problem.optimum(trial)) > 1:
        return ""
    best = problem.optimal_arm(trial)
    x, y = _positions(problem, values)
    ax.plot(x[best], y[best], "*", ms=12, mfc="white", mec="black", mew=0.8, zorder=5,
            clip_on=False)  # fmt: skip
    return ", ☆ the best"
