"""BoTorch's trials: asked arm by arm, kept trial by trial, gathered as a ``Result``."""

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peer_process import PeerError, PeerProcess
from benchmarks.real import luck, plan
from windfall.problems import Problem
from windfall.simulation.results import Result, write_atomically


def play(
    peer: PeerProcess, problem: Problem, initial: np.ndarray, rounds: int, store: Path
) -> None:
    """Play every trial that is not kept yet from the same initial arms as windfall's policies."""
    lower, upper = problem.arms.min(axis=0), problem.arms.max(axis=0)
    unit = (problem.arms - lower) / np.where(upper > lower, upper - lower, 1.0)
    for trial, first in enumerate(initial):
        path = _path(store, problem, trial, rounds)
        if path.exists():
            continue
        begun = time.time()
        peer.ask({"arms": unit.tolist()})
        try:
            record = _trial(peer, problem, trial, first, rounds)
        except PeerError as error:
            print(f"{problem.name} botorch {trial}: left out, {error}", file=sys.stderr)
            continue
        seconds = time.time() - begun
        path.parent.mkdir(parents=True, exist_ok=True)
        record |= {"initial": first.tolist(), "seconds": seconds, "versions": peer.versions}
        write_atomically(path, json.dumps(record).encode())
        print(f"{problem.name} botorch {trial}: {seconds:.0f} s", file=sys.stderr, flush=True)


def _trial(peer, problem: Problem, trial: int, first: np.ndarray, rounds: int) -> dict[str, Any]:
    pulled = first.tolist()
    rewards = luck.rewards(problem, plan.SEED, trial, 0, first).tolist()
    best = int(problem.payoffs(trial)[first].argmax())
    arms, paid = [pulled[best]], [rewards[best]]
    for t in range(1, rounds):
        question = {"pulled": pulled, "rewards": rewards, "seed": 1000 * trial + t}
        arm = int(peer.ask(question)["arm"])
        reward = float(luck.rewards(problem, plan.SEED, trial, t, np.array(arm)))
        for column, value in ((pulled, arm), (arms, arm), (rewards, reward), (paid, reward)):
            column.append(value)
    return {"arms": arms, "rewards": paid}


def gather(problem: Problem, initial: np.ndarray, rounds: int, store: Path) -> Result | None:
    """The kept trials from the first on, without a hole; None if the first is missing."""
    records = []
    for trial, first in enumerate(initial):
        path = _path(store, problem, trial, rounds)
        record = json.loads(path.read_text()) if path.exists() else None
        if record is None or record["initial"] != first.tolist():
            break
        records.append(record)
    if not records:
        return None
    arms = np.array([record["arms"] for record in records])
    payoffs = [problem.payoffs(trial) for trial in range(len(records))]
    regret = np.array([p.max() - p[row] for p, row in zip(payoffs, arms, strict=True)])
    return Result(
        problem=problem.name,
        policy="LogEI",
        label=plan.BOTORCH,
        seed=plan.SEED,
        regret=regret,
        arms=arms,
        rewards=np.array([record["rewards"] for record in records]),
        initial=initial[: len(records)],
        versions=records[0]["versions"],
    )


def _path(store: Path, problem: Problem, trial: int, rounds: int) -> Path:
    return store / "botorch" / problem.name / f"{rounds}-{trial}.json"
