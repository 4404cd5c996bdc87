"""The paper's curves: ours solid, the authors' saved runs dashed in the same colour."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from windfall.compare.execute import Outcome
from windfall.compare.experiment import Experiment, Run
from windfall.compare.statistics import first_trials
from windfall.paper.maps import arms_figure, ratio_figure, sensors_figure
from windfall.paper.reference import Reference
from windfall.paper.summary import base_label
from windfall.paper.verdicts import shown
from windfall.plot.style import COLOURS, new_axes, root_figure, styled
from windfall.simulation.results import Result

__all__ = ["CAPTIONS", "figures", "regret_figure", "sensitivity_figure", "variants_figure"]

#: What each kind of figure shows.
CAPTIONS = {
    "arms": "The arms and what they pay, without noise.",
    "sensors": "Where the sensors are.",
    "regret": "log10 of R_t/t: median over trials, band ± MAD. Solid: windfall. Dashed: the "
    "authors' saved runs.",
    "ratio": "The likelihood ratio that LW-UCB's model attends to after the last round, with the "
    "arms that it visited (circles). Trials spread evenly over the ranking by R_T/T.",
    "sensitivity": "LW-UCB with 2, 4 and 6 mixture components (solid; the authors' dashed) among "
    "the other policies (grey).",
    "variants": "How each departure of the authors' runs moves our curve (grey: the library's own) "
    "towards theirs (black, dashed).",
}
#: Light to dark, for numbers of components; told apart with any kind of colour vision.
_SHADES = {2: "#E69F00", 4: "#D55E00", 6: "#7F2704"}
_DEPARTURES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
_FLOOR = 1e-9  # where the logarithm of a regret of zero is drawn


def figures(experiment: Experiment, outcome: Outcome, reference: Reference) -> dict[str, Figure]:
    """Every figure of an experiment, by its kind, in the order of the report."""
    problem = experiment.problem
    ours, saved = experiment.runs[0], _saved(experiment, reference)
    drawn = {"arms": arms_figure(problem)}
    if problem.snapshots > 1:
        drawn = {"sensors": sensors_figure(problem)}
    drawn["regret"] = regret_figure(experiment.runs, outcome, saved)
    drawn["ratio"] = ratio_figure(ours, problem, outcome[ours.label])
    if experiment.sensitivity:
        drawn["sensitivity"] = sensitivity_figure(experiment, outcome, saved)
    drawn["variants"] = variants_figure(experiment, outcome, saved)
    return drawn


@styled
def regret_figure(
    runs: Sequence[Run], outcome: Outcome, saved: Mapping[str, Result], ax: Axes | None = None
) -> Figure:
    """The five policies; ``saved`` has the authors' runs by the labels of ours."""
    ax = ax or new_axes(6.6, 3.9)
    for run in reversed(runs):  # LW-UCB comes first and is drawn on top
        colour = COLOURS[run.label]
        width = 2.4 if run.label == "lw-ucb" else 1.5
        _band(ax, outcome[run.label], colour)
        _line(ax, outcome[run.label], color=colour, lw=width)
        if run.label in saved:
            _line(ax, saved[run.label], color=colour, lw=0.6 * width, ls=(0, (4, 2)))
    handles = [Line2D([], [], color=COLOURS[run.label], lw=2, label=shown(run.label))
               for run in runs]  # fmt: skip
    if saved:
        handles += _kinds()
    _finish(ax, [outcome[run.label] for run in runs], [*saved.values()], handles)
    return root_figure(ax)


@styled
def sensitivity_figure(
    experiment: Experiment, outcome: Outcome, saved: Mapping[str, Result]
) -> Figure:
    """LW-UCB with several numbers of components among the other policies."""
    ax = new_axes(6.6, 3.9)
    handles = [Line2D([], [], color="#aaaaaa", lw=1.2, label="other policies")]
    for run in experiment.runs[1:]:
        _line(ax, outcome[run.label], color="#aaaaaa", lw=1.0)
    own = experiment.runs[0]
    runs = {experiment.problem.protocol.components: own}
    runs |= {int(run.label.rpartition("=")[2]): run for run in experiment.sensitivity}
    drawn = []
    for components, run in sorted(runs.items()):
        colour = _SHADES.get(components, "black")
        _band(ax, outcome[run.label], colour)
        _line(ax, outcome[run.label], color=colour, lw=2.2 if run is own else 1.6)
        if run.label in saved:
            drawn.append(saved[run.label])
            _line(ax, saved[run.label], color=colour, lw=1.1, ls=(0, (4, 2)))
        name = f"n$_{{GMM}}$ = {components}" + (" (the paper's)" if run is own else "")
        handles.append(Line2D([], [], color=colour, lw=2, label=name))
    results = [outcome[run.label] for run in (*experiment.runs, *experiment.sensitivity)]
    _finish(ax, results, drawn, handles + (_kinds() if drawn else []))
    return root_figure(ax)


