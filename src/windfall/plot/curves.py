"""Curves over rounds: what was lost per pull, and what the best arm found still misses."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from windfall.plot.style import display, new_axes, palette, root_figure, several, styled
from windfall.problems import Problem
from windfall.registry import GOALS
from windfall.simulation.results import Result

__all__ = ["gap", "regret"]

#: Curves that are no policies: runs of others that came with the data.
_REFERENCE_COLOURS = ("#777777", "#AAAAAA", "#8C6D31", "#6B486B")
#: Half the height of a curve's name, as a share of the axes'.
_EDGE = 0.03


class Curve(NamedTuple):
    """A line with a band around it, from round 1 on."""

    label: str
    colour: str
    values: np.ndarray
    band: np.ndarray
    dashed: bool = False


@styled
def regret(results: Result | Sequence[Result], ax: Axes | None = None) -> Figure:
    """Median over trials of the mean regret R_t/t against t, with a band of ± one MAD.

    Args:
        results: One result, or several to compare.
        ax: Where to draw; a new figure by default.

    Example:
        >>> import windfall as wf
        >>> line = [[0.0], [0.5], [1.0]]
        >>> problem = wf.Problem(arms=line, payoff=[0.0, 1.0, 0.0])
        >>> result = wf.simulate(problem, "v-ucb", rounds=4, trials=2, workers=1)
        >>> regret(result).axes[0].get_xlabel()
        'round t'
    """
    results = several(results)
    curves = _of_policies(results, lambda r: (r.median, r.deviation))
    return _figure(
        ax, curves, "mean regret R$_t$/t", f"regret per round\nmedian ± MAD over {_trials(results)}"
    )


@styled
def gap(
    results: Result | Sequence[Result], problem: Problem | None = None, ax: Axes | None = None
) -> Figure:
    """Mean over trials of the gap of the best arm pulled so far, with ± one standard error.

    A mean, because a needle that half of the trials find has no median worth drawing.

    Args:
        results: One result, or several to compare.
        problem: The problem that was played: curves of the reference runs that came with its data
            are drawn too, dashed. Round t is after as many pulls as in the results.
        ax: Where to draw; a new figure by default.

    Example:
        >>> import windfall as wf
        >>> line = [[0.0], [0.5], [1.0]]
        >>> problem = wf.Problem(arms=line, payoff=[0.0, 1.0, 0.0])
        >>> result = wf.simulate(problem, "v-ucb", rounds=4, trials=2, workers=1)
        >>> gap(result).axes[0].get_ylabel()  # the best arm is among the initial ones
        'gap of the best arm so far (0 at the bottom)'
    """
    results = several(results)
    curves = _of_policies(results, lambda r: (r.gap.mean(axis=0), _standard_error(r.gap)))
    if problem is not None:
        curves += _references(problem, results)
    what = f"what was found\nmean ± standard error over {_trials(results)}"
    return _figure(ax, curves, "gap of the best arm so far", what)


def _of_policies(
    results: Sequence[Result], line_and_band: Callable[[Result], tuple[np.ndarray, np.ndarray]]
) -> list[Curve]:
    """A curve for each result, in the colour of its policy."""
    colours = palette([r.label for r in results])
    return [Curve(r.label, c, *line_and_band(r)) for r, c in zip(results, colours, strict=True)]


def _standard_error(values: np.ndarray) -> np.ndarray:
    trials = len(values)
    return values.std(axis=0, ddof=1) / np.sqrt(trials) if trials > 1 else np.zeros_like(values[0])


def _references(problem: Problem, results: Sequence[Result]) -> list[Curve]:
    """The curves of the problem's reference runs, in the rounds of the results."""
    initial, rounds = results[0].initial.shape[1], max(r.rounds for r in results)
    curves = []
    for i, name in enumerate(problem.references):
        after = problem.reference_gap(name)[initial - 1 :][:rounds]
        colour = _REFERENCE_COLOURS[i % len(_REFERENCE_COLOURS)]
        if len(after):  # else it ended before the first round
            curves.append(Curve(name, colour, after, np.zeros_like(after), dashed=True))
    return curves


def _trials(results: Sequence[Result]) -> str:
    trials = {r.trials for r in results}
    return f"{trials.pop()} trials" if len(trials) == 1 else "all trials"


