"""Colours, names and sizes that all figures share."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from windfall.errors import InputError
from windfall.registry import GOALS
from windfall.simulation.results import Result

__all__ = ["COLOURS", "display", "new_axes", "palette", "root_figure", "several", "styled"]

P = ParamSpec("P")
R = TypeVar("R")

# Okabe and Ito's palette, and Tol's wine instead of its yellow: told apart with any kind of colour
# vision. A policy keeps its colour.
COLOURS = {
    "windfall": "#000000",
    "prospect": "#882255",
    "lw-ucb": "#D55E00",
    "v-ucb": "#0072B2",
    "gp-ucb": "#009E73",
    "ei": "#CC79A7",
    "ts": "#E69F00",
    "gp-ucb-scaled": "#56B4E9",
    "mean": "#999999",
}
STYLE: dict[Any, Any] = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.labelsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "font.family": "sans-serif",
    "svg.fonttype": "none",
}


def styled(draw: Callable[P, R]) -> Callable[P, R]:
    """Draw in windfall's style, whatever the user's own."""

    @wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> R:
        with matplotlib.rc_context(STYLE):
            return draw(*args, **kwargs)

    return drawn


def palette(labels: Sequence[str]) -> list[str]:
    """A colour per curve: a policy's own where it is free, else one that nobody has.

    Example:
        >>> palette(["lw-ucb", "mine", "lw-ucb"])
        ['#D55E00', '#000000', '#882255']
    """
    owned = {COLOURS[label] for label in labels if label in COLOURS}
    spare = [c for c in COLOURS.values() if c not in owned]
    chosen: list[str] = []
    for label in labels:
        own = COLOURS.get(label)
        if own is None or own in chosen:
            own = spare.pop(0) if spare else "#BBBBBB"
        chosen.append(own)
    return chosen


def display(label: str) -> str:
    """A policy's name as the paper prints it; those of the goals are not in the paper."""
    return label.upper() if label in COLOURS and label not in GOALS.values() else label


def several(results: Result | Sequence[Result]) -> list[Result]:
    """One result or several, as a list that is not empty."""
    listed = [results] if isinstance(results, Result) else list(results)
    if not listed:
        raise InputError(f"results is {results!r}; expected one Result or several")
    return listed


def new_axes(width: float, height: float) -> Axes:
    """The axes of a new figure, width × height in inches."""
    return Figure(figsize=(width, height), layout="constrained").subplots()


def root_figure(ax: Axes) -> Figure:
    """The whole figure that an axes belongs to."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    return figure
