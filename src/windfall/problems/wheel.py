"""The wheel: a safe inner disk, three poor quarters of the outer ring, and a jackpot in the fourth.

| region | payoff |
|---|---|
| inner disk, r ≤ ρ | 0.2 |
| outer ring, upper left | 0.05 |
| outer ring, lower right | 0.1 |
| outer ring, lower left | 0 |
| outer ring, upper right | 1 |

The larger ρ, the fewer arms pay the jackpot. Initial arms come from the inner disk only.
"""

import numpy as np

from windfall.errors import InputError
from windfall.problems.problem import Problem, Protocol

__all__ = ["wheel", "wheel_payoff"]


def wheel_payoff(x: np.ndarray, rho: float) -> np.ndarray:
    """The payoff at points of the disk; a point on an axis counts as right, or as upper.

    >>> wheel_payoff(np.array([[0.0, 0.1], [0.8, 0.5], [-0.8, 0.5], [0.8, -0.5]]), 0.5).tolist()
    [0.2, 1.0, 0.05, 0.1]
    """
    right, upper = x[..., 0] >= 0, x[..., 1] >= 0
    outer = np.where(upper, np.where(right, 1.0, 0.05), np.where(right, 0.1, 0.0))
    return np.where((x**2).sum(axis=-1) <= rho**2, 0.2, outer)


def wheel(rho: float, grid: int = 70) -> Problem:
    """The wheel problem on the points of a ``grid`` × ``grid`` lattice inside the unit disk.

    >>> problem = wheel(0.5)
    >>> problem.size, problem.optimum(0)
    (3720, 1.0)
    """
    if not 0 < rho < 1:
        raise InputError(f"rho is {rho!r}; expected the radius of the inner disk, between 0 and 1")
    if grid < 2:
        raise InputError(f"grid is {grid!r}; expected the points along one axis, 2 or more")
    axis = np.linspace(-1.0, 1.0, grid)
    square = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    arms = square[(square**2).sum(axis=-1) <= 1.0]
    payoff = wheel_payoff(arms, rho)
    if not (payoff == 1.0).any():
        raise InputError(
            f"grid is {grid!r}, in which no arm pays 1 with rho {rho!r}; expected a finer one"
        )
    return Problem(
        arms=arms,
        payoff=payoff,
        noise=1e-3,
        name=f"wheel-{rho:g}",
        initial_pool=np.flatnonzero((arms**2).sum(axis=-1) <= rho**2),
        box=np.array([[-1.0, -1.0], [1.0, 1.0]]),
        protocol=Protocol(rounds=100, trials=100, kappa=2.0, components=4),
        description=f"plateaus; one quarter of the ring outside radius {rho:g} pays the jackpot",
    )
