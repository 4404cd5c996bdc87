"""Contexts and drift, against peers and baselines: the wheel, moving landscapes, the next halide.

``python -m benchmarks.contexts wheel --rounds 2000 --trials 8``
``python -m benchmarks.contexts drift --trials 20``
``python -m benchmarks.contexts halides --data FOLDER``

``--peers PYTHON`` (an interpreter that has MABWiser) plays LinUCB and LinTS on the same rounds of
the wheel; nothing else needs more than windfall.
"""

import argparse
import time
from typing import Any

import numpy as np

import windfall as wf
from benchmarks.machine import describe
from benchmarks.peer_process import PeerProcess
from windfall.problems import load
from windfall.problems.changing import Rounds
from windfall.problems.rounds import gaps
from windfall.problems.varying import LAST, NOISE, RHOS

#: Regret relative to uniform (100) on the wheel: NeuralLinear after 80,000 contexts (Riquelme,
#: Tucker and Snoek, ICLR 2018), and after 2,000 a network that was trained on many other wheels
#: before. Both from table 1 of *Amortized Bayesian Meta-Learning* (ICLR 2019), which quotes the
#: former.
NEURAL_LINEAR = {0.5: 0.95, 0.7: 1.60, 0.9: 4.65, 0.95: 9.56, 0.99: 49.63}
META_LEARNED = {0.5: 1.36, 0.7: 1.59, 0.9: 3.51, 0.95: 7.21, 0.99: 35.04}
#: What MABWiser's policies are tried with; the best of each row counts.
ALPHAS = (0.1, 1.0, 10.0)
PEERS = ("LinUCB", "LinTS")


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
    peers = PeerProcess(given.peers, "benchmarks.contexts_peer") if given.peers else None
    if peers is not None:
        print(f"- peers: {peers.versions}")
    names = [*given.policies, *(PEERS if peers is not None else ())]
    print(f"\n### The wheel: {given.rounds} rounds, {given.trials} trials; uniform is 100\n")
    published = "NeuralLinear, 80,000 | meta-learned, 2,000"
    print(f"| ρ | {' | '.join(names)} | {published} | seconds |")
    print("|--:|" + "--:|" * (len(names) + 3))
    for rho in given.rho:
        problem = load(f"contextual-wheel-{rho}")
        initial = problem.protocol.initial
        drawn = [problem.drawn(i, given.rounds + initial - 1) for i in range(given.trials)]
        chance = np.array([uniform(rounds, initial) for rounds in drawn])
        begun, cells = time.perf_counter(), []
        for policy in given.policies:
            size = {"rounds": given.rounds, "trials": given.trials, "workers": given.workers}
            result = wf.simulate(problem, policy, seed=0, **size)
            share = 100.0 * result.regret[:, 1:].sum(axis=1) / chance
            cells.append(shown(share))
        seconds = time.perf_counter() - begun
        for policy in PEERS if peers is not None else ():
            assert peers is not None
            shares = [
                [100.0 * peer_regret(peers, policy, alpha, rounds, i) / chance[i]
                 for i, rounds in enumerate(drawn)]
                for alpha in ALPHAS
            ]  # fmt: skip
            cells.append(shown(min(shares, key=np.mean)))
        cells += [str(NEURAL_LINEAR[rho]), str(META_LEARNED[rho]), f"{seconds:.0f}"]
        print(f"| {rho} | {' | '.join(cells)} |", flush=True)
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


def motionless(function: str) -> wf.Problem:
    """The landscape of the drifting problems, at rest."""
    hidden = load(f"{function}-hidden")
    pays = hidden.payoffs(0)
    return wf.Problem(
        arms=hidden.arms,
        rounds=lambda trial, pulls: Rounds(np.tile(pays, (pulls, 1))),
        noise=hidden.noise,
        box=hidden.box,
        name=f"{function}, at rest",
        protocol=hidden.protocol,
    )


