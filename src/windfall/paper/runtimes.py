"""Seconds per round, compiled and warm: the paper's table of runtimes, measured here.

A cell is the mean over several experiments (trials) of fifty rounds of a policy on a problem.
Everything is played until nothing compiles any more, then timed; what compilation took is told
apart. On an accelerator a cell has two numbers: one trial alone, and a stack of trials as one
program, divided by their number.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax

from windfall._version import __version__
from windfall.compare.experiment import Experiment, Run
from windfall.paper.plan import BASELINES, SYNTHETIC
from windfall.problems import Problem
from windfall.runtime.execution import on_accelerator
from windfall.runtime.files import write_atomically
from windfall.simulation.runner import simulate

__all__ = ["PAPER", "POLICIES", "cells", "known_runtimes", "measure"]

POLICIES = (*BASELINES, "lw-ucb")
#: Seconds in the paper's table, by policy and problem.
PAPER: dict[str, dict[str, float]] = {
    "ei": dict(zip(SYNTHETIC, (0.49, 0.52, 0.68), strict=True)),
    "ts": dict(zip(SYNTHETIC, (0.55, 0.53, 0.63), strict=True)),
    "v-ucb": dict(zip(SYNTHETIC, (1.36, 1.28, 1.50), strict=True)),
    "gp-ucb": dict(zip(SYNTHETIC, (1.36, 1.28, 1.50), strict=True)),
    "lw-ucb": dict(zip(SYNTHETIC, (4.19, 3.94, 4.51), strict=True)),
}
STACK = 100
#: Rounds of an experiment that are timed; late rounds of a policy that never settles cost more.
ROUNDS = 50
_ATTEMPTS = 4


def cells(experiments: Sequence[Experiment]) -> list[tuple[Run, Problem]]:
    """What the table has a number for: five policies on every synthetic problem given."""
    return [
        (replace(run, rounds=min(run.rounds, ROUNDS)), experiment.problem)
        for experiment in experiments
        if experiment.name in SYNTHETIC
        for policy in POLICIES
        for run in experiment.runs
        if run.label == policy
    ]


def measure(
    experiments: Sequence[Experiment],
    folder: Path,
    *,
    repeats: int = 10,
    progress: Callable[[Run], object] = lambda run: None,
    complain: Callable[[str], object] = lambda message: None,
) -> None:
    """Measure every cell that the folder does not hold yet; each is kept as soon as it is known.

    Args:
        experiments: Those on other than synthetic problems are passed over.
        folder: Where ``runtimes-BACKEND.json`` is kept.
        repeats: Experiments that a cell is the mean of; one on an accelerator.
        progress: Called with each run once its cell is known.
        complain: Called with a line about a damaged file.
    """
    repeats = 1 if on_accelerator() else repeats
    path = folder / f"runtimes-{jax.default_backend()}.json"
    device = jax.devices()[0].device_kind
    settings = {"format": 1, "windfall": __version__, "device": device, "repeats": repeats}
    table = _read(path, complain)
    known = table.get("cells", {}) if {k: table.get(k) for k in settings} == settings else {}
    for run, problem in cells(experiments):
        key = f"{run.problem}/{run.label}"
        if known.get(key, {}).get("rounds") != run.rounds:
            known[key] = {"rounds": run.rounds} | _cell(run, problem, repeats)
            whole = settings | {"backend": jax.default_backend(), "cells": known}
            folder.mkdir(parents=True, exist_ok=True)
            write_atomically(path, (json.dumps(whole, indent=2, sort_keys=True) + "\n").encode())
        progress(run)


def known_runtimes(folder: Path) -> list[dict[str, Any]]:
    """The tables of every backend that was ever measured into this folder."""
    tables = (_read(path, lambda message: None) for path in sorted(folder.glob("runtimes-*.json")))
    return [table for table in tables if table]


def _cell(run: Run, problem: Problem, repeats: int) -> dict[str, float | None]:
    together = on_accelerator()
    alone, compiled = _steady(run, problem, repeats, batch=1 if together else 0)
    stacked, more = _steady(run, problem, STACK, batch=STACK) if together else (None, 0.0)
    return {"alone": alone, "stacked": stacked, "compile": compiled + more}


def _steady(run: Run, problem: Problem, trials: int, batch: int) -> tuple[float, float]:
    """Seconds per trial and round once nothing compiles, and the seconds compiled before."""
    compiled, seconds = 0.0, 0.0
    for attempt in range(_ATTEMPTS):
        warm_up = attempt == 0 and batch == 0
        result = simulate(
            problem,
            run.policy,
            rounds=run.rounds,
            trials=1 if warm_up else trials,
            seed=run.seed,
            workers=1,
            batch=batch,
        )
        times = result.timings
        compiled += times["compile"]
        seconds = (times["total"] - times["compile"]) / max(times["trial_rounds"], 1)
        if times["compile"] == 0 and not (warm_up and trials > 1):
            break
    return seconds, compiled


def _read(path: Path, complain: Callable[[str], object]) -> dict[str, Any]:
    """A saved table, or nothing if there is none or it is damaged."""
    try:
        table = json.loads(path.read_text())
        return table if isinstance(table["cells"], dict) else {}
    except FileNotFoundError:
        return {}
    except (OSError, KeyError, TypeError, ValueError) as error:
        complain(f"{path} is damaged ({type(error).__name__}); measuring again")
        return {}
