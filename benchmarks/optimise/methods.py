"""How each method spends its evaluations: design in, all points and rewards out."""

from collections.abc import Callable, Sequence
from importlib.metadata import version

import numpy as np
from scipy.optimize import differential_evolution

from benchmarks.optimise.plan import EVOLUTION, PEERS, RANDOM, WINDFALL
from benchmarks.peer_process import PeerProcess
from windfall.problems.functions import Function


class Ledger:
    """Evaluates a function, keeps the books, and stops a method that has spent its budget."""

    class SpentError(Exception):
        """There is no evaluation left."""

    def __init__(self, function: Function, budget: int):
        self.function, self.budget = function, budget
        self.points: list[list[float]] = []
        self.rewards: list[float] = []

    @property
    def left(self) -> int:
        return self.budget - len(self.rewards)

    def __call__(self, point: np.ndarray) -> float:
        if not self.left:
            raise self.SpentError
        reward = float(self.function(point))
        self.points.append(np.asarray(point, float).tolist())
        self.rewards.append(reward)
        return reward


#: ``play(ledger, design, seed)`` evaluates the design, then goes on until the budget is spent.
Play = Callable[[Ledger, np.ndarray, int], None]


def random(ledger: Ledger, design: np.ndarray, seed: int) -> None:
    """Uniformly distributed points."""
    rng = np.random.default_rng(seed)
    for point in design:
        ledger(point)
    while ledger.left:
        ledger(rng.uniform(ledger.function.lower, ledger.function.upper))


def evolution(ledger: Ledger, design: np.ndarray, seed: int) -> None:
    """SciPy's differential evolution in its default settings; the design is its population."""
    box = np.stack([ledger.function.lower, ledger.function.upper], axis=1)
    try:
        differential_evolution(
            lambda x: -ledger(x), box, init=design, rng=seed, polish=False, tol=0, maxiter=10**6
        )
    except Ledger.SpentError:
        return


def windfall(**terms: str) -> Play:
    """Ask and tell; the design is told first."""

    def play(ledger: Ledger, design: np.ndarray, seed: int) -> None:
        import windfall as wf
        from windfall.runtime.compilation import relieve_memory_maps

        relieve_memory_maps()  # every dimension and policy has programs of its own
        box = wf.Box(ledger.function.lower, ledger.function.upper)
        bandit = wf.Bandit(box, seed=seed, initial=len(design), **terms)
        for point in design:
            bandit.tell(point, ledger(point))
        while ledger.left:
            choice = bandit.ask()
            bandit.tell(choice, ledger(choice.features))

    return play


def proposed(peer: PeerProcess, told: dict[str, str]) -> Play:
    """A peer sees the unit box and proposes points."""

    def play(ledger: Ledger, design: np.ndarray, seed: int) -> None:
        lower, upper = ledger.function.lower, ledger.function.upper
        for point in design:
            ledger(point)
        while ledger.left:
            unit = (np.array(ledger.points) - lower) / (upper - lower)
            question = told | {
                "x": unit.tolist(),
                "y": ledger.rewards,
                "seed": 1000 * seed + len(ledger.rewards),
            }
            ledger(lower + (upper - lower) * np.array(peer.ask(question)["x"]))

    return play


class Contenders:
    """How the wanted methods play, and the versions of what decides.

    Args:
        wanted: Names from ``plan.METHODS``.
        python: The interpreter of the peers' environment; without one they do not play.
    """

    def __init__(self, wanted: Sequence[str], python: str):
        own = {name: version(name) for name in ("windfall", "jax", "numpy", "scipy")}
        scipy = {name: version(name) for name in ("numpy", "scipy")}
        self._peers: dict[str, PeerProcess] = {}
        self.plays: dict[str, tuple[Play, dict[str, str]]] = {}
        for name in wanted:
            if name in PEERS and python:
                module, told = PEERS[name]
                peer = self._peers.get(module) or PeerProcess(python, module)
                self._peers[module] = peer
                self.plays[name] = proposed(peer, told), peer.versions
            elif name in WINDFALL:
                self.plays[name] = windfall(**WINDFALL[name]), own
            elif name not in PEERS:
                self.plays[name] = {RANDOM: random, EVOLUTION: evolution}[name], scipy

    def close(self) -> None:
        """End the peers."""
        for peer in self._peers.values():
            peer.close()