@styled
def variants_figure(
    experiment: Experiment, outcome: Outcome, saved: Mapping[str, Result]
) -> Figure:
    """A panel per policy: the library's curve, what departs from it, and the authors'."""
    groups: dict[str, list[Run]] = {}
    for run in experiment.variants:
        groups.setdefault(base_label(run.label), []).append(run)
    ordered = sorted(groups, key=[run.label for run in experiment.runs].index)
    columns = 2
    rows = -(-len(ordered) // columns)
    figure = Figure(figsize=(9.4, 3.2 * rows), layout="constrained")
    panels = np.atleast_2d(figure.subplots(rows, columns, sharex=True, squeeze=False))
    for ax in panels.ravel()[len(ordered) :]:
        ax.set_visible(False)
    for ax, label in zip(panels.ravel(), ordered, strict=False):
        own = first_trials(outcome[label], groups[label][0].trials)
        theirs = [saved[run.label] for run in groups[label] if run.label in saved]
        _line(ax, own, color="#999999", lw=2.2)
        handles = [Line2D([], [], color="#999999", lw=2.2, label="library")]
        for run, colour in zip(groups[label], _DEPARTURES, strict=False):
            _band(ax, outcome[run.label], colour)
            _line(ax, outcome[run.label], color=colour, lw=1.5)
            departure = run.label.partition("(")[2].rstrip(")")
            handles.append(Line2D([], [], color=colour, lw=1.5, label=departure))
        if theirs:
            _line(ax, theirs[0], color="black", lw=1.5, ls=(0, (4, 2)))
            handles.append(
                Line2D([], [], color="black", lw=1.5, ls=(0, (4, 2)), label="the authors' saved")
            )
        results = [own, *(outcome[run.label] for run in groups[label])]
        _finish(ax, results, theirs[:1], handles, inside=True)
        ax.set_title(shown(label), loc="left", weight="bold")
        if label not in ordered[-columns:]:
            ax.set_xlabel("")
    return figure


def _saved(experiment: Experiment, reference: Reference) -> dict[str, Result]:
    found = {run.label: reference.beside(run, experiment.problem) for run in experiment.all_runs}
    return {label: result for label, result in found.items() if result is not None}


def _line(ax: Axes, result: Result, **style) -> None:
    t = np.arange(1, result.rounds + 1)
    ax.plot(t, _log(result.median), solid_capstyle="round", **style)


def _band(ax: Axes, result: Result, colour: str) -> None:
    t, median, mad = np.arange(1, result.rounds + 1), result.median, result.deviation
    ax.fill_between(t, _log(median - mad), _log(median + mad), color=colour, alpha=0.13, lw=0)


def _log(values: np.ndarray) -> np.ndarray:
    return np.log10(np.maximum(values, _FLOOR))


def _kinds() -> list[Line2D]:
    return [
        Line2D([], [], color="black", lw=1.6, label="windfall"),
        Line2D([], [], color="black", lw=1.1, ls=(0, (4, 2)), label="the authors' saved"),
    ]


def _finish(
    ax: Axes,
    results: Sequence[Result],
    saved: Sequence[Result],
    handles: Sequence[Line2D],
    inside: bool = False,
) -> None:
    """Limits that hold every median, labels and a legend."""
    everything = np.concatenate([_log(r.median) for r in (*results, *saved)])
    shown_values = everything[everything > np.log10(_FLOOR)]
    low, high = (shown_values.min(), shown_values.max()) if len(shown_values) else (-1.0, 0.0)
    margin = 0.06 * max(high - low, 0.1)
    rounds = max(r.rounds for r in results)
    ax.set(xlim=(1 if rounds > 1 else 0.5, max(rounds, 1.5)), ylim=(low - margin, high + margin))
    ax.set(xlabel="round t", ylabel="log$_{10}$ R$_t$/t")
    ax.grid(axis="y", color="#dddddd", lw=0.6)
    ax.set_axisbelow(True)
    anchor = None if inside else (1.01, 1.0)
    ax.legend(
        handles=list(handles),
        loc="best" if inside else "upper left",
        bbox_to_anchor=anchor,
        frameon=inside,
        fontsize=8,
        edgecolor="none",
    )
