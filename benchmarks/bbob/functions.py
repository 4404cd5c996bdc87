"""BBOB's functions as windfall knows functions; a process of the peers' environment evaluates them.

Hansen, Finck, Ros, Auger: *Real-parameter black-box optimization benchmarking 2009: noiseless
functions definitions*. The groups are theirs.
"""

from collections.abc import Iterator

import numpy as np

from benchmarks.peer_process import PeerProcess
from windfall.problems.functions import Function

GROUPS = {
    "separable": range(1, 6),
    "moderate conditioning": range(6, 10),
    "ill-conditioned": range(10, 15),
    "multimodal with structure": range(15, 20),
    "multimodal, weak structure": range(20, 25),
}
DIMENSIONS = (2, 5)


def name_of(number: int, dimension: int) -> str:
    """
    >>> name_of(3, 5)
    'bbob-03-5d'
    """
    return f"bbob-{number:02}-{dimension}d"


def names() -> Iterator[tuple[str, str, int, int]]:
    """Group, name, number and dimension of every function."""
    for dimension in DIMENSIONS:
        for group, numbers in GROUPS.items():
            for number in numbers:
                yield group, name_of(number, dimension), number, dimension


def load(peer: PeerProcess, number: int, dimension: int) -> Function:
    """One of them."""
    which = {"function": number, "dimension": dimension}
    known = peer.ask(which)

    def payoff(points: np.ndarray) -> np.ndarray:
        rows = np.atleast_2d(points)
        values = np.array(peer.ask(which | {"x": rows.tolist()})["y"])
        return values.reshape(np.shape(points)[:-1])

    return Function(
        name_of(number, dimension),
        np.array(known["lower"]),
        np.array(known["upper"]),
        np.array([known["optimiser"]]),
        payoff,
        f"function {number} of BBOB",
    )
