"""Sets of arms, regular and not: points drawn once per problem, and what features they show.

A landscape sees *points*; a policy sees *features*. The two are the same unless a problem says
otherwise: scaled differently, wound up into a curve, or spelled as categories.
"""

import numpy as np

__all__ = [
    "categories",
    "clusters",
    "grid",
    "helix",
    "holes",
    "levels",
    "one_hot",
    "scattered",
    "stretched",
    "uneven",
]


def grid(rng: np.random.Generator, side: int, dimension: int) -> np.ndarray:
    """``side`` evenly spaced values along every axis of the unit box.

    >>> grid(np.random.default_rng(0), side=2, dimension=2).tolist()
    [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    """
    return levels(rng, (side,) * dimension) / (side - 1)


def levels(rng: np.random.Generator, counts: tuple[int, ...]) -> np.ndarray:
    """Every combination of whole numbers, 0 to ``counts[j] - 1`` in column j.

    >>> levels(np.random.default_rng(0), (1, 3)).tolist()
    [[0.0, 0.0], [0.0, 1.0], [0.0, 2.0]]
    """
    return np.indices(counts).reshape(len(counts), -1).T.astype(np.float64)


def scattered(rng: np.random.Generator, size: int, dimension: int) -> np.ndarray:
    """Uniform random points of the unit box."""
    return rng.uniform(size=(size, dimension))


def uneven(rng: np.random.Generator, size: int, dimension: int, power: float) -> np.ndarray:
    """Random points that crowd towards 0, the more the higher the power."""
    return scattered(rng, size, dimension) ** power


def holes(
    rng: np.random.Generator, size: int, dimension: int, count: int, radius: float
) -> np.ndarray:
    """Uniform random points outside ``count`` random balls."""
    centres = scattered(rng, count, dimension)
    kept = np.empty((0, dimension))
    while len(kept) < size:
        points = scattered(rng, size, dimension)
        gaps = np.linalg.norm(points[:, None] - centres, axis=-1)
        kept = np.concatenate([kept, points[(gaps > radius).all(axis=1)]])
    return kept[:size]


def clusters(
    rng: np.random.Generator, count: int, each: int, dimension: int, spread: float
) -> np.ndarray:
    """``count`` round clusters of ``each`` normal points; they may leave the unit box a little."""
    centres = scattered(rng, count, dimension)
    return np.repeat(centres, each, axis=0) + spread * rng.normal(size=(count * each, dimension))


def categories(rng: np.random.Generator, count: int, each: int, dimension: int) -> np.ndarray:
    """A category 0 to ``count - 1`` in column 0, then ``dimension`` uniform random numbers."""
    labels = np.repeat(np.arange(count, dtype=np.float64), each)
    return np.column_stack([labels, scattered(rng, count * each, dimension)])


def one_hot(points: np.ndarray) -> np.ndarray:
    """The category of column 0 as one column of 0 and 1 per category, then the other columns.

    >>> one_hot(np.array([[0.0, 0.3], [2.0, 0.4], [1.0, 0.5]])).tolist()
    [[1.0, 0.0, 0.0, 0.3], [0.0, 0.0, 1.0, 0.4], [0.0, 1.0, 0.0, 0.5]]
    """
    labels = points[:, 0].astype(int)
    return np.column_stack([np.eye(labels.max() + 1)[labels], points[:, 1:]])


def stretched(points: np.ndarray, decades: float) -> np.ndarray:
    """Feature j in units of its own: scales spaced evenly over so many decades, around 1.

    >>> stretched(np.ones((1, 3)), decades=4.0).tolist()
    [[0.01, 1.0, 100.0]]
    """
    return points * np.logspace(-decades / 2, decades / 2, points.shape[1])


def helix(points: np.ndarray, turns: float) -> np.ndarray:
    """Positions 0 to 1 along a helix, as points of space; it rises by 2 while its radius is 1.

    >>> helix(np.array([[0.0], [0.5]]), turns=2.0).round(9).tolist()
    [[1.0, 0.0, 0.0], [1.0, -0.0, 1.0]]
    """
    angle = 2 * np.pi * turns * points[:, 0]
    return np.column_stack([np.cos(angle), np.sin(angle), 2 * points[:, 0]])
