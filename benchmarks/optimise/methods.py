"""How each method spends its evaluations: design in, all points and rewards out."""

from collections.abc import Callable
from importlib.metadata import version

import numpy as np
from scipy.optimize import differential_evolution

from benchmarks.optimise.plan import BOTORCH, EVOLUTION, RANDOM, WINDFALL
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


def windfall(policy: str | None) -> Play:
    """Ask and tell; the design is told first."""

    def play(ledger: Ledger, design: np.ndarray, seed: int) -> None:
        import windfall as wf
        from windfall.runtime.compilation import relieve_memory_maps

        wf.compilation_cache()
        relieve_memory_maps()  # every dimension and policy has programs of its own
        box = wf.Box(ledger.function.lower, ledger.function.upper)
        bandit = wf.Bandit(box, policy, seed=seed, initial=len(design))
        for point in design:
            bandit.tell(point, ledger(point))
        while ledger.left:
            choice = bandit.ask()
            bandit.tell(choice, ledger(choice.features))

    return play


class Peer(PeerProcess):
    """BoTorch; it sees the unit box and proposes points."""

    def __init__(self, python: str):
        super().__init__(python, "benchmarks.optimise.botorch_peer")

    def plays(self, acquisition: str) -> Play:
        def play(ledger: Ledger, design: np.ndarray, seed: int) -> None:
            lower, upper = ledger.function.lower, ledger.function.upper
            for point in design:
                ledger(point)
            while ledger.left:
                unit = (np.array(ledger.points) - lower) / (upper - lower)
                question = {
                    "acquisition": acquisition,
                    "x": unit.tolist(),
                    "y": ledger.rewards,
                    "seed": 1000 * seed + len(ledger.rewards),
                }
                ledger(lower + (upper - lower) * np.array(self.ask(question)["x"]))

        return play


def contenders(wanted: list[str], peer: Peer | None) -> dict[str, tuple[Play, dict[str, str]]]:
    """How the wanted methods play, and the versions of what decides."""
    own = {name: version(name) for name in ("windfall", "jax", "numpy", "scipy")}
    scipy = {name: version(name) for name in ("numpy", "scipy")}
    known: dict[str, tuple[Play, dict[str, str]]] = {
        RANDOM: (random, scipy),
        EVOLUTION: (evolution, scipy),
    }
    known |= {name: (windfall(policy), own) for name, policy in WINDFALL.items()}
    if peer is not None:
        known |= {name: (peer.plays(a), peer.versions) for name, a in BOTORCH.items()}
    return {name: known[name] for name in wanted if name in known}
