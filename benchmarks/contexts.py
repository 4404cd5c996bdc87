"""Contexts and drift, against peers and baselines: the wheel, moving landscapes, the next halide.

``python -m benchmarks.contexts wheel --rounds 2000 --trials 3``
``python -m benchmarks.contexts drift --trials 10``
``python -m benchmarks.contexts halides --data FOLDER``

Every trial has a process of its own. Those of the wheel are simulated as one compiled program; the
others are studies, asked and told. What a trial has played so far is kept in ``--out``. A run that
was stopped goes on where it was not finished, and its table counts the rounds that all trials of a
row have reached.

``--peers PYTHON`` (an interpreter that has MABWiser) plays LinUCB and LinTS on the same rounds of
the wheel; nothing else needs more than windfall.
"""

import argparse
import json
import multiprocessing
import os
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import windfall as wf
from benchmarks.machine import describe
from benchmarks.peer_process import PeerProcess
from windfall.policy import as_policy
from windfall.problems import load
from windfall.problems.changing import Rounds
from windfall.problems.rounds import gaps
from windfall.problems.varying import LAST, NOISE, RHOS
from windfall.simulation.work import Job, prepare
from windfall.simulation.work import play as play_block

#: Regret relative to uniform (100) on the wheel: NeuralLinear after 80,000 contexts (Riquelme,
#: Tucker and Snoek, ICLR 2018), and after 2,000 a network that was trained on many other wheels
#: before. Both from table 1 of *Amortized Bayesian Meta-Learning* (ICLR 2019), which quotes the
#: former.
NEURAL_LINEAR = {0.5: 0.95, 0.7: 1.60, 0.9: 4.65, 0.95: 9.56, 0.99: 49.63}
META_LEARNED = {0.5: 1.36, 0.7: 1.59, 0.9: 3.51, 0.95: 7.21, 0.99: 35.04}
#: What MABWiser's policies are tried with; the best of each row counts.
ALPHAS = (0.1, 1.0, 10.0)
PEERS = ("LinUCB", "LinTS")


#: A trial is kept after so many pulls, and at its end.
KEPT_EVERY = 50
#: "name at rest": the landscape of the drifting problems, which does not move.
REST = " at rest"
#: Contenders besides the policies that have a name.
DRIFTING = "drift"


class Trial(NamedTuple):
    """A study to be played.

    Attributes:
        problem: Its name.
        policy: A policy's name, or "drift": the default that expects drift.
        number: Which trial of the problem.
        pulls: How many.
        since: The study begins with this pull of the trial, and knows no context.
        data: The folder of data sets.
    """

    problem: str
    policy: str
    number: int
    pulls: int
    since: int = 0
    data: str | None = None

    @property
    def file(self) -> str:
        since = f"-from-{self.since}" if self.since else ""
        return f"{self.problem}.{self.policy}.{self.number}.{self.pulls}{since}.json".replace(
            " ", "_"
        )


def problem_of(name: str, data: str | None) -> wf.Problem:
    if not name.endswith(REST):
        return load(name, data)
    hidden = load(f"{name.removesuffix(REST)}-hidden")
    pays = hidden.payoffs(0)
    return wf.Problem(
        arms=hidden.arms,
        rounds=lambda trial, pulls: Rounds(np.tile(pays, (pulls, 1))),
        noise=hidden.noise,
        box=hidden.box,
        name=name,
        protocol=hidden.protocol,
    )


def play(trial: Trial, keep: Callable[[list[float], float], None]) -> None:
    """Ask and tell; what each pull missed goes to ``keep``, with the seconds so far."""
    problem = problem_of(trial.problem, trial.data)
    rounds = problem.drawn(trial.number, trial.pulls)
    gap, noise = gaps(rounds), np.random.default_rng([trial.number, 17])
    policy, drift = ("windfall", "auto") if trial.policy == DRIFTING else (trial.policy, None)
    known = None if trial.since else problem.context
    bandit = wf.Bandit(
        problem.arms, policy, context=known, drift=drift, seed=trial.number,
        initial=problem.protocol.initial,
    )  # fmt: skip
    missed, begun = [], time.perf_counter()
    for t in range(trial.since, trial.pulls):
        seen = None if known is None or rounds.contexts is None else rounds.contexts[t]
        choice = bandit.ask(context=seen)
        pays = rounds.payoffs[t, choice.arm] + problem.noise * noise.normal()
        bandit.tell(choice, pays)
        missed.append(float(gap[t, choice.arm]))
        if len(missed) % KEPT_EVERY == 0 or t == trial.pulls - 1:
            keep(missed, time.perf_counter() - begun)