def drift(given: argparse.Namespace) -> None:
    contenders: dict[str, Any] = {
        "stationary": None,
        "drift": wf.Policy(wf.Windfall(), wf.Drifting()),
    }
    names = [f"{f}-{kind}" for kind in ("abrupt", "slow") for f in given.functions]
    print(f"\n### R_T/T, mean of {given.trials} trials, {given.rounds} rounds\n")
    print(f"| problem | {' | '.join(contenders)} | discounted UCB | drift / stationary | / D-UCB |")
    print("|---|" + "--:|" * (len(contenders) + 3))
    ratios: dict[str, list[tuple[float, float]]] = {"drifting": [], "still": []}
    problems = [*map(load, names), *map(motionless, given.functions)]
    for problem in problems:
        name = problem.name
        initial = problem.protocol.initial
        means = {}
        for label, policy in contenders.items():
            size = {"rounds": given.rounds, "trials": given.trials, "workers": given.workers}
            means[label] = wf.simulate(problem, policy, seed=0, **size).regret[:, 1:].mean()
        table = []
        for i in range(given.trials):
            rounds = problem.drawn(i, given.rounds + initial - 1)
            gap, at = gaps(rounds), np.arange(given.rounds + initial - 1)
            table.append(
                [gap[at, discounted_ucb(rounds, d, i)][initial:].mean() for d in DISCOUNTS]
            )
        best = float(np.mean(table, axis=0).min())
        cells = [f"{mean:.3f}" for mean in means.values()]
        ours = float(means["drift"])
        ratio = (ours / float(means["stationary"]), ours / best)
        ratios["drifting" if name in names else "still"].append(ratio)
        pair = tuple(f"{r:.2f}" for r in ratio)
        print(f"| {name} | {' | '.join(cells)} | {best:.3f} | {' | '.join(pair)} |", flush=True)
    for what, pairs in ratios.items():
        first, second = np.exp(np.mean(np.log(pairs), axis=0))
        print(f"\n{what}, geometric mean: {first:.3f} of stationary, {second:.3f} of D-UCB")


def halides(given: argparse.Namespace) -> None:
    """The last pulls of each trial are a new halide's: against a study that begins with it."""
    problem = load("buchwald-hartwig-halides", given.data)
    still = load(f"{given.data}/buchwald_hartwig")
    trials = min(given.trials, still.snapshots)
    size = {"trials": trials, "workers": given.workers, "seed": 0}
    before = wf.simulate(problem, rounds=given.rounds or problem.protocol.rounds, **size)
    knowing = before.regret[:, -LAST:].mean(axis=1)
    # As many pulls in all: three initial arms, whose regret counts as well, and the rest.
    after = wf.simulate(still, rounds=LAST - still.protocol.initial + 1, **size)
    payoffs = np.stack([still.payoffs(i) for i in range(trials)])
    gap = payoffs.max(axis=1, keepdims=True) - payoffs
    first = np.take_along_axis(gap, after.initial, axis=1)
    anew = np.concatenate([first, after.regret[:, 1:]], axis=1).mean(axis=1)
    print(f"\n### The next halide: regret per pull, {LAST} pulls, standardised yields\n")
    print("| left out | knowing the others | anew | ratio |\n|--:|--:|--:|--:|")
    for i, (one, other) in enumerate(zip(knowing, anew, strict=True)):
        print(f"| {i} | {one:.3f} | {other:.3f} | {one / other:.2f} |")
    print(
        f"| mean | {knowing.mean():.3f} | {anew.mean():.3f} | {knowing.mean() / anew.mean():.2f} |"
    )
    print(f"\nat most half: {np.sum(knowing <= 0.5 * anew)} of {trials} halides")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("part", choices=["wheel", "drift", "halides"])
    parser.add_argument("--rounds", type=int, help="by default 2,000, 300, or those of the problem")
    parser.add_argument("--trials", type=int, default=15)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--rho", type=float, nargs="*", default=list(RHOS))
    parser.add_argument("--policies", nargs="*", default=["windfall", "v-ucb", "ts"])
    functions = ["cosine", "michalewicz", "modified-michalewicz"]
    parser.add_argument("--functions", nargs="*", default=functions)
    parser.add_argument("--data", help="folder that has buchwald_hartwig")
    parser.add_argument("--peers", help="interpreter that has MABWiser")
    given = parser.parse_args()
    if given.part == "halides" and not given.data:
        parser.error("halides needs --data")
    given.rounds = given.rounds or {"wheel": 2000, "drift": 300}.get(given.part)
    begun, used = time.perf_counter(), time.process_time()
    print(*(f"- {k}: {v}" for k, v in describe().items()), sep="\n")
    {"wheel": wheel, "drift": drift, "halides": halides}[given.part](given)
    wall, cpu = time.perf_counter() - begun, time.process_time() - used
    print(f"\n{wall:.0f} s, of which CPU in this process {cpu:.0f} s")


if __name__ == "__main__":
    main()
