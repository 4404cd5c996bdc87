"""The time of a V-UCB round and of an LW-UCB round on Michalewicz, one trial at a time.

A trial goes from 3 rewards to 60. Every trial is played once untimed, so that all programs are
compiled, and again with the clock running; the two policies take turns, so that a machine that
slows down slows both. What the peer needs to play the same trials is left in the scratch folder.

The same through ``wf.Bandit``: what one ask and the tell after it take once a study is under way.
"""

import itertools
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import windfall as wf
from benchmarks import part

REWARDS = 60
#: From this reward on a study is under way.
STEADY = 10
KAPPA = 2.0


def policies(problem: wf.Problem) -> dict[str, Any]:
    """The two acquisitions that are compared, with the same κ."""
    components = problem.protocol.components
    return {"v-ucb": wf.VUCB(kappa=KAPPA), "lw-ucb": wf.LWUCB(KAPPA, components)}


def study(problem: wf.Problem, policy: Any, seed: int, rewards: int) -> list[float]:
    """Seconds of every ask and its tell in a study of so many rewards."""
    bandit, rng = wf.Bandit(problem.arms, policy, seed=seed), np.random.default_rng(seed)
    payoffs, noise, seconds = problem.payoffs(0), problem.noise, []
    for _ in range(rewards):
        begin = time.perf_counter()
        choice = bandit.ask()
        asked = time.perf_counter() - begin
        reward = float(payoffs[choice.arm] + noise * rng.standard_normal())
        begin = time.perf_counter()
        bandit.tell(choice, reward)
        seconds.append(asked + time.perf_counter() - begin)
    return seconds


def through_bandits(problem: wf.Problem, seeds: range, quick: bool) -> dict[str, Any]:
    """Milliseconds of a steady ask and tell: the median of a study, and that of the studies."""
    contenders = policies(problem)
    rewards = STEADY + 2 if quick else REWARDS
    for name, seed in itertools.product(contenders, seeds):
        study(problem, contenders[name], seed, rewards)  # compiles
    steady = {
        (name, seed): 1e3 * median(study(problem, contenders[name], seed, rewards)[STEADY:])
        for seed, name in itertools.product(seeds, contenders)
    }
    each = {name: [steady[name, seed] for seed in seeds] for name in contenders}
    return {name: {"ms": median(ms), "trials_ms": ms} for name, ms in each.items()}


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
    rounds = {
        name: {
            "ms": 1e3 * median(seconds) / decisions,
            "trials_ms": [1e3 * s / decisions for s in seconds],
            "distinct": distinct[name],
            "compile_s": sum(first[name]) - sum(seconds),
        }
        for name, seconds in steady.items()
    }
    return rounds | {"bandit": through_bandits(problem, seeds, quick)}


if __name__ == "__main__":
    part.main(measure)