def simulate(trial: Trial, keep: Callable[[list[float], float], None]) -> None:
    """The same as one program: nothing to keep before the end, and far sooner there."""
    problem, begun = problem_of(trial.problem, trial.data), time.perf_counter()
    initial = problem.protocol.initial
    job = Job(as_policy(trial.policy), problem, trial.pulls - initial + 1, 0)
    played = play_block(job, prepare(job), [trial.number], 0)
    arms = np.concatenate([played.initial[0], played.arms[0, 1:]])
    gap = gaps(problem.drawn(trial.number, trial.pulls))
    keep(gap[np.arange(trial.pulls), arms].tolist(), time.perf_counter() - begun)


def play_to_file(folder: str, trial: Trial) -> Trial:
    """A trial in a process of its own."""
    path = Path(folder) / trial.file

    def keep(missed: list[float], seconds: float) -> None:
        part = path.with_suffix(".part")
        part.write_text(json.dumps({"missed": missed, "seconds": seconds}))
        os.replace(part, path)

    (simulate if trial.problem.startswith("contextual-wheel") else play)(trial, keep)
    return trial


def played(folder: Path, trial: Trial) -> dict[str, Any]:
    """What is known of a trial."""
    path = folder / trial.file
    return json.loads(path.read_text()) if path.exists() else {"missed": [], "seconds": 0.0}


def play_all(folder: Path, trials: list[Trial], workers: int | None, seconds: float) -> None:
    """Those that are not finished, until the time is over."""
    folder.mkdir(parents=True, exist_ok=True)
    trials = sorted(trials, key=lambda trial: trial.number)  # all rows, if the time is short
    open = [t for t in trials if len(played(folder, t)["missed"]) < t.pulls - t.since]
    spawn = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, mp_context=spawn, max_tasks_per_child=1)
    futures = [pool.submit(play_to_file, str(folder), trial) for trial in open]
    try:
        for done in as_completed(futures, timeout=seconds):
            print(f"played: {done.result().file}", flush=True)
    except TimeoutError:
        print("the time is over; what follows is of the rounds played so far")
        for process in list((pool._processes or {}).values()):
            process.kill()
    pool.shutdown(wait=False, cancel_futures=True)


def reached(folder: Path, trials: list[Trial]) -> tuple[np.ndarray, float]:
    """(trials, pulls) what was missed, as far as all have come; and the seconds of the slowest."""
    known = [played(folder, trial) for trial in trials]
    common = min(len(one["missed"]) for one in known)
    missed = np.array([one["missed"][:common] for one in known])
    return missed, max(one["seconds"] for one in known)


def uniform(rounds: Rounds, first: int) -> float:
    """The regret of arms drawn at random, exactly: from pull ``first`` on."""
    return float(gaps(rounds)[first:].mean(axis=1).sum())


def peer_regret(peers: PeerProcess, policy: str, alpha: float, rounds: Rounds, seed: int) -> float:
    rng = np.random.default_rng([seed, 99])
    assert rounds.contexts is not None
    rewards = rounds.payoffs + 0.01 * rng.normal(size=rounds.payoffs.shape)
    question = {"rewards": rewards.tolist(), "contexts": rounds.contexts.tolist(), "seed": seed}
    arms = peers.ask(question | {"policy": policy, "alpha": alpha})["arms"]
    gap = gaps(rounds)
    return float(gap[np.arange(len(gap)), arms][3:].sum())


