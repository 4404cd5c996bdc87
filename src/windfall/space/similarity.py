"""Arms that are known by how similar they are, and not by features."""

from collections.abc import Collection
from typing import Any

import numpy as np

from windfall.checks import shown
from windfall.errors import InputError
from windfall.space.arms import Arms
from windfall.space.base import Space
from windfall.space.checks import finite_array

__all__ = ["check_return", "known_by_similarity", "similar_arms"]

#: Relative to the largest: smaller eigenvalues are rounding, and negative ones below it are not.
_ROUNDING = 1e-10


def similar_arms(kernel_matrix: Any, arms: Any = None) -> Arms:
    """Arms whose features, less the middle of the unit box, have these products, up to a factor.

    K = ΦΦᵀ with Φ = V√λ from the eigenvectors of K, and features ½ + Φ/(2 max|Φ|): a kernel that is
    linear around the middle of the box (``Trend``) then gives K again, with a variance of its own.

    Example:
        >>> arms = similar_arms([[1.0, 0.5], [0.5, 1.0]])
        >>> centred = arms.points - 0.5
        >>> products = centred @ centred.T
        >>> (products / products[0, 0]).round(12).tolist()
        [[1.0, 0.5], [0.5, 1.0]]
    """
    if arms is not None:
        raise InputError("arms and kernel_matrix were both given; expected one of them")
    matrix = finite_array(kernel_matrix, "kernel_matrix")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise InputError(f"kernel_matrix has shape {matrix.shape}; expected (M, M)")
    if not np.allclose(matrix, matrix.T, rtol=1e-8, atol=1e-8 * np.abs(matrix).max()):
        raise InputError("kernel_matrix is not symmetric; expected K[i, j] = K[j, i]")
    if not matrix.any():
        raise InputError("kernel_matrix is 0 everywhere; expected some similarity above 0")
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    if values[-1] <= 0 or values[0] < -1e-6 * values[-1]:
        raise InputError(
            f"kernel_matrix has the eigenvalue {shown(float(values[0]))}; expected none below 0: "
            "add its size to the diagonal"
        )
    kept = values > _ROUNDING * values[-1]
    features = (vectors[:, kept] * np.sqrt(values[kept]))[:, ::-1]
    unit = 0.5 + features / (2.0 * np.abs(features).max())
    return Arms(unit, _names(unit.shape[1]), _corners(unit.shape[1]))


def known_by_similarity(space: Space) -> bool:
    """Whether a space is what ``similar_arms`` makes, also where it was saved since.

    Example:
        >>> known_by_similarity(similar_arms([[1.0, 0.5], [0.5, 1.0]]))
        True
        >>> known_by_similarity(Arms([[0.0, 1.0], [1.0, 0.0]]))
        False
    """
    if not isinstance(space, Arms) or list(space.names) != _names(space.dimension):
        return False
    return space.box is not None and np.array_equal(space.box, _corners(space.dimension))


def check_return(space: Space, features: Any, retired: Collection[int]) -> None:
    """Refuse new arms where similarities stand for features: of a new one they say nothing.

    A row of the matrix would be taken for features. A retired arm may come back with its own.
    """
    if not known_by_similarity(space):
        return
    rows = np.atleast_2d(finite_array(features, "features"))
    known = [space.features(arm) for arm in retired]
    if not all(any(np.array_equal(row, its) for its in known) for row in rows):
        raise InputError(
            "arms cannot be added where kernel_matrix says how similar all of them are; expected "
            "a study whose arms have features"
        )


def _names(dimension: int) -> list[str]:
    return [f"similarity {i + 1}" for i in range(dimension)]


def _corners(dimension: int) -> np.ndarray:
    return np.stack([np.zeros(dimension), np.ones(dimension)])
