r"""Standard functions on a box whose best value is known, to try optimisers on.

The literature minimises most of them. Here everything is **maximised**: a payoff is minus the
literature's value, and the sign is flipped in this file and nowhere else. A box that the literature
centres on the optimum (Ackley, Griewank) is replaced by one that is not, so that a method which
tries the centre first gains nothing by it.

>>> branin = load("branin")
>>> branin.lower.tolist(), branin.upper.tolist()
([-5.0, 0.0], [10.0, 15.0])
>>> round(branin.optimum, 4), branin.optimiser.round(3).tolist()
(-0.3979, [-3.142, 12.275])
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from windfall.checks import known_name
from windfall.errors import InputError

__all__ = ["Function", "load", "names"]

Formula = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class Function:
    """A payoff on a box, and where it is best.

    Attributes:
        name: What ``load`` calls it.
        lower: (d,) lower corner of the box.
        upper: (d,) upper corner.
        optimisers: (k, d) all points with the highest payoff.
        payoff: The formula: an array of points along the last axis gives one value per point.
        description: One line.
    """

    name: str
    lower: np.ndarray
    upper: np.ndarray
    optimisers: np.ndarray
    payoff: Formula
    description: str

    @property
    def dimension(self) -> int:
        """The number of coordinates."""
        return len(self.lower)

    @property
    def optimiser(self) -> np.ndarray:
        """(d,) a point with the highest payoff, the first if there are several."""
        return self.optimisers[0]

    @property
    def optimum(self) -> float:
        """The highest payoff on the box."""
        return float(self(self.optimiser)) + 0.0  # not minus zero

    def __call__(self, x: Any) -> np.ndarray:
        """The payoff of a point, or of each point along the last axis.

        >>> load("ackley-5")([[0.0] * 5, [1.0] * 5]).round(4).tolist()
        [0.0, -3.6254]
        """
        points = np.asarray(x, dtype=np.float64)
        if points.ndim == 0 or points.shape[-1] != self.dimension:
            raise InputError(
                f"{self.name}: x has shape {points.shape}; expected (..., {self.dimension}), "
                "a point along the last axis"
            )
        return self.payoff(np.atleast_2d(points)).reshape(points.shape[:-1])


def branin(x: np.ndarray) -> np.ndarray:
    r"""Three equal optima in a curved valley (Branin 1972; Dixon and Szegő 1978).

    :math:`-f(x) = (x_2 - \frac{5.1}{4\pi^2}x_1^2 + \frac{5}{\pi}x_1 - 6)^2
    + 10(1 - \frac{1}{8\pi})\cos x_1 + 10`.
    """
    u, v = x[..., 0], x[..., 1]
    valley = v - 5.1 / (4 * np.pi**2) * u**2 + 5 / np.pi * u - 6
    return -(valley**2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(u) + 10)


def six_hump_camel(x: np.ndarray) -> np.ndarray:
    r"""Six local optima, two of them best (Dixon and Szegő 1978).

    :math:`-f(x) = (4 - 2.1x_1^2 + x_1^4/3)x_1^2 + x_1x_2 + (4x_2^2 - 4)x_2^2`.
    """
    u, v = x[..., 0], x[..., 1]
    return -((4 - 2.1 * u**2 + u**4 / 3) * u**2 + u * v + (4 * v**2 - 4) * v**2)


def michalewicz(x: np.ndarray) -> np.ndarray:
    r"""Flat land, ridges across it, and d! spikes where they cross (Michalewicz 1992).

    :math:`f(x) = \sum_i \sin(x_i)\sin^{20}(i x_i^2/\pi)`.
    """
    i = np.arange(1, x.shape[-1] + 1)
    return np.sum(np.sin(x) * np.sin(i * x**2 / np.pi) ** 20, axis=-1)


def ackley(x: np.ndarray) -> np.ndarray:
    r"""Ripples all over a funnel with a sharp tip (Ackley 1987).

    :math:`-f(x) = -20\exp(-0.2\sqrt{\overline{x^2}}) - \exp(\overline{\cos 2\pi x}) + 20 + e`,
    where the bar is a mean over the coordinates.
    """
    radius = np.sqrt(np.mean(x**2, axis=-1))
    ripples = np.mean(np.cos(2 * np.pi * x), axis=-1)
    return 20 * np.expm1(-0.2 * radius) + np.exp(ripples) - np.e


def rosenbrock(x: np.ndarray) -> np.ndarray:
    r"""A long curved valley, flat along its floor (Rosenbrock 1960).

    :math:`-f(x) = \sum_{i<d} 100(x_{i+1} - x_i^2)^2 + (1 - x_i)^2`.
    """
    here, following = x[..., :-1], x[..., 1:]
    return -np.sum(100 * (following - here**2) ** 2 + (1 - here) ** 2, axis=-1)


def griewank(x: np.ndarray) -> np.ndarray:
    r"""A wide bowl with fine ripples (Griewank 1981).

    :math:`-f(x) = 1 + \sum_i x_i^2/4000 - \prod_i \cos(x_i/\sqrt{i})`.
    """
    i = np.arange(1, x.shape[-1] + 1)
    return -(1 + np.sum(x**2, axis=-1) / 4000 - np.prod(np.cos(x / np.sqrt(i)), axis=-1))


def styblinski_tang(x: np.ndarray) -> np.ndarray:
    r"""A good place in each of 2ᵈ corners, one of them best (Styblinski and Tang 1990).

    :math:`-f(x) = \frac12\sum_i x_i^4 - 16x_i^2 + 5x_i`.
    """
    return -0.5 * np.sum(x**4 - 16 * x**2 + 5 * x, axis=-1)


_HARTMANN_HEIGHTS = np.array([1.0, 1.2, 3.0, 3.2])
_HARTMANN: dict[int, tuple[np.ndarray, np.ndarray]] = {
    3: (
        np.array([[3, 10, 30], [0.1, 10, 35], [3, 10, 30], [0.1, 10, 35]]),
        1e-4 * np.array([[3689, 1170, 2673], [4699, 4387, 7470], [1091, 8732, 5547],
                         [381, 5743, 8828]]),
    ),
    6: (
        np.array([[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14],
                  [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]]),
        1e-4 * np.array([[1312, 1696, 5569, 124, 8283, 5886],
                         [2329, 4135, 8307, 3736, 1004, 9991],
                         [2348, 1451, 3522, 2883, 3047, 6650],
                         [4047, 8828, 8732, 5743, 1091, 381]]),
    ),
}  # fmt: skip


def hartmann(x: np.ndarray) -> np.ndarray:
    r"""Four Gaussian hills, in 3 or 6 dimensions (Hartman 1973; Dixon and Szegő 1978).

    :math:`f(x) = \sum_k \alpha_k\exp(-\sum_i A_{ki}(x_i - P_{ki})^2)`.
    """
    A, P = _HARTMANN[x.shape[-1]]
    return np.exp(-np.sum(A * (x[..., None, :] - P) ** 2, axis=-1)) @ _HARTMANN_HEIGHTS


#: Where the needle stands, how wide it is, and the hill under it: its height and width.
NEEDLE = (0.72, 0.31, 0.58)
NEEDLE_WIDTH, HILL, HILL_WIDTH = 0.05, 0.1, 0.35


def needle(x: np.ndarray) -> np.ndarray:
    r"""Nearly flat, with one narrow spike on a faint broad hill (windfall's own).

    :math:`f(x) = e^{-r^2/(2 w^2)} + h e^{-r^2/(2 W^2)}` with r the distance to the needle,
    w = 0.05, h = 0.1, W = 0.35. The spike rises above the hill's height within 2.1 w of the
    needle, 0.5 % of the unit cube: 50 random points meet it in 23 % of runs. The hill, a
    tenth as high, is what a method can learn the place from.
    """
    squares = np.sum((x - np.array(NEEDLE)) ** 2, axis=-1)
    return np.exp(-squares / (2 * NEEDLE_WIDTH**2)) + HILL * np.exp(-squares / (2 * HILL_WIDTH**2))


# Where a formula has no optimiser in closed form: its stationary point to full precision.
_CAMEL = np.array([0.08984201310031806, -0.7126564030207396])
_STYBLINSKI_TANG = -2.903534027771177
_MICHALEWICZ = (  # coordinate by coordinate: the function is a sum over them
    2.2029055201726093, np.pi / 2, 1.2849915705529245, 1.9230584698663629, 1.7204697725658413,
    np.pi / 2, 1.454413971362379, 1.7560865209450263, 1.6557174168210291, np.pi / 2,
)  # fmt: skip
_HARTMANN_3 = (0.11458887665506896, 0.55564889461693, 0.8525469846866774)
_HARTMANN_6 = (
    0.20168951100670543, 0.15001069182345797, 0.476873974221897,
    0.2753324304940561, 0.31165161660011326, 0.6573005340656203,
)  # fmt: skip
_BRANIN = [(-np.pi, 12.275), (np.pi, 2.275), (3 * np.pi, 2.475)]


def _cube(low: float, high: float, dimension: int) -> list[tuple[float, float]]:
    """A box with equal sides."""
    return [(low, high)] * dimension


def _function(
    name: str,
    payoff: Formula,
    box: Any,
    optimisers: Any,
    description: str,
) -> Function:
    lower, upper = np.array(box, dtype=np.float64).T
    best = np.atleast_2d(np.array(optimisers, dtype=np.float64))
    for array in (lower, upper, best):
        array.flags.writeable = False
    return Function(name, lower, upper, best, payoff, description)


_ALL = {
    function.name: function
    for function in (
        _function("branin", branin, [(-5, 10), (0, 15)], _BRANIN, "three equal optima in a valley"),
        _function("six-hump-camel", six_hump_camel, [(-3, 3), (-2, 2)], [_CAMEL, -_CAMEL],
                  "six local optima, two best"),
        _function("michalewicz-2", michalewicz, _cube(0.0, np.pi, 2), _MICHALEWICZ[:2],
                  "flat land and one spike"),
        _function("michalewicz-5", michalewicz, _cube(0.0, np.pi, 5), _MICHALEWICZ[:5],
                  "flat land, 120 spikes"),
        _function("michalewicz-10", michalewicz, _cube(0.0, np.pi, 10), _MICHALEWICZ,
                  "flat land, millions of spikes"),
        _function("hartmann-3", hartmann, _cube(0.0, 1.0, 3), _HARTMANN_3, "four hills"),
        _function("hartmann-6", hartmann, _cube(0.0, 1.0, 6), _HARTMANN_6, "four hills"),
        _function("needle", needle, _cube(0.0, 1.0, 3), NEEDLE, "a narrow spike on a faint hill"),
        _function("griewank-3", griewank, _cube(-300.0, 600.0, 3), [0.0] * 3,
                  "a wide bowl with fine ripples"),
        _function("rosenbrock-4", rosenbrock, _cube(-5.0, 10.0, 4), [1.0] * 4,
                  "a long curved valley, flat along its floor"),
        _function("styblinski-tang-4", styblinski_tang, _cube(-5.0, 5.0, 4), [_STYBLINSKI_TANG] * 4,
                  "sixteen hills, one best"),
        _function("ackley-5", ackley, _cube(-5.0, 10.0, 5), [0.0] * 5,
                  "ripples on a funnel with a sharp tip"),
    )
}  # fmt: skip


def names() -> tuple[str, ...]:
    """What can be loaded.

    >>> names()[:3]
    ('branin', 'six-hump-camel', 'michalewicz-2')
    """
    return tuple(_ALL)


def load(name: str) -> Function:
    """The function of that name.

    >>> round(load("hartmann-6").optimum, 5)
    3.32237
    >>> load("hartman-6")
    Traceback (most recent call last):
    windfall.errors.InputError: function is 'hartman-6' (did you mean 'hartmann-6'?); expected ...
    """
    return _ALL[known_name("function", name, _ALL)]
