"""A problem, what was earned and found, and LW-UCB's attention side by side."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from windfall.plot.curves import gap, regret
from windfall.plot.maps import can_be_mapped, payoff_map, ratio_map
from windfall.plot.style import several, styled
from windfall.problems import Problem
from windfall.runtime.given import PolicyLike
from windfall.simulation.results import Result

__all__ = ["overview"]


@styled
def overview(
    results: Result | Sequence[Result],
    problem: Problem,
    trial: int | None = None,
    *,
    policy: PolicyLike | None = None,
) -> Figure:
    """One figure: the payoffs, regret, gap, and where LW-UCB looks after the last round.

    Of three features or more with a few values each, such as columns of 0 and 1, maps would show
    a handful of dots: only the curves are drawn.

    Args:
        results: One result, or several to compare.
        problem: The problem they were played on.
        trial: The trial of the maps; by default LW-UCB's trial of median regret.
        policy: The policy of the last map, see ``ratio_map``. Without a result of LW-UCB the last
            map is the first policy's predicted payoff.
    """
    results = several(results)
    if not can_be_mapped(problem):
        return _curves(results, problem)
    weighted = [r for r in results if r.label.startswith("lw-ucb")]
    shown = (weighted or results)[0]
    if trial is None:
        trial = int(np.argsort(shown.mean_regret[:, -1], kind="stable")[(shown.trials - 1) // 2])
    figure = Figure(figsize=(17.0, 3.8), layout=ConstrainedLayoutEngine(w_pad=0.12))
    payoffs, earned, found, attention = figure.subplots(1, 4, width_ratios=[1, 1.15, 1.15, 1])
    payoff_map(problem, trial, ax=payoffs)
    regret(results, ax=earned)
    gap(results, problem, ax=found)
    quantity = "ratio" if weighted else "mean"
    ratio_map(shown, problem, trial, policy=policy, quantity=quantity, ax=attention)
    return figure


def _curves(results: Sequence[Result], problem: Problem) -> Figure:
    """Regret and gap under the problem's name."""
    figure = Figure(figsize=(10.5, 3.8), layout=ConstrainedLayoutEngine(w_pad=0.12))
    figure.suptitle(f"{problem.name}, {problem.size:,} arms", fontsize=10)
    earned, found = figure.subplots(1, 2)
    regret(results, ax=earned)
    gap(results, problem, ax=found)
    return figure
