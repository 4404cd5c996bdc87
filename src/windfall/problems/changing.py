"""What changes from round to round: contexts, payoffs that drift, arms that come and go.

Functions that draw the rounds of one trial; ``windfall.problems.varying`` makes problems of them.
``Rounds`` has a line for each round, of whatever differs between rounds.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

__all__ = ["Rounds", "abrupt", "hidden", "slow", "successive", "wheel_rounds"]


class Rounds(NamedTuple):
    """The rounds of a trial.

    Attributes:
        payoffs: (T, M) noise-free payoffs.
        contexts: (T, c) what is known before each round; None where nothing is.
        available: (T, M) which arms can be chosen; None where all can.
    """

    payoffs: np.ndarray
    contexts: np.ndarray | None = None
    available: np.ndarray | None = None


#: What the wheel pays: in the inner disk, there by the safe arm, and in the ring by the right one.
POOR, SAFE, JACKPOT = 1.0, 1.2, 50.0


def wheel_payoffs(contexts: np.ndarray, rho: float) -> np.ndarray:
    """The payoffs of five arms: one for each quarter of the ring outside ``rho``, and a safe one.

    >>> wheel_payoffs(np.array([[0.1, 0.1], [0.8, 0.5], [0.8, -0.5], [-0.8, 0.5]]), 0.5).tolist()
    [[1.0, 1.0, 1.0, 1.0, 1.2], [50.0, 1.0, 1.0, 1.0, 1.2], [1.0, 50.0, 1.0, 1.0, 1.2],
     [1.0, 1.0, 50.0, 1.0, 1.2]]
    """
    payoffs = np.full((len(contexts), 5), POOR)
    payoffs[:, 4] = SAFE
    outer = np.flatnonzero(np.sum(contexts**2, axis=1) > rho**2)
    left, lower = (contexts[outer] <= 0).T
    payoffs[outer, 2 * left + lower] = JACKPOT
    return payoffs


def wheel_rounds(rng: np.random.Generator, rounds: int, rho: float) -> Rounds:
    """Contexts uniform in the unit disk, as Riquelme, Tucker and Snoek (ICLR 2018) draw them."""
    radius, angle = np.sqrt(rng.random(rounds)), 2 * np.pi * rng.random(rounds)
    contexts = radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return Rounds(wheel_payoffs(contexts, rho), contexts)


def abrupt(rng: np.random.Generator, rounds: int, arms: np.ndarray, payoff: Callable) -> Rounds:
    """A landscape on the unit box that is another one from some round on.

    Both are the landscape turned and mirrored at random: every corner may be where the best one
    was. The change comes between a third and two thirds of the rounds.
    """
    change = rng.integers(rounds // 3, 2 * rounds // 3 + 1)
    before, after = (payoff(_turned(rng, arms)) for _ in range(2))
    return Rounds(np.where(np.arange(rounds)[:, None] < change, before, after))


def _turned(rng: np.random.Generator, x: np.ndarray) -> np.ndarray:
    """Points with their axes in another order, some of them reversed."""
    order, back = rng.permutation(x.shape[1]), rng.random(x.shape[1]) < 0.5
    return np.where(back, 1.0 - x[:, order], x[:, order])


def slow(
    rng: np.random.Generator, rounds: int, arms: np.ndarray, payoff: Callable, path: float = 0.5
) -> Rounds:
    """A landscape on the unit box that moves in one direction, at an even pace.

    It moves by ``path`` in all, and is folded back where it leaves the box.
    """
    direction = rng.normal(size=arms.shape[1])
    direction *= path / np.linalg.norm(direction)
    turned = _turned(rng, arms)
    moved = (turned + t * direction for t in np.linspace(0.0, 1.0, rounds))
    return Rounds(np.stack([payoff(1.0 - np.abs(1.0 - x % 2.0)) for x in moved]))


def hidden(rng: np.random.Generator, rounds: int, payoffs: np.ndarray) -> Rounds:
    """The best arm cannot be chosen in half of the rounds, which are drawn at random."""
    available = np.ones((rounds, len(payoffs)), bool)
    available[rng.permutation(rounds)[: rounds // 2], np.argmax(payoffs)] = False
    return Rounds(np.tile(payoffs, (rounds, 1)), available=available)


def successive(readings: np.ndarray, first: int, rounds: int, step: int) -> np.ndarray:
    """The numbers of snapshots that follow each other, ``step`` apart, from the start again.

    >>> successive(np.zeros((10, 3)), first=7, rounds=4, step=2).tolist()
    [7, 9, 1, 3]
    """
    return (first + step * np.arange(rounds)) % len(readings)
