"""What is played: functions, budgets, initial designs, methods. Needs NumPy and SciPy only."""

import numpy as np
from scipy.stats import qmc

from windfall.problems.functions import Function

SEEDS = 20

#: What windfall plays, as ``wf.Bandit`` takes it; nothing is the library's default.
DEFAULT, FINDING = "windfall", "windfall goal best"
WINDFALL: dict[str, dict[str, str]] = {
    DEFAULT: {},
    FINDING: {"goal": "best"},
    "windfall v-ucb": {"policy": "v-ucb"},
    "windfall ei": {"policy": "ei"},
    "windfall lw-ucb": {"policy": "lw-ucb"},
    "windfall ts": {"policy": "ts"},
}
#: The module that answers for each peer, and what it is told besides the points.
LOGEI, OPTUNA = "botorch logei", "optuna gp"
PEERS: dict[str, tuple[str, dict[str, str]]] = {
    LOGEI: ("benchmarks.optimise.botorch_peer", {"acquisition": "logei"}),
    "botorch ucb": ("benchmarks.optimise.botorch_peer", {"acquisition": "ucb"}),
    OPTUNA: ("benchmarks.optimise.optuna_peer", {}),
}
EVOLUTION, RANDOM = "differential evolution", "random"
METHODS = (*WINDFALL, *PEERS, EVOLUTION, RANDOM)


def budget(dimension: int) -> int:
    """Evaluations of a run, the initial design included."""
    return min(10 + 10 * dimension, 50)


def initial(dimension: int) -> int:
    """Points of the initial design."""
    return 2 * (dimension + 1)


def design(function: Function, seed: int) -> np.ndarray:
    """The initial design that every method starts a seed's run from: a Latin hypercube."""
    unit = qmc.LatinHypercube(function.dimension, rng=seed).random(initial(function.dimension))
    return function.lower + (function.upper - function.lower) * unit