def wheel(given: argparse.Namespace) -> None:
    pulls = given.rounds + 3
    numbers = range(given.first, given.first + given.trials)
    cells = {
        (rho, policy): [Trial(f"contextual-wheel-{rho}", policy, i, pulls) for i in numbers]
        for policy in given.policies
        for rho in given.rho
    }
    play_all(
        given.out, [t for trials in cells.values() for t in trials], given.workers, given.seconds
    )
    peers = PeerProcess(given.peers, "benchmarks.contexts_peer") if given.peers else None
    if peers is not None:
        print(f"- peers: {peers.versions}")
    names = [*given.policies, *(PEERS if peers is not None else ())]
    print(f"\n### The wheel: {given.trials} trials; uniform is 100\n")
    published = "NeuralLinear, 80,000 | meta-learned, 2,000"
    print(f"| ρ | rounds | {' | '.join(names)} | {published} | seconds of a trial |")
    print("|--:|" + "--:|" * (len(names) + 4))
    for rho in given.rho:
        problem = load(f"contextual-wheel-{rho}")
        initial = problem.protocol.initial
        known = [reached(given.out, cells[rho, policy]) for policy in given.policies]
        common = min(missed.shape[1] for missed, _ in known)
        if common <= initial:
            continue
        drawn = [problem.drawn(i, pulls) for i in numbers]
        drawn = [Rounds(r.payoffs[:common], r.contexts[:common]) for r in drawn]
        chance = np.array([uniform(rounds, initial) for rounds in drawn])
        row = [shown(100.0 * m[:, initial:common].sum(axis=1) / chance) for m, _ in known]
        for policy in PEERS if peers is not None else ():
            assert peers is not None
            shares = [
                [100.0 * peer_regret(peers, policy, alpha, rounds, i) / by_chance
                 for i, rounds, by_chance in zip(numbers, drawn, chance, strict=True)]
                for alpha in ALPHAS
            ]  # fmt: skip
            row.append(shown(min(shares, key=np.mean)))
        seconds = max(seconds for _, seconds in known)
        row += [str(NEURAL_LINEAR[rho]), str(META_LEARNED[rho]), f"{seconds:.0f}"]
        print(f"| {rho} | {common - initial} | {' | '.join(row)} |", flush=True)
    if peers is not None:
        peers.close()


def shown(values) -> str:
    values = np.asarray(values)
    return f"{values.mean():.2f} ± {values.std() / np.sqrt(len(values)):.2f}"


def discounted_ucb(rounds: Rounds, discount: float, seed: int) -> np.ndarray:
    """Garivier and Moulines (ALT 2011): means and counts that fade, and a bound on what is known.

    2B√(ξ log n/N) with ξ = ½; it is told B, the range of the payoffs.
    """
    rng = np.random.default_rng([seed, 7])
    pulls, size = rounds.payoffs.shape
    bound = np.ptp(rounds.payoffs)
    total, count = np.zeros((2, size))
    arms = np.empty(pulls, int)
    for t in range(pulls):
        with np.errstate(divide="ignore", invalid="ignore"):
            bonus = 2 * bound * np.sqrt(0.5 * np.log(max(count.sum(), 1.0)) / count)
            value = np.where(count > 1e-12, total / count + bonus, np.inf)
        value = value if rounds.available is None else np.where(rounds.available[t], value, -np.inf)
        best = np.flatnonzero(value == value.max())
        arm = int(rng.choice(best))
        reward = rounds.payoffs[t, arm] + NOISE * rng.normal()
        total, count = discount * total, discount * count
        total[arm] += reward
        count[arm] += 1.0
        arms[t] = arm
    return arms


#: The best of these counts; 1 forgets nothing.
DISCOUNTS = (0.95, 0.98, 0.99, 1.0)


def drift(given: argparse.Namespace) -> None:
    contenders = ["windfall", DRIFTING]
    pulls = given.rounds + 3
    kinds = {"drifting": ["-abrupt", "-slow"], "still": [REST]}
    names = {what: [f + e for e in ends for f in given.functions] for what, ends in kinds.items()}
    cells = {
        (name, policy): [Trial(name, policy, i, pulls) for i in range(given.trials)]
        for each in names.values() for name in each for policy in contenders
    }  # fmt: skip
    play_all(
        given.out, [t for trials in cells.values() for t in trials], given.workers, given.seconds
    )
    print(f"\n### R_T/T, mean of {given.trials} trials\n")
    print(
        "| problem | rounds | stationary | drift | discounted UCB | drift / stationary | / D-UCB |"
    )
    print("|---|" + "--:|" * 6)
    for what, each in names.items():
        ratios = []
        for name in each:
            problem = problem_of(name, None)
            initial = problem.protocol.initial
            known = [reached(given.out, cells[name, policy])[0] for policy in contenders]
            common = min(missed.shape[1] for missed in known)
            if common <= initial:
                continue
            still, ours = (float(missed[:, initial:common].mean()) for missed in known)
            best = faded(problem, given.trials, pulls, common)
            ratios.append((ours / still, ours / best))
            row = [f"{still:.3f}", f"{ours:.3f}", f"{best:.3f}", *(f"{r:.2f}" for r in ratios[-1])]
            print(f"| {name} | {common - initial} | {' | '.join(row)} |", flush=True)
        if ratios:
            first, second = np.exp(np.mean(np.log(ratios), axis=0))
            print(f"| *{what}, geometric mean* | | | | | {first:.3f} | {second:.3f} |")


