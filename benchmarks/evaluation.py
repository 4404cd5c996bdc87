"""Estimates of a policy's value from simulated logs: bias, error and coverage against the truth.

``python -m benchmarks.evaluation`` (``--logs 200``; ``--peers PYTHON`` for obp on the same logs).
Peers are optional; everything else needs windfall alone.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

import windfall as wf
from benchmarks.machine import describe
from benchmarks.peer_process import PeerProcess
from windfall.evaluation import crossfit
from windfall.evaluation.estimators import ESTIMATORS, INTERVALS, Rows, effective_size
from windfall.evaluation.evaluate import probable_and_predicted
from windfall.evaluation.log import Log, as_log

#: Ten arms in the unit square.
ARMS = np.random.default_rng(7).random((10, 2))
NOISE = 0.5
MODEL = wf.BayesianLinear("fourier", size=64, lengthscale=0.5)


def payoff(context: np.ndarray, windfall: float = 0.0) -> np.ndarray:
    """(n, M): smooth in arm and context, but for a windfall of this size in a tenth of them."""
    x, c = ARMS[None], context[:, None]
    plain = np.sin(4 * x[..., 0] + 3 * c[..., 0]) + x[..., 1] * c[..., 1]
    plain[:, 3] += windfall * ((context[:, 0] > 0.8) & (context[:, 1] > 0.5))
    return plain


def softmax(scores: np.ndarray, sharp: float) -> np.ndarray:
    risen = np.exp(sharp * (scores - scores.max(axis=1, keepdims=True)))
    return risen / risen.sum(axis=1, keepdims=True)


def uniform(context):
    return np.full((len(context), len(ARMS)), 1 / len(ARMS))


def leaning(context):
    """Prefers arms on the right, whatever they pay; no arm is rarer than 2 %."""
    scores = np.tile(ARMS[:, 0], (len(context), 1))
    return 0.2 * uniform(context) + 0.8 * softmax(scores, 3.0)


def good(context, windfall):
    return softmax(payoff(context, windfall), 1.0)


def best(context, windfall):
    return np.eye(len(ARMS))[payoff(context, windfall).argmax(axis=1)]


def opposite(context, windfall):
    """Prefers what ``leaning`` avoids."""
    del windfall
    return softmax(-np.tile(ARMS[:, 0], (len(context), 1)), 6.0)


#: Who logged, who is judged, and what the windfall is worth.
CASES: dict[str, tuple[Callable, Callable, float]] = {
    "uniform → good": (uniform, good, 0.0),
    "uniform → best": (uniform, best, 0.0),
    "leaning → good": (leaning, good, 0.0),
    "leaning → opposite": (leaning, opposite, 0.0),
    "uniform → best, windfall": (uniform, best, 10.0),
    "leaning → best, windfall": (leaning, best, 10.0),
}


def truth(target: Callable, windfall: float) -> float:
    """By the midpoints of a million cells of contexts: the jumps lie on their borders."""
    ticks = (np.arange(1000) + 0.5) / 1000
    total = 0.0
    for first in ticks:
        context = np.stack([np.full(1000, first), ticks], axis=1)
        total += float(
            np.mean(np.sum(target(context, windfall) * payoff(context, windfall), axis=1))
        )
    return total / 1000


def drawn(
    rng: np.random.Generator, n: int, logging: Callable, windfall: float
) -> dict[str, np.ndarray]:
    context = rng.random((n, 2))
    probable = logging(context)
    arm = (rng.random(n)[:, None] > np.cumsum(probable, axis=1)).sum(axis=1)
    arm = np.minimum(arm, len(ARMS) - 1)
    rows = np.arange(n)
    reward = payoff(context, windfall)[rows, arm] + NOISE * rng.normal(size=n)
    return {"arm": arm, "reward": reward, "propensity": probable[rows, arm], "context": context}


def rows_of(known: Log, target: np.ndarray) -> tuple[Rows, np.ndarray, np.ndarray]:
    """What ``wf.evaluate`` estimates from, with the tables that obp wants."""
    learning = crossfit.Learning(MODEL, most=10**9, seed=0)
    probable, predicted = probable_and_predicted(learning, known, target, 5, 1)
    at = np.arange(len(known)), known.arm
    weight = probable[at] / known.propensity
    value = np.sum(probable * predicted, axis=1)
    return Rows(known.reward, weight, predicted[at], value), probable, predicted


class Tally:
    """How far estimates are from the truth, and how often their intervals hold it."""

    def __init__(self, right: float):
        self.right = right
        self.values: dict[tuple[str, str], list[tuple[float, float, float]]] = {}

    def add(self, rows: Rows, seed: int) -> None:
        for name in ESTIMATORS:
            for way, interval in INTERVALS.items():
                found = interval(name, rows, 0.95, seed)
                said = (found.value, found.low, found.high)
                self.values.setdefault((name, way), []).append(said)

    def lines(self, case: str) -> Iterator[str]:
        for name in ESTIMATORS:
            value = np.array(self.values[name, "normal"])[:, 0]
            bias, spread = value.mean() - self.right, value.std() / np.sqrt(len(value))
            error = np.sqrt(np.mean((value - self.right) ** 2))
            covered, widths = [], []
            for way in INTERVALS:
                _, low, high = np.array(self.values[name, way]).T
                covered.append(np.mean((low <= self.right) & (self.right <= high)))
                widths.append(np.mean(high - low))
            shown = ("–",) * 3 if np.isnan(widths[0]) else (
                f"{covered[0]:.3f}", f"{covered[1]:.3f}", f"{widths[0]:.3f}")  # fmt: skip
            yield (
                f"| {case} | {name} | {self.right:.3f} | {bias:+.3f} ± {spread:.3f} | {error:.3f} "
                f"| {' | '.join(shown)} |"
            )


HEAD = (
    "| log → target | estimator | truth | bias | rms error | coverage: normal | boot | width |\n"
    "|---|---|--:|--:|--:|--:|--:|--:|"
)


def fixed_logs(n: int, logs: int, peers: PeerProcess | None) -> None:
    print(f"\n### {n} rows, contexts and arms drawn anew; {logs} logs\n\n{HEAD}")
    furthest = 0.0
    for case, (logging, target, windfall) in CASES.items():
        tally = Tally(truth(target, windfall))
        for seed in range(logs):
            log = drawn(np.random.default_rng([n, seed]), n, logging, windfall)
            rows, probable, predicted = rows_of(
                as_log(log, ARMS, None), target(log["context"], windfall)
            )
            tally.add(rows, seed)
            if peers is not None and seed < 20:
                tables = {"probable": probable, "predicted": predicted}
                question = {k: np.asarray(v).tolist() for k, v in {**log, **tables}.items()}
                theirs = peers.ask(question)
                ours = {name: float(f(rows)[0]) for name, f in ESTIMATORS.items()}
                furthest = max(furthest, *(abs(theirs[k] - ours[k]) for k in ours))
        print(*tally.lines(case), sep="\n", flush=True)
    if peers is not None:
        print(f"\nobp on the first 20 logs of each: largest difference {furthest:.1e}")


class Learner(NamedTuple):
    """A study that learns while it logs, and the target: probabilities of the three best arms."""

    policy: wf.Policy
    target: tuple[float, float, float]
    rounds: int


#: Far: the target often does what the study has learned to leave alone. Near: it seldom does.
FAR, NEAR = ((0.6, 0.2, 0.2), 100), ((0.8, 0.1, 0.1), 200)
TS = wf.Policy(wf.TS(), MODEL, propensities=256)
STUDIES = {
    "far, V-UCB, explore=0.2": Learner(wf.Policy(wf.VUCB(), MODEL, explore=0.2), *FAR),
    "far, TS, propensities=256": Learner(TS, *FAR),
    "near, V-UCB, explore=0.3": Learner(wf.Policy(wf.VUCB(), MODEL, explore=0.3), *NEAR),
    "near, TS, propensities=256": Learner(TS, *NEAR),
}


def adaptive_logs(logs: int) -> None:
    """Logs of studies, which choose what they have learned to choose."""
    pays = payoff(np.full((1, 2), 0.5))[0]
    print(f"\n### Studies that learn; {logs} of each\n\n{HEAD}")
    remarks = []
    for case, (policy, target, rounds) in STUDIES.items():
        wanted = np.zeros(len(ARMS))
        wanted[np.argsort(-pays)[:3]] = target
        tally, sizes = Tally(float(wanted @ pays)), []
        for seed in range(logs):
            rng = np.random.default_rng(seed)
            bandit = wf.Bandit(ARMS, policy, seed=seed)
            for _ in range(rounds):
                choice = bandit.ask()
                bandit.tell(choice, float(pays[choice.arm] + NOISE * rng.normal()))
            log = as_log(bandit, None, None)
            rows, _, _ = rows_of(log, np.tile(wanted, (len(log), 1)))
            tally.add(rows, seed)
            sizes.append(effective_size(rows.weight))
        print(*tally.lines(case), sep="\n", flush=True)
        remarks.append(f"- {case}: effective size {np.median(sizes):.1f} of {rounds - 3}, median")
    print("", *remarks, sep="\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--logs", type=int, default=200)
    parser.add_argument("--rows", type=int, nargs="*", default=[200, 1000])
    parser.add_argument("--studies", type=int, default=100)
    parser.add_argument("--peers", help="interpreter that has obp")
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # overlap is missing on purpose
    begun, used = time.perf_counter(), time.process_time()
    peers = PeerProcess(given.peers, "benchmarks.evaluation_peer") if given.peers else None
    print(*(f"- {k}: {v}" for k, v in describe().items()), sep="\n")
    if peers is not None:
        print(f"- peers: {peers.versions}")
    for n in given.rows:
        fixed_logs(n, given.logs, peers)
    if given.studies:
        adaptive_logs(given.studies)
    wall, cpu = time.perf_counter() - begun, time.process_time() - used
    print(f"\n{wall:.0f} s, of which CPU {cpu:.0f} s")
    if peers is not None:
        peers.close()


if __name__ == "__main__":
    main()
