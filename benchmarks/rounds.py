"""The time of a V-UCB round and of an LW-UCB round on Michalewicz, one trial at a time.

A trial goes from 3 rewards to 60. Every trial is played once untimed, so that all programs are
compiled, and again with the clock running; the two policies take turns, so that a machine that
slows down slows both. What the peer needs to play the same trials is left in the scratch folder.
"""

import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import windfall as wf
from benchmarks import part

REWARDS = 60
KAPPA = 2.0


def policies(problem: wf.Problem) -> dict[str, Any]:
    """The two acquisitions that are compared, with the same κ."""
    components = problem.protocol.components
    return {"v-ucb": wf.VUCB(kappa=KAPPA), "lw-ucb": wf.LWUCB(KAPPA, components)}


def measure(folder: Path, quick: bool) -> dict[str, Any]:
    problem = wf.problems.load("michalewicz")
    initial = problem.protocol.initial
    decisions = (6 if quick else REWARDS) - initial
    contenders = policies(problem)
    seeds = range(1 if quick else 5)

    def play(name: str, seed: int) -> tuple[float, wf.Result]:
        begin = time.perf_counter()
        result = wf.simulate(
            problem, contenders[name], rounds=1 + decisions, trials=1, seed=seed, workers=1, batch=0
        )
        return time.perf_counter() - begin, result

    first = {name: [play(name, seed)[0] for seed in seeds] for name in contenders}
    steady: dict[str, list[float]] = {name: [] for name in contenders}
    initial_arms = {}
    distinct: dict[str, list[int]] = {name: [] for name in contenders}
    for seed in seeds:
        for name in contenders:
            seconds, result = play(name, seed)
            if result.timings["compile"]:
                raise RuntimeError(f"{name} compiled again in a trial that was played before")
            steady[name].append(seconds)
            distinct[name].append(len({*result.initial[0].tolist(), *result.arms[0].tolist()}))
            initial_arms[seed] = result.initial[0]  # the same for both policies

    np.savez(
        folder / part.TRIALS_FILE,
        arms=problem.arms,
        payoff=problem.payoffs(0),
        noise=problem.noise,
        initial=np.array(list(initial_arms.values())),
        decisions=decisions,
        kappa=KAPPA,
    )
    return {
        name: {
            "ms": 1e3 * median(seconds) / decisions,
            "trials_ms": [1e3 * s / decisions for s in seconds],
            "distinct": distinct[name],
            "compile_s": sum(first[name]) - sum(seconds),
        }
        for name, seconds in steady.items()
    }


if __name__ == "__main__":
    part.main(measure)
