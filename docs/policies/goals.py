"""Draw the picture of both goals in docs/policies.md: ``python docs/policies/goals.py FOLDER``.

FOLDER holds the candidate lists (docs/data.md), which are no part of the project.
"""

import argparse
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

import windfall as wf
from windfall.plot.style import styled
from windfall.registry import GOALS


@styled
def both(results: list[wf.Result]) -> Figure:
    """What was lost on the way, and what was found."""
    figure = Figure(figsize=(10.5, 3.6), layout=ConstrainedLayoutEngine(w_pad=0.12))
    earned, found = figure.subplots(1, 2)
    wf.plot.regret(results, ax=earned)
    wf.plot.gap(results, ax=found)
    return figure


def main() -> None:
    """Play both goals on one list, and write the picture beside this file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="folder of candidate lists")
    parser.add_argument("--list", default="hplc")
    parser.add_argument("--trials", type=int, default=24)
    given = parser.parse_args()
    problem = wf.problems.load(given.list, given.folder)
    results = [
        wf.simulate(
            problem, goal=goal, trials=given.trials, seed=0, workers=1, label=f'goal="{goal}"'
        )
        for goal in GOALS
    ]
    for result in results:
        summary = result.summary()
        print(result.label, summary["mean"], summary["gap"]["mean"], summary["found_best"])
    wf.plot.save(both(results), Path(__file__).with_name("goals.png"))


if __name__ == "__main__":
    main()
