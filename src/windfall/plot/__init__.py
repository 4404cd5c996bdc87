"""Figures: curves of regret and gap, maps of payoffs and of what a policy attends to.

Every function returns a ``matplotlib.figure.Figure`` and leaves pyplot and its global state alone.
Pass ``ax`` to draw into a figure of your own.
"""

from windfall.plot.curves import gap, regret
from windfall.plot.decision import decision
from windfall.plot.files import check_path, save
from windfall.plot.maps import payoff_map, ratio_map
from windfall.plot.panels import overview
from windfall.plot.progress import progress
from windfall.plot.ratios import earned_and_found, ratios

__all__ = [
    "check_path",
    "decision",
    "earned_and_found",
    "gap",
    "overview",
    "payoff_map",
    "progress",
    "ratio_map",
    "ratios",
    "regret",
    "save",
]
