r"""The three synthetic landscapes: a 50 × 50 grid of arms on the unit square.

The functions are maximised, and take an array whose last axis holds :math:`(x_1, x_2)`. As
problems their values are standardised over all arms to mean 0 and deviation 1.
"""

from collections.abc import Callable

import numpy as np

from windfall.problems.problem import Problem, Protocol

__all__ = ["cosine", "michalewicz", "modified_michalewicz", "standardise", "synthetic"]

GRID = 50


def cosine(x: np.ndarray) -> np.ndarray:
    r"""A bowl with ripples, :math:`1 - [u^2 + v^2 - 0.3\cos 3\pi u - 0.3\cos 3\pi v]`.

    Here :math:`u = 1.6 x_1 - 0.5` and :math:`v = 1.6 x_2 - 0.5`. The maximum, 1.6, is where both
    vanish:

    >>> round(float(cosine(np.array([0.3125, 0.3125]))), 6)
    1.6
    """
    u = 1.6 * np.asarray(x) - 0.5
    return np.asarray(1.0 - (u**2 - 0.3 * np.cos(3 * np.pi * u)).sum(axis=-1))


def michalewicz(x: np.ndarray) -> np.ndarray:
    r"""Flat land and one spike.

    :math:`f(x) = \sin(\pi x_1)\sin^{20}(\pi x_1^2) + \sin(\pi x_2)\sin^{20}(2\pi x_2^2)`.

    >>> round(float(michalewicz(np.array([0.70120677, 0.5]))), 4)
    1.8013
    """
    return _ridges(x, (1, 2))


def modified_michalewicz(x: np.ndarray) -> np.ndarray:
    r"""Six spikes of different height.

    :math:`f(x) = \sin(\pi x_1)\sin^{20}(2\pi x_1^2) + \sin(\pi x_2)\sin^{20}(3\pi x_2^2)`.

    >>> round(float(modified_michalewicz(np.array([0.5, 0.409026]))), 4)
    1.9591
    """
    return _ridges(x, (2, 3))


def _ridges(x: np.ndarray, frequencies: tuple[int, int]) -> np.ndarray:
    x = np.asarray(x)
    terms = np.sin(np.pi * x) * np.sin(np.pi * np.array(frequencies) * x**2) ** 20
    return np.asarray(terms.sum(axis=-1))


def standardise(values: np.ndarray) -> np.ndarray:
    """Shift and scale all values together to mean 0 and deviation 1; equal values become 0.

    >>> standardise(np.array([1.0, 3.0])).tolist()
    [-1.0, 1.0]
    """
    if np.ptp(values) == 0:  # the computed deviation of equal values need not be exactly 0
        return np.zeros_like(values, dtype=np.float64)
    return (values - values.mean()) / values.std()


FUNCTIONS: dict[str, tuple[Callable[[np.ndarray], np.ndarray], int, str]] = {
    "cosine": (cosine, 2, "smooth bowl with ripples, one best region"),
    "michalewicz": (michalewicz, 4, "flat land, two ridges and one spike where they cross"),
    "modified-michalewicz": (modified_michalewicz, 4, "flat land and six spikes"),
}


def synthetic(name: str) -> Problem:
    """The problem of that name, one of ``cosine``, ``michalewicz``, ``modified-michalewicz``.

    >>> problem = synthetic("michalewicz")
    >>> problem.size, round(problem.optimum(0), 3)
    (2500, 4.85)
    """
    function, components, description = FUNCTIONS[name]
    axis = np.linspace(0.0, 1.0, GRID)
    arms = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    return Problem(
        arms=arms,
        payoff=standardise(function(arms)),
        noise=1e-4,
        name=name,
        box=np.array([[0.0, 0.0], [1.0, 1.0]]),
        protocol=Protocol(rounds=150, trials=100, kappa=2.0, components=components),
        description=description,
    )
