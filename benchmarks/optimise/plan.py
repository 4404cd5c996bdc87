"""What is played: functions, budgets, initial designs, methods. Needs NumPy and SciPy only."""

import numpy as np
from scipy.stats import qmc

from windfall.problems.functions import Function

SEEDS = 20

#: The policies that windfall plays; None is the library's default.
DEFAULT = "windfall"
WINDFALL = {
    DEFAULT: None,
    "windfall v-ucb": "v-ucb",
    "windfall ei": "ei",
    "windfall lw-ucb": "lw-ucb",
    "windfall ts": "ts",
}
BOTORCH = {"botorch logei": "logei", "botorch ucb": "ucb"}
EVOLUTION, RANDOM = "differential evolution", "random"
METHODS = (*WINDFALL, *BOTORCH, EVOLUTION, RANDOM)


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
