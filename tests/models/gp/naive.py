"""The model's formulas written out plainly, on every single reward, to compare with."""

import math

import jax
import numpy as np
from jax.extend.core import jaxprs_in_params

from windfall.models.gp.observations import Observations


def pulls(repeats: bool, size: int = 12, dimension: int = 2, seed: int = 0):
    """Inputs on a coarse grid and noisy rewards; with repeats, many inputs come up again."""
    rng = np.random.default_rng(seed)
    grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 5)] * dimension), -1).reshape(-1, dimension)
    distinct = rng.permutation(len(grid))[:size]
    rows = rng.choice(distinct[: size // 2], size) if repeats else distinct
    x = grid[rows]
    y = 3.0 + 2.0 * np.sin(5.0 * x[:, 0]) + x.sum(axis=1) + 0.3 * rng.standard_normal(size)
    return x, y


def observed(x, y, capacity: int = 16) -> Observations:
    """Sufficient statistics by grouping, in the order in which inputs first came up."""
    groups: dict[tuple, list[float]] = {}
    for point, reward in zip(x, y, strict=True):
        groups.setdefault(tuple(point), []).append(reward)
    used = len(groups)
    features, (count, mean, squares) = np.zeros((capacity, x.shape[1])), np.zeros((3, capacity))
    features[:used] = list(groups)
    count[:used] = [len(g) for g in groups.values()]
    mean[:used] = [np.mean(g) for g in groups.values()]
    squares[:used] = [np.sum((g - np.mean(g)) ** 2) for g in groups.values()]
    return Observations(features, count, mean, squares, np.zeros(capacity), np.int32(used))


def standardised(y):
    return (y - np.mean(y)) / np.std(y)


def scale(x, y) -> tuple[float, float]:
    """Mean and deviation of the mean rewards of the distinct inputs."""
    means = [y[(x == point).all(axis=1)].mean() for point in np.unique(x, axis=0)]
    return float(np.mean(means)), float(np.std(means))


def gram(kernel, x1, x2):
    return np.array([[float(kernel(a, b)) for b in x2] for a in x1])


def posterior(k, noise: float, x, y, at):
    """Mean and covariance at some points from all rewards one by one; ``k`` gives matrices."""
    precision = np.linalg.inv(k(x, x) + noise * np.eye(len(x)))
    cross = k(at, x)
    return cross @ precision @ y, k(at, at) - cross @ precision @ cross.T


def central_differences(function, at, step: float = 1e-5):
    at = np.asarray(at, float)
    unit = np.eye(at.size) * step
    return np.array([(function(at + e) - function(at - e)) / (2.0 * step) for e in unit])


def largest_array(function, *arguments) -> int:
    """The most numbers held by any one array that a program makes."""

    def sizes(jaxpr):
        for equation in jaxpr.eqns:
            yield from (math.prod(v.aval.shape) for v in equation.outvars)
            for inner in jaxprs_in_params(equation.params):
                yield from sizes(inner)

    return max(sizes(jax.make_jaxpr(function)(*arguments).jaxpr))
