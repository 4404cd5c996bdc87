"""``python -m benchmarks.real.batches --data-dir FOLDER``: a list as EDBO and the chemists met it.

Batches of five, the first of them at random, and payoffs without noise: what the best arm of each
seed pays after so many pulls, beside the reference runs that came with the list. Every finished
seed is kept and not played again, unless the policy is another one by now.
"""

import argparse
import csv
import json
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import windfall as wf
from benchmarks.peer_process import ROOT
from windfall.plot.style import COLOURS, new_axes, root_figure, styled
from windfall.problems import Problem, load
from windfall.runtime.files import write_atomically

LIST, SEEDS, BATCH, BATCHES = "direct_arylation", 50, 5, 10
#: Pulls after which the table looks.
AFTER = (10, 25, 50)
OURS = "windfall, goal best"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.real.batches", description=__doc__)
    parser.add_argument("--data-dir", type=Path, required=True, help="folder of candidate lists")
    parser.add_argument("--store", type=Path, default=ROOT / "out" / "real")
    parser.add_argument("--list", default=LIST)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    given = parser.parse_args()

    problem = load(given.list, given.data_dir)
    pays = payoffs(given.data_dir / f"{given.list}.csv")
    folder = given.store / "batches" / given.list
    wf.compilation_cache()
    for seed in range(given.seeds):
        play(problem.arms, pays, seed, folder)
    curves = best_so_far(problem, pays, gather(range(given.seeds), folder))
    text = table(curves, given.seeds)
    write_atomically(given.store / "batches.md", text.encode())
    wf.plot.save(figure(curves, given.seeds), given.store / "batches.png")
    print(text)


def payoffs(path: Path) -> np.ndarray:
    """(M,) what each arm of a list pays, in the list's own unit."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        return np.array([float(row[-1]) for row in list(csv.reader(file))[1:]])


def play(arms: np.ndarray, pays: np.ndarray, seed: int, folder: Path, **bandit: Any) -> None:
    """Ask for batches and tell what they pay; a seed that is kept is left alone."""
    path = folder / f"{seed}.json"
    study = wf.Bandit(arms, seed=seed, initial=BATCH, **({"goal": "best"} | bandit))
    if path.exists() and json.loads(path.read_text())["policy"] == repr(study.policy):
        return
    begun = time.time()
    pulled: list[int] = []
    for _ in range(BATCHES):
        batch = study.ask(BATCH)
        for choice in batch:
            study.tell(choice, pays[choice.arm])
        pulled += [choice.arm for choice in batch]
    seconds = time.time() - begun
    folder.mkdir(parents=True, exist_ok=True)
    record = {"arms": pulled, "policy": repr(study.policy), "seconds": seconds}
    write_atomically(path, json.dumps(record).encode())
    print(f"{folder.name} {seed}: {seconds:.0f} s", file=sys.stderr, flush=True)


def gather(seeds: Iterable[int], folder: Path) -> np.ndarray:
    """(seeds, pulls) arms of the kept seeds."""
    records = [json.loads((folder / f"{seed}.json").read_text()) for seed in seeds]
    return np.array([record["arms"] for record in records])


def best_so_far(problem: Problem, pays: np.ndarray, arms: np.ndarray) -> dict[str, np.ndarray]:
    """By name, (pulls,) what the best pull so far paid, mean over seeds or runs; ours first.

    The problem has the reference runs in deviations of the payoffs.
    """
    pulls = arms.shape[1]
    theirs = {
        name: pays.max() - pays.std() * problem.reference_gap(name)[:pulls]
        for name in problem.references
    }
    return {OURS: np.maximum.accumulate(pays[arms], axis=1).mean(axis=0)} | theirs


def table(curves: dict[str, np.ndarray], seeds: int) -> str:
    """A line for each player."""
    head = ["mean best payoff after", *(f"{pulls} pulls" for pulls in AFTER)]
    rows = [
        [f"{name} ({seeds} seeds)" if name == OURS else name]
        + [f"{curve[pulls - 1]:.1f}" if pulls <= len(curve) else "" for pulls in AFTER]
        for name, curve in curves.items()
    ]
    lines = [head, ["---"] + ["--:"] * len(AFTER), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines) + "\n"


@styled
def figure(curves: dict[str, np.ndarray], seeds: int) -> Figure:
    """What the best pull so far paid, in the mean."""
    ax = new_axes(5.6, 3.4)
    colours = [COLOURS["windfall"], "#777777", "#8C6D31", "#6B486B"]
    for (name, curve), colour in zip(curves.items(), colours, strict=False):
        pulls, ours = np.arange(1, len(curve) + 1), name == OURS
        ax.plot(pulls, curve, color=colour, lw=2.4 if ours else 1.6, ls="-" if ours else "--",
                label=f"{name} ({seeds} seeds)" if ours else name)  # fmt: skip
    ax.axvspan(0, BATCH, color="#EEEEEE", lw=0, label="first batch, at random")
    longest = max(map(len, curves.values()))
    ax.set(xlabel="pulls", ylabel="mean best payoff so far", xlim=(0, longest))
    ax.legend(frameon=False, fontsize=8, loc="lower right")
    return root_figure(ax)


if __name__ == "__main__":
    main()
