"""Policies on many problems in one panel."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from windfall.errors import InputError
from windfall.plot.curves import gap
from windfall.plot.style import display, new_axes, palette, root_figure, styled
from windfall.problems import Problem
from windfall.simulation.results import Result

__all__ = ["earned_and_found", "ratios"]

MARKERS = "oD^svPX<>*"


@styled
def ratios(
    problems: Sequence[str],
    labels: Sequence[str],
    values: np.ndarray,
    measure: str = "the reference",
    ax: Axes | None = None,
    *,
    quantity: str = "regret",
) -> Figure:
    """A row of dots per problem: each policy's regret as a multiple of the reference's.

    Left of the line at 1 a policy is better. The last row holds the geometric means.

    Args:
        problems: Names of the rows.
        labels: Names of the policies.
        values: (problems, policies) ratios above 0.
        measure: What the ratios are multiples of.
        ax: Where to draw; a new figure by default.
        quantity: What the ratios are of.

    Example:
        >>> figure = ratios(["cosine"], ["ei", "ts"], np.array([[1.0, 1.3]]), "EI")
        >>> figure.axes[0].get_xscale()
        'log'
    """
    values = np.asarray(values, dtype=np.float64)
    if values.shape != (len(problems), len(labels)) or not np.all(values > 0):
        raise InputError(
            f"values has shape {values.shape}; expected ratios above 0 for {len(problems)} problems"
            f" and {len(labels)} policies"
        )
    ax = ax or new_axes(7.6, 1.6 + 0.27 * (len(problems) + 1))
    means = np.exp(np.mean(np.log(values), axis=0))
    rows = np.vstack([values, means])
    heights = -np.arange(len(rows), dtype=float)
    heights[-1] -= 0.5  # the means stand apart
    for j, colour in enumerate(palette(labels)):
        marker = MARKERS[j % len(MARKERS)]
        ax.scatter(rows[:, j], heights, s=34, color=colour, marker=marker, alpha=0.85, lw=0,
                   zorder=3, label=display(labels[j]))  # fmt: skip
    ax.axvline(1.0, color="0.35", lw=1.0, zorder=2)
    ax.hlines(heights, 0, 1, transform=ax.get_yaxis_transform(), color="0.9", lw=0.8, zorder=1)
    ax.set(
        xscale="log", ylim=(heights[-1] - 0.7, 0.7), xlabel=f"{quantity} / {quantity} of {measure}"
    )
    ax.set_yticks(heights, [*problems, "geometric mean"])
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    _widen(ax, rows)
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=8)
    return root_figure(ax)


@styled
def earned_and_found(
    problems: Sequence[str],
    labels: Sequence[str],
    regrets: np.ndarray,
    gaps: np.ndarray,
    measure: str = "the reference",
    curves: Sequence[tuple[Sequence[Result], Problem]] = (),
) -> Figure:
    """Two panels of ``ratios`` side by side: of the regret R_T/T, and of the gap.

    Below them stand the curves of the gap on some problems, such as those with reference runs.

    Args:
        problems: Names of the rows.
        labels: Names of the policies.
        regrets: (problems, policies) ratios of R_T/T.
        gaps: (problems, policies) ratios of the gap of the best arm pulled.
        measure: What the ratios are multiples of.
        curves: Results on a problem, and the problem, for each panel below: see ``gap``.

    Example:
        >>> figure = earned_and_found(["cosine"], ["ei"], np.ones((1, 1)), np.ones((1, 1)))
        >>> len(figure.axes)
        2
    """
    rows = -(-len(curves) // 2)  # two panels in each
    heights = [1.6 + 0.27 * (len(problems) + 1), *[3.8] * rows]
    figure = Figure(figsize=(13.0, sum(heights)), layout="constrained")
    above, *below = figure.subfigures(1 + rows, 1, height_ratios=heights, squeeze=False)[:, 0]
    earned, found = above.subplots(1, 2, sharey=True)
    ratios(problems, labels, regrets, measure, earned)
    ratios(problems, labels, gaps, measure, found, quantity="gap")
    legend = earned.get_legend()
    if legend is not None:  # the other panel's serves both
        legend.remove()
    panels = [ax for row in below for ax in row.subplots(1, 2)]
    for (results, problem), ax in zip(curves, panels, strict=False):
        gap(results, problem, ax)
        ax.set_title(f"{problem.name}: {ax.get_title()}")
    for ax in panels[len(curves) :]:  # the last of an odd number has nothing beside it
        ax.remove()
    return figure


def _widen(ax: Axes, values: np.ndarray) -> None:
    """Limits around all dots and 1, at least a factor of 1.5, with plain numbers as ticks."""
    low, high = min(values.min(), 1 / 1.25) / 1.1, max(values.max(), 1.25) * 1.1
    ax.set_xlim(low, high)
    plain = FuncFormatter(lambda value, _: f"{value:g}")
    ax.xaxis.set_major_formatter(plain)
    ax.xaxis.set_minor_locator(LogLocator(subs=(2, 5) if high / low > 8 else (1.5, 2, 3, 5, 7)))
    ax.xaxis.set_minor_formatter(NullFormatter() if high / low > 1e4 else plain)