def faded(problem: wf.Problem, trials: int, pulls: int, common: int) -> float:
    """The regret of the best discounted UCB."""
    table = []
    for i in range(trials):
        rounds = problem.drawn(i, pulls)
        gap, at = gaps(rounds), np.arange(pulls)
        missed = [gap[at, discounted_ucb(rounds, d, i)] for d in DISCOUNTS]
        table.append([one[problem.protocol.initial : common].mean() for one in missed])
    return float(np.mean(table, axis=0).min())


def halides(given: argparse.Namespace) -> None:
    """The last pulls of each trial are a new halide's: against a study that begins with it."""
    name = "buchwald-hartwig-halides"
    pulls = load(name, given.data).protocol.rounds + 2
    numbers = range(given.trials)
    knowing = [Trial(name, "windfall", i, pulls, 0, given.data) for i in numbers]
    anew = [Trial(name, "windfall", i, pulls, pulls - LAST, given.data) for i in numbers]
    play_all(given.out, [*knowing, *anew], given.workers, given.seconds)
    print(f"\n### The next halide: regret per pull, {LAST} pulls, standardised yields\n")
    print("| left out | knowing the others | anew | ratio |\n|--:|--:|--:|--:|")
    pairs = []
    for i, trials in enumerate(zip(knowing, anew, strict=True)):
        missed = [played(given.out, trial)["missed"] for trial in trials]
        if len(missed[0]) < pulls or len(missed[1]) < LAST:
            continue
        one, other = (float(np.mean(each[-LAST:])) for each in missed)
        pairs.append((one, other))
        print(f"| {i} | {one:.3f} | {other:.3f} | {one / other:.2f} |")
    if not pairs:
        print("\nno halide was played to its end: more --seconds")
        return
    one, other = np.mean(pairs, axis=0)
    print(f"| mean | {one:.3f} | {other:.3f} | {one / other:.2f} |")
    print(f"\nat most half: {sum(a <= 0.5 * b for a, b in pairs)} of {len(pairs)} halides")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("part", choices=["wheel", "drift", "halides"])
    parser.add_argument("--rounds", type=int, help="by default 2,000, 300, or those of the problem")
    parser.add_argument("--trials", type=int, default=15)
    parser.add_argument("--first", type=int, default=0, help="number of the wheel's first trial")
    parser.add_argument("--workers", type=int, help="processes at a time")
    parser.add_argument("--seconds", type=float, default=86_400.0, help="then what there is counts")
    parser.add_argument("--out", type=Path, default=Path("out/contexts"))
    parser.add_argument("--rho", type=float, nargs="*", default=list(RHOS))
    parser.add_argument("--policies", nargs="*", default=["windfall"])
    functions = ["cosine", "michalewicz", "modified-michalewicz"]
    parser.add_argument("--functions", nargs="*", default=functions)
    parser.add_argument("--data", help="folder that has buchwald_hartwig")
    parser.add_argument("--peers", help="interpreter that has MABWiser")
    given = parser.parse_args()
    if given.part == "halides" and not given.data:
        parser.error("halides needs --data")
    given.rounds = given.rounds or {"wheel": 2000, "drift": 300}.get(given.part)
    begun = time.perf_counter()
    print(*(f"- {k}: {v}" for k, v in describe().items()), sep="\n")
    {"wheel": wheel, "drift": drift, "halides": halides}[given.part](given)
    print(f"\n{time.perf_counter() - begun:.0f} s")


if __name__ == "__main__":
    main()
