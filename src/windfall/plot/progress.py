"""How a study went: every value, and the best so far."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from windfall.errors import InputError
from windfall.plot.style import COLOURS, new_axes, root_figure, styled

__all__ = ["progress"]


@styled
def progress(
    values: Sequence[float | None],
    *,
    minimize: bool = False,
    initial: int = 0,
    title: str = "",
    ax: Axes | None = None,
) -> Figure:
    """The values of a study in order, and the best so far as a line.

    Values far worse than the rest would squeeze everything else together: they are drawn as
    triangles on the edge of the axis.

    Args:
        values: What each pull gave, None for one that failed.
        minimize: Whether small values are good.
        initial: How many pulls were initial ones; a dotted line stands behind them.
        title: Above the figure.
        ax: Where to draw; a new figure by default.

    Example:
        >>> progress([0.1, None, 0.7, 0.4]).axes[0].get_ylabel()
        'value'
    """
    if not values:
        raise InputError("values is empty; expected the value of at least one pull")
    y = np.array([np.nan if v is None else v for v in values], dtype=np.float64)
    pulls = np.arange(1, len(y) + 1)
    ax = ax or new_axes(6.4, 3.8)
    ok = ~np.isnan(y)
    if ok.any():
        best = (np.fmin if minimize else np.fmax).accumulate(y)
        edge = _set_limits(ax, y[ok], minimize)
        beyond = ok & ((y > edge) if minimize else (y < edge))
        inside = ok & ~beyond
        ax.plot(pulls[inside], y[inside], "o", ms=4, color="#999999", mec="none", label="value")
        marker = "^" if minimize else "v"
        if beyond.any():
            ax.plot(pulls[beyond], np.full(beyond.sum(), edge), marker, ms=5, color="#999999",
                    mec="none", clip_on=False, label="off the scale")  # fmt: skip
        ax.step(pulls, best, where="post", color=COLOURS["lw-ucb"], lw=2, label="best so far")
        last = f"{best[-1]:.4g}"
        ax.annotate(last, (pulls[-1], best[-1]), xytext=(5, 0), textcoords="offset points",
                    va="center", fontsize=9, weight="bold", color=COLOURS["lw-ucb"],
                    annotation_clip=False)  # fmt: skip
    if not ok.all():
        ax.plot(pulls[~ok], np.zeros((~ok).sum()), "x", ms=5, color="black", clip_on=False,
                transform=ax.get_xaxis_transform(), label="failed")  # fmt: skip
    if 0 < initial < len(y):
        ax.axvline(initial + 0.5, color="#999999", lw=0.8, ls=":", label="end of the initial pulls")
    ax.set(xlabel="pull", ylabel="value", title=title, xlim=(0.5, len(y) + 0.5))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=5, frameon=False, fontsize=8)
    return root_figure(ax)


def _set_limits(ax: Axes, y: np.ndarray, minimize: bool) -> float:
    """Set the axis to what is worth seeing; returns the edge on the bad side.

    It shows what is worse than the lower quartile by up to three times the spread: that of the
    middle half, or the best's distance from the median if that is more.

    Example:
        >>> ax = new_axes(4.0, 3.0)
        >>> round(_set_limits(ax, np.append(np.linspace(0, 1, 11), -1000.0), minimize=False), 1)
        -1.6
    """
    sign = -1.0 if minimize else 1.0
    good = sign * y
    low, middle, high = np.quantile(good, [0.25, 0.5, 1.0])
    floor = max(good.min(), low - 3 * max(np.quantile(good, 0.75) - low, high - middle))
    margin = 0.05 * ((high - floor) or abs(high) or 1.0)
    limits = sorted([sign * (floor - margin), sign * (high + margin)])
    ax.set_ylim(*limits)
    return float(sign * (floor - margin))
