"""What ``waiting`` asks windfall and its peers to do; needs NumPy alone."""

import itertools
from dataclasses import dataclass

import numpy as np

ASKS = 60
#: Options of each choice: 1,728 arms with 22 columns of which one in each group is 1.
GROUPS = (2, 6, 4, 4, 3, 3)
KINDS = ("a", "b", "c")


@dataclass(frozen=True)
class Case:
    """A study: arms to choose from, or a payoff over six or four parameters."""

    name: str
    arms: np.ndarray | None
    initial: int

    def payoff(self, x: np.ndarray) -> float:
        """Of an arm's features, or of parameters in order (a kind by its number)."""
        target = np.linspace(0.2, 0.7, len(x))
        return float(-np.sum(np.arange(1, len(x) + 1) * (np.asarray(x, float) - target) ** 2))


def _one_hot() -> np.ndarray:
    choices = itertools.product(*(np.eye(width) for width in GROUPS))
    return np.array([np.concatenate(choice) for choice in choices])


def _grid() -> np.ndarray:
    side = np.linspace(0.0, 1.0, 50)
    return np.array(list(itertools.product(side, side)))


CASES = {
    "list": Case("2,500 arms", _grid(), 3),
    "box": Case("box of six parameters", None, 14),
    "mixed": Case("mixed space with a constraint", None, 10),
    "one-hot": Case("1,728 arms of 22 one-hot features", _one_hot(), 3),
}