def _figure(ax: Axes | None, curves: Sequence[Curve], quantity: str, title: str) -> Figure:
    """The figure of some axes, or a new one, with these curves."""
    ax = ax or new_axes(5.2, 3.6)
    _draw(ax, curves)
    ax.set_ylabel(f"{quantity} (0 at the bottom)" if _any_zero(curves) else quantity)
    ax.set_title(title)
    return root_figure(ax)


def _any_zero(curves: Sequence[Curve]) -> bool:
    """Whether one comes to 0, or below it: rewards of others may be higher than any payoff."""
    return any((curve.values <= 0).any() for curve in curves)


def _draw(ax: Axes, curves: Sequence[Curve]) -> None:
    """Curves on a logarithmic scale, each with its name at its end; 0 is the bottom edge."""
    positive = [v for c in curves for v in c.values if v > 0] or [1.0]
    bottom = min(positive) / (2.0 if _any_zero(curves) else 1.25)  # a fall to 0 is to be seen
    top = 1.25 * max([float((c.values + c.band).max()) for c in curves] + [2 * bottom])
    for curve in curves:
        t = np.arange(1, len(curve.values) + 1)
        wide = curve.label.startswith((*GOALS.values(), "lw-ucb"))
        shown = np.maximum(curve.values, bottom)  # zero has no logarithm
        low, high = curve.values - curve.band, curve.values + curve.band
        if not curve.dashed:
            ax.fill_between(
                t, np.maximum(low, bottom / 10), high, color=curve.colour, alpha=0.13, lw=0
            )
        ax.plot(t, shown, color=curve.colour, lw=2.4 if wide else 1.5, zorder=3 if wide else 2,
                ls="--" if curve.dashed else "-", label=display(curve.label), clip_on=False,
                solid_capstyle="round")  # fmt: skip
    ax.set(yscale="log", ylim=(bottom, top), xlabel="round t")
    longest = max(len(c.values) for c in curves)
    ax.set_xlim(1 if longest > 1 else 0.5, max(longest, 1.5))
    _plain_log_ticks(ax, bottom, top)
    _label_ends(ax, curves)


def _plain_log_ticks(ax: Axes, bottom: float, top: float) -> None:
    """Ticks labelled 0.2, 0.5, 1: more of them where the axis spans less than a decade."""
    between = [2, 5] if top / bottom > 10 else [1.5, 2, 3, 4, 5, 6, 8]
    plain = FuncFormatter(lambda value, _: f"{value:g}")
    ax.yaxis.set_major_formatter(plain)
    ax.yaxis.set_minor_locator(LogLocator(subs=between))
    wide = top / bottom > 1e4
    ax.yaxis.set_minor_formatter(NullFormatter() if wide else plain)


def _label_ends(ax: Axes, curves: Sequence[Curve]) -> None:
    """Each curve's name at its right end, moved apart where they would overlap."""
    bottom, top = np.log(ax.get_ylim())
    last = np.log([max(c.values[-1], 1e-300) for c in curves])
    heights = _spread(np.clip((last - bottom) / (top - bottom), 0.0, 1.0), 0.075)
    for curve, height in zip(curves, heights, strict=True):
        ax.text(1.015, height, display(curve.label), transform=ax.transAxes, va="center",
                fontsize=9, color=curve.colour, weight="bold")  # fmt: skip


def _spread(heights: np.ndarray, gap: float) -> np.ndarray:
    """The nearest heights that are a gap apart, in the same order, within the axes.

    Less the gaps below it, each is what it was, or the mean of those that would meet (isotonic
    regression, by pooling neighbours). If there are too many, they come closer.

    Example:
        >>> _spread(np.array([0.5, 0.5, 0.1]), 0.1).round(2).tolist()
        [0.45, 0.55, 0.1]
    """
    order = np.argsort(heights, kind="stable")
    room = 1.0 - 2 * _EDGE
    below = min(gap, room / max(len(heights) - 1, 1)) * np.arange(len(heights))
    pools: list[list[float]] = []
    for wish in (heights[order] - below).tolist():
        pool = [wish]
        while pools and np.mean(pools[-1]) > np.mean(pool):
            pool = pools.pop() + pool
        pools.append(pool)
    level = np.concatenate([np.full(len(pool), np.mean(pool)) for pool in pools])
    moved = np.empty_like(level)
    moved[order] = np.clip(level, _EDGE, _EDGE + room - below[-1]) + below
    return moved
