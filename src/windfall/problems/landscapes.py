r"""Landscapes drawn at random: each call gives the payoffs of one trial.

Every function takes the trial's random generator and the points (M, d), almost always in the unit
box, and returns M payoffs in units of its own. Where a landscape has peaks, the highest is centred
on an arm, so that holes and clusters never hide the optimum.

A bump of width :math:`w` around :math:`c` is :math:`b(x; c, w) = \exp(-|x - c|^2 / 2w^2)`.
"""

import numpy as np

__all__ = [
    "decoy",
    "factors",
    "hill",
    "menu",
    "needle",
    "pareto",
    "plateaus",
    "ridge",
    "ripples",
    "spikes",
    "student",
    "terraces",
    "valley",
    "waves",
]

Generator = np.random.Generator


def hill(rng: Generator, x: np.ndarray) -> np.ndarray:
    """Smooth and unimodal: one broad bump with a width of its own along every axis."""
    dimension = x.shape[1]
    centre = rng.uniform(0.2, 0.8, dimension)
    widths = np.exp(rng.uniform(np.log(0.3), np.log(1.0), dimension))
    return _bump(x / widths, centre / widths, 1.0)


def needle(rng: Generator, x: np.ndarray, width: float) -> np.ndarray:
    """One narrow bump in flat land."""
    return _bump(x, _any(rng, x), width)


def spikes(rng: Generator, x: np.ndarray, count: int, width: float) -> np.ndarray:
    """Narrow bumps in flat land, heights from 1 down to 0.4, widths within 40 % of ``width``."""
    centres = x[rng.choice(len(x), count, replace=False)]
    widths = width * rng.uniform(0.6, 1.4, count)
    bumps = zip(np.linspace(1.0, 0.4, count), centres, widths, strict=True)
    return np.max([height * _bump(x, centre, w) for height, centre, w in bumps], axis=0)


def decoy(rng: Generator, x: np.ndarray, width: float) -> np.ndarray:
    """A broad hill of height 0.6, and far from it a spike of height 1."""
    summit = rng.uniform(0.15, 0.85, x.shape[1])
    distance = np.linalg.norm(x - summit, axis=1)
    far = x[distance >= 0.6 * distance.max()]
    return np.maximum(0.6 * _bump(x, summit, 0.25), _bump(x, _any(rng, far), width))


def plateaus(rng: Generator, x: np.ndarray, cells: int) -> np.ndarray:
    """Cells around random arms, each flat; most pay next to nothing, a few a lot."""
    centres = x[rng.choice(len(x), cells, replace=False)]
    nearest = ((x[:, None] - centres) ** 2).sum(axis=-1).argmin(axis=1)
    return np.linspace(0.0, 1.0, cells)[nearest] ** 4


def terraces(rng: Generator, x: np.ndarray, steps: int, frequency: float) -> np.ndarray:
    """A smooth landscape cut into level steps."""
    smooth = waves(rng, x, frequency)
    height = (smooth - smooth.min()) / np.ptp(smooth)
    return np.minimum(np.floor(steps * height), steps - 1)


def waves(rng: Generator, x: np.ndarray, frequency: float, octaves: int = 1) -> np.ndarray:
    """Random waves of about ``frequency`` per unit; each octave doubles it at 0.6 of the height.

    With one octave the payoffs are nearly a draw from a Gaussian process with a squared-exponential
    kernel of lengthscale 1 / (2π frequency).
    """
    total = np.zeros(len(x))
    for octave in range(octaves):
        wavevectors = 2**octave * frequency * rng.normal(size=(x.shape[1], 64))
        phases = rng.uniform(0.0, 2 * np.pi, 64)
        total += 0.6**octave * np.cos(2 * np.pi * x @ wavevectors + phases).sum(axis=1)
    return total


def ripples(rng: Generator, x: np.ndarray, frequency: float) -> np.ndarray:
    r"""A rippled bowl, :math:`-\sum_j 4 z_j^2 + 0.3 (1 - \cos 2\pi\nu z_j)`, :math:`z = x - c`."""
    z = x - rng.uniform(0.2, 0.8, x.shape[1])
    return -(4 * z**2 + 0.3 * (1 - np.cos(2 * np.pi * frequency * z))).sum(axis=1)


def ridge(rng: Generator, x: np.ndarray, width: float) -> np.ndarray:
    """A narrow crest that winds along the first axis; it is highest at one place."""
    along = x[:, :1]
    phases = rng.uniform(0.0, 2 * np.pi, x.shape[1] - 1)
    crest = 0.5 + 0.25 * np.sin(np.pi * along + phases)
    profile = 0.4 + 0.6 * _bump(along, rng.uniform(0.1, 0.9, 1), 0.15)
    return profile * _bump(x[:, 1:], crest, width)


def valley(rng: Generator, x: np.ndarray) -> np.ndarray:
    r"""A curved valley (Rosenbrock's, upside down), mirrored at random.

    :math:`-(a - u)^2 - 20 (v - u^2)^2` with :math:`u` from -1.5 to 1.5 and :math:`v` from -0.75 to
    2.25. The floor is nearly level, and the few arms high on the slopes pay extremely little.
    """
    mirrored = np.where(rng.random(2) < 0.5, x, 1 - x)
    u, v = 3 * mirrored[:, 0] - 1.5, 3 * mirrored[:, 1] - 0.75
    return -((rng.uniform(0.3, 1.3) - u) ** 2) - 20 * (v - u**2) ** 2


def menu(rng: Generator, x: np.ndarray) -> np.ndarray:
    """A bump for every category (column 0) over the other columns, each with its own height."""
    category = x[:, 0].astype(int)
    count = category.max() + 1
    centres = rng.uniform(size=(count, x.shape[1] - 1))
    heights = rng.permutation(np.linspace(0.3, 1.0, count))
    return heights[category] * _bump(x[:, 1:], centres[category], 0.25)


def factors(rng: Generator, x: np.ndarray) -> np.ndarray:
    """Whole numbers as levels of factors, in no order: effects of levels and of pairs multiply."""
    level = x.astype(int)
    dimension, count = level.shape[1], level.max() + 1
    single = rng.normal(size=(dimension, count))
    pair = 0.5 * rng.normal(size=(dimension, dimension, count, count))
    total = single[np.arange(dimension), level].sum(axis=1)
    for i, j in zip(*np.triu_indices(dimension, 1), strict=True):
        total += pair[i, j, level[:, i], level[:, j]]
    return np.exp(0.5 * total)


def pareto(rng: Generator, x: np.ndarray, tail: float) -> np.ndarray:
    """No structure at all: independent, P(payoff > p) = (1 + p)^-tail."""
    return rng.pareto(tail, len(x))


def student(rng: Generator, x: np.ndarray, freedom: float) -> np.ndarray:
    """No structure at all: independent Student t, heavy on both sides."""
    return rng.standard_t(freedom, len(x))


def _bump(x: np.ndarray, centre: np.ndarray, width: float) -> np.ndarray:
    return np.exp(-0.5 * ((x - centre) ** 2).sum(axis=1) / width**2)


def _any(rng: Generator, x: np.ndarray) -> np.ndarray:
    return x[rng.integers(len(x))]
