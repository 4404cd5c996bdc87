"""A round of V-UCB, of LW-UCB and of the default policy on the same rewards.

In trials of their own policies pull different arms, LW-UCB more distinct ones, and a round costs
what its distinct arms cost; the difference then is partly one of data. Here all decide after every
reward of the same histories, a third of them each one's own, whatever they would have pulled
themselves. Every history is replayed once untimed, so that everything is compiled.
"""

import dataclasses
import time
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import numpy as np

import windfall as wf
from benchmarks import part
from benchmarks.rounds import REWARDS, policies
from windfall.models.capacity import bucket
from windfall.policy import Policy, State, as_policy, learn, observe
from windfall.runtime.execution import float64
from windfall.space import Arms


@eqx.filter_jit
def decide(policy: Policy, state: State) -> tuple[State, jax.Array]:
    """Learn and select: a round without its reward."""
    state = learn(policy.model, state)
    arm, _ = policy.select(state)
    return state, arm


@eqx.filter_jit
def note(state: State, arm: np.int32, reward: np.float64) -> State:
    return observe(state, arm, reward)


@float64
def replay(policy: Policy, space: Arms, arms: np.ndarray, rewards: np.ndarray, initial: int):
    """Seconds of every decision after the initial arms, the last reward left out."""
    state = policy.begin(jax.random.key(0), space, capacity=bucket(initial + 1), initial=initial)
    seconds = []
    for t, (arm, reward) in enumerate(zip(arms, rewards, strict=True)):
        if t >= initial:
            begin = time.perf_counter()
            state, choice = decide(policy, state)
            choice.block_until_ready()
            seconds.append(time.perf_counter() - begin)
        if int(state.belief.tried.distinct) == state.belief.capacity:
            belief = state.belief.resized(bucket(state.belief.capacity + 1))
            state = dataclasses.replace(state, belief=belief)
        state = note(state, np.int32(arm), np.float64(reward))
    return seconds


def measure(folder: Path, quick: bool) -> dict[str, Any]:
    del folder
    problem = wf.problems.load("michalewicz")
    initial = problem.protocol.initial
    rounds = 1 + (6 if quick else REWARDS) - initial
    space = Arms(problem.arms, problem.feature_names, problem.box)
    contenders = {name: Policy(acquisition) for name, acquisition in policies(problem).items()}
    contenders["windfall"] = as_policy("windfall")
    totals: dict[str, list[float]] = {name: [] for name in contenders}
    distinct = []
    for author in contenders.values():
        for seed in range(1 if quick else 3):
            played = wf.simulate(
                problem, author, rounds=rounds, trials=1, seed=seed, workers=1, batch=0
            )
            arms = np.concatenate([played.initial[0], played.arms[0, 1:]])
            noise = problem.noise * np.random.default_rng(seed).standard_normal(len(arms))
            rewards = problem.payoffs(0)[arms] + noise
            distinct.append(len(set(arms.tolist())))
            for policy in contenders.values():
                replay(policy, space, arms, rewards, initial)
            for name, policy in contenders.items():
                seconds = replay(policy, space, arms, rewards, initial)
                totals[name].append(1e3 * sum(seconds) / len(seconds))
    ratios = {
        name: [own / v for own, v in zip(totals[name], totals["v-ucb"], strict=True)]
        for name in ("lw-ucb", "windfall")
    }
    return {"ms": totals, "ratios": ratios, "distinct": distinct}


if __name__ == "__main__":
    part.main(measure)
