"""Regret curves."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from windfall.plot.style import display, new_axes, palette, root_figure, several, styled
from windfall.simulation.results import Result

__all__ = ["regret"]


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
    ax = ax or new_axes(5.2, 3.6)
    positive = [v for r in results for v in r.median if v > 0] or [1.0]
    bottom = min(positive) / 1.25
    top = 1.25 * max([float((r.median + r.deviation).max()) for r in results] + [2 * bottom])
    colours = palette([r.label for r in results])
    for result, colour in zip(results, colours, strict=True):
        t = np.arange(1, result.rounds + 1)
        median, mad = result.median, result.deviation
        wide = result.label.startswith(("windfall", "lw-ucb"))
        shown = np.where(median > 0, median, np.nan)  # a regret of zero has no logarithm
        ax.fill_between(
            t, np.maximum(median - mad, bottom / 10), median + mad, color=colour, alpha=0.13, lw=0
        )
        ax.plot(t, shown, color=colour, lw=2.4 if wide else 1.5, zorder=3 if wide else 2,
                label=display(result.label), solid_capstyle="round")  # fmt: skip
    ax.set(yscale="log", ylim=(bottom, top), xlabel="round t", ylabel="mean regret R$_t$/t")
    longest = max(r.rounds for r in results)
    ax.set_xlim(1 if longest > 1 else 0.5, max(longest, 1.5))
    _plain_log_ticks(ax, bottom, top)
    _label_ends(ax, results, colours)
    trials = {r.trials for r in results}
    count = f"{trials.pop()} trials" if len(trials) == 1 else "all trials"
    ax.set_title(f"regret per round\nmedian ± MAD over {count}")
    return root_figure(ax)


def _plain_log_ticks(ax: Axes, bottom: float, top: float) -> None:
    """Ticks labelled 0.2, 0.5, 1: more of them where the axis spans less than a decade."""
    between = [2, 5] if top / bottom > 10 else [1.5, 2, 3, 4, 5, 6, 8]
    plain = FuncFormatter(lambda value, _: f"{value:g}")
    ax.yaxis.set_major_formatter(plain)
    ax.yaxis.set_minor_locator(LogLocator(subs=between))
    wide = top / bottom > 1e4
    ax.yaxis.set_minor_formatter(NullFormatter() if wide else plain)


def _label_ends(ax: Axes, results: Sequence[Result], colours: Sequence[str]) -> None:
    """Each curve's name at its right end, moved apart where they would overlap."""
    bottom, top = np.log(ax.get_ylim())
    last = np.log([max(r.median[-1], 1e-300) for r in results])
    heights = _spread(np.clip((last - bottom) / (top - bottom), 0.0, 1.0), 0.075)
    for result, colour, height in zip(results, colours, heights, strict=True):
        ax.text(1.015, height, display(result.label), transform=ax.transAxes, va="center",
                fontsize=9, color=colour, weight="bold")  # fmt: skip


def _spread(heights: np.ndarray, gap: float) -> np.ndarray:
    """Heights at least a gap apart, in the same order, with the same mean.

    Example:
        >>> _spread(np.array([0.5, 0.5]), 0.1).round(2).tolist()
        [0.45, 0.55]
    """
    order = np.argsort(heights, kind="stable")
    apart = heights[order].copy()
    for i in range(1, len(apart)):
        apart[i] = max(apart[i], apart[i - 1] + gap)
    moved = np.empty_like(apart)
    moved[order] = apart - (apart - heights[order]).mean()
    return moved
