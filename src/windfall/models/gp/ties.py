"""One length scale for all columns of a choice.

A choice is one thing, however many options it has: each of its one-hot columns gets the same length
scale, and a search has that many parameters fewer. Hyper-parameters keep one entry per feature;
only the search sees them ``gathered``, and spreads what it found.
"""

import jax
import numpy as np

from windfall.models.gp.evidence import Hyper

__all__ = ["Ties", "comparable", "gathered", "spread"]

#: Two options are √2 apart, two values of a feature √(1/6) on average: a length scale of a choice
#: means as much as one of a feature that is smaller by this.
_OPTIONS = np.sqrt(12.0)

#: For each feature the number of its group; None: every feature for itself.
Ties = tuple[int, ...] | None


def gathered(hyper: Hyper, ties: Ties) -> Hyper:
    """Hyper-parameters with one length scale per group, that of its first feature.

    Example:
        >>> from windfall.models.gp.kernels import Matern52
        >>> hyper = Hyper(Matern52([0.2, 0.3, 0.3]), np.float64(0.1))
        >>> gathered(hyper, (0, 1, 1)).kernel.lengthscale.tolist()
        [0.2, 0.3]
    """
    if ties is None:
        return hyper
    first = np.array([ties.index(group) for group in range(max(ties) + 1)])
    return _lengthscales(hyper, lambda scales: scales[first], len(ties))


def spread(hyper: Hyper, ties: Ties) -> Hyper:
    """Gathered hyper-parameters with one length scale per feature again."""
    if ties is None:
        return hyper
    group = np.array(ties)
    return _lengthscales(hyper, lambda scales: scales[group], max(ties) + 1)


def comparable(hyper: Hyper, ties: Ties) -> Hyper:
    """Gathered hyper-parameters for a prior, which knows of features only.

    Example:
        >>> from windfall.models.gp.kernels import Matern52
        >>> hyper = Hyper(Matern52([0.2, 0.6]), np.float64(0.1))
        >>> comparable(hyper, (0, 1, 1)).kernel.lengthscale.round(3).tolist()
        [0.2, 0.173]
    """
    if ties is None:
        return hyper
    sizes = np.bincount(ties)
    return _lengthscales(
        hyper, lambda scales: scales / np.where(sizes > 1, _OPTIONS, 1), len(sizes)
    )


def _lengthscales(hyper: Hyper, change, size: int) -> Hyper:
    """Hyper-parameters whose length scales, where there are so many of them, have been changed."""

    def one(path, leaf):
        tied = getattr(path[-1], "name", "") == "lengthscale" and np.shape(leaf) == (size,)
        return change(leaf) if tied else leaf

    return jax.tree_util.tree_map_with_path(one, hyper)
