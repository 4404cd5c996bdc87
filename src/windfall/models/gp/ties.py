"""One length scale for all columns of a choice.

A choice is one thing, however many options it has: each of its one-hot columns gets the same length
scale, and a search has that many parameters fewer. Hyper-parameters keep one entry per feature;
only the search sees them ``gathered``, and spreads what it found.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from windfall.models.gp.evidence import Hyper
from windfall.models.gp.kernels import Part

__all__ = ["Ties", "choices_of", "comparable", "gathered", "one_hot", "spread"]

#: Two options are √2 apart, two values of a feature √(1/6) on average: a length scale of a choice
#: means as much as one of a feature that is smaller by this.
_OPTIONS = np.sqrt(12.0)

#: For each feature the number of its group; None: every feature for itself.
Ties = tuple[int, ...] | None


def choices_of(ties: Ties) -> tuple[tuple[int, ...], ...]:
    """The columns of each choice: groups of more than one.

    Example:
        >>> choices_of((0, 1, 1, 2, 3, 3))
        ((1, 2), (4, 5))
    """
    groups = np.asarray(ties or (), int)
    found = [np.flatnonzero(groups == group).tolist() for group in dict.fromkeys(groups.tolist())]
    return tuple(tuple(columns) for columns in found if len(columns) > 1)


def one_hot(ties: Ties) -> tuple[int, ...]:
    """The columns of all choices, in order.

    Example:
        >>> one_hot((0, 1, 1, 2, 3, 3))
        (1, 2, 4, 5)
    """
    return tuple(sorted(column for columns in choices_of(ties) for column in columns))


def gathered(hyper: Hyper, ties: Ties) -> Hyper:
    """Hyper-parameters with one length scale per group, that of its first feature.

    Example:
        >>> from windfall.models.gp.kernels import Matern52
        >>> hyper = Hyper(Matern52([0.2, 0.3, 0.3]), np.float64(0.1))
        >>> gathered(hyper, (0, 1, 1)).kernel.lengthscale.tolist()
        [0.2, 0.3]
    """
    return _tied(hyper, ties, _first)


def spread(hyper: Hyper, ties: Ties) -> Hyper:
    """Gathered hyper-parameters with one length scale per feature again."""
    return _tied(hyper, ties, _each)


def comparable(hyper: Hyper, ties: Ties) -> Hyper:
    """Gathered hyper-parameters for a prior, which knows of features only.

    Example:
        >>> from windfall.models.gp.kernels import Matern52
        >>> hyper = Hyper(Matern52([0.2, 0.6]), np.float64(0.1))
        >>> comparable(hyper, (0, 1, 1)).kernel.lengthscale.round(3).tolist()
        [0.2, 0.173]
    """
    return _tied(hyper, ties, _as_features)


def _first(values, ties: tuple[int, ...]):
    groups = max(ties) + 1
    known = np.shape(values) == (len(ties),)
    return values[np.array([ties.index(group) for group in range(groups)])] if known else values


def _each(values, ties: tuple[int, ...]):
    return values[np.array(ties)] if np.shape(values) == (max(ties) + 1,) else values


def _as_features(values, ties: tuple[int, ...]):
    sizes = np.bincount(ties)
    known = np.shape(values) == (len(sizes),)
    return values / np.where(sizes > 1, _OPTIONS, 1) if known else values


def _tied(tree: Any, ties: Ties, change: Callable[..., Any]) -> Any:
    """Hyper-parameters, or a kernel, with all length scales changed.

    What sees a part of the columns has their groups only, counted from 0.
    """
    if ties is None:
        return tree

    def one(path, node):
        if isinstance(node, Part):
            inside = ties[node.first : node.stop]
            renumbered = tuple(group - inside[0] for group in inside)
            kernel = _tied(node.kernel, renumbered, change)
            return dataclasses.replace(node, kernel=kernel)
        return change(node, ties) if getattr(path[-1], "name", "") == "lengthscale" else node

    return jax.tree_util.tree_map_with_path(one, tree, is_leaf=lambda x: isinstance(x, Part))
