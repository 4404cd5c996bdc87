"""All numbers of a report as one JSON-able dictionary; tables, sentences and files follow from it.

Whatever was measured with a clock is kept apart under ``timings``, ``runtimes`` and ``machine``:
the rest depends on seeds only.
"""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import jax
import loky
import numpy as np

from windfall._version import __version__
from windfall.compare.execute import Outcome
from windfall.compare.experiment import Experiment, Run
from windfall.compare.statistics import first_trials, paired, standing
from windfall.paper.reference import Reference
from windfall.paper.verdicts import experiment_verdict, variant_verdict
from windfall.simulation.results import Result

__all__ = ["CLOCKED", "base_label", "summarise"]

#: The parts that differ from one execution to the next.
CLOCKED = ("timings", "runtimes", "machine")


def summarise(
    experiments: Sequence[Experiment],
    outcomes: Mapping[str, Outcome],
    reference: Reference,
    *,
    preset: str,
    missing: Mapping[str, str],
    runtimes: Sequence[Mapping[str, Any]],
    workers: int | None = None,
    elapsed: tuple[float, int] = (0.0, 0),
) -> dict[str, Any]:
    """Every number of the report.

    Args:
        experiments: What was played.
        outcomes: Its results, by experiment and label.
        reference: The authors' saved runs.
        preset: Its name.
        missing: Experiments that could not be played, and why.
        runtimes: Single-round runtimes, one entry per machine.
        workers: Processes that played side by side.
        elapsed: Seconds this execution took, and the trial-rounds played in them.
    """
    return {
        "format": 1,
        "preset": preset,
        "reference": {"found": not reference.missing, "note": reference.missing},
        "missing": dict(missing),
        "experiments": {e.name: _experiment(e, outcomes[e.name], reference) for e in experiments},
        "timings": _timings(experiments, outcomes, workers)
        | {"elapsed": elapsed[0], "elapsed_rounds": elapsed[1]},
        "runtimes": list(runtimes),
        "machine": _machine(),
    }


def base_label(label: str) -> str:
    """The policy that a variant departs from.

    Example:
        >>> base_label("gp-ucb (scaled β, pulls)")
        'gp-ucb'
    """
    return label.partition(" ")[0]


def _experiment(experiment: Experiment, outcome: Outcome, reference: Reference) -> dict[str, Any]:
    problem, runs = experiment.problem, experiment.runs
    row = {run.label: _row(experiment, run, outcome, reference) for run in experiment.all_runs}
    policies = [row[run.label] for run in runs]
    ours = outcome[runs[0].label]
    comparisons = [paired(ours, outcome[run.label]) for run in runs[1:]]
    pairs = [asdict(c) | {"verdict": c.verdict} for c in comparisons]
    variants = [
        row[run.label] | _departure(experiment, run, outcome, reference)
        for run in experiment.variants
    ]
    authors = policies[0]["authors"]
    return {
        "description": problem.description,
        "arms": problem.size,
        "features": list(problem.feature_names),
        "noise": problem.noise,
        "rounds": runs[0].rounds,
        "trials": runs[0].trials,
        "paper_rounds": problem.protocol.rounds,
        "paper_trials": problem.protocol.trials,
        "seed": runs[0].seed,
        "kappa": problem.protocol.kappa,
        "components": problem.protocol.components,
        "policies": policies,
        "paired": pairs,
        "sensitivity": [row[run.label] for run in experiment.sensitivity],
        "variants": variants,
        "lowest_median": all(policies[0]["median"] < p["median"] for p in policies[1:]),
        "not_above_authors": policies[0]["median"] <= authors["median"] if authors else None,
        "verdict": experiment_verdict(policies, pairs),
        "variant_verdicts": [variant_verdict(v) for v in variants],
    }


def _row(
    experiment: Experiment, run: Run, outcome: Outcome, reference: Reference
) -> dict[str, Any]:
    result, saved = outcome[run.label], reference.beside(run, experiment.problem)
    summary = result.summary()
    return {
        "label": run.label,
        "variant": run.variant,
        "policy": result.policy,
        "trials": result.trials,
        "rounds": result.rounds,
        **{k: summary[k] for k in ("median", "mad", "mean", "median_at", "found_best")},
        "authors": None if saved is None else _authors(run, result, saved),
    }


def _authors(run: Run, result: Result, saved: Result) -> dict[str, Any]:
    key = f"{saved.problem}/{saved.policy}"
    like = bool(run.reference)  # else the authors' computation is another one: see the variants
    at = {"median_at": saved.summary()["median_at"], "key": key, "like_for_like": like}
    return asdict(standing(result, saved)) | at


def _departure(
    experiment: Experiment, run: Run, outcome: Outcome, reference: Reference
) -> dict[str, Any]:
    base, saved = base_label(run.label), reference.beside(run, experiment.problem)
    same = first_trials(outcome[base], run.trials)
    gap = None if saved is None else standing(same, saved).gap
    return {"base": base, "base_median": float(same.median[-1]), "gap_before": gap}


def _timings(
    experiments: Sequence[Experiment], outcomes: Mapping[str, Outcome], workers: int | None
) -> dict[str, Any]:
    """Seconds and rates of every run, and what the paper's full protocol would take at them."""
    rows, projected = {}, 0.0
    for experiment in experiments:
        protocol = experiment.problem.protocol
        rows[experiment.name] = [
            _clock(label, result) for label, result in outcomes[experiment.name].items()
        ]
        full = protocol.trials * (protocol.rounds - 1)
        projected += sum(full / r["rounds_per_second"] for r in rows[experiment.name])
    everything = [row for some in rows.values() for row in some]
    lanes = workers or loky.cpu_count()
    # Runs on an accelerator share it: the seconds of one say nothing about the sum.
    apart = all(row["backend"] == "cpu" for row in everything)
    return {
        "runs": rows,
        "trial_rounds": sum(r["trial_rounds"] for r in everything),
        "compile": sum(r["compile"] for r in everything),
        "run": sum(r["run"] for r in everything),
        "processes": lanes,
        "full_protocol_hours": projected / lanes / 3600 if apart else None,
    }


def _clock(label: str, result: Result) -> dict[str, Any]:
    """Compilation apart; trials that ran as one program share its seconds.

    Threads that compile at the same time all count the same seconds: where these exceed the run's
    own, the whole of it counts as running.
    """
    total, compiled = result.timings["total"], result.timings["compile"]
    run = total - compiled if compiled < total else total
    rounds = result.timings["trial_rounds"]
    return {
        "label": label,
        "backend": result.settings.get("backend", ""),
        "compile": compiled,
        "run": run,
        "trial_rounds": rounds,
        "rounds_per_second": max(rounds, 1) / max(run, 1e-9),
    }


def _machine() -> dict[str, Any]:
    device = jax.devices()[0]
    return {
        "backend": jax.default_backend(),
        "device": device.device_kind,
        "cores": loky.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "versions": {
            "windfall": __version__,
            "jax": jax.__version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
    }
