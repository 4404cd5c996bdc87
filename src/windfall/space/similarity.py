"""Arms that are known by how similar they are, and not by features."""

from typing import Any

import numpy as np

from windfall.checks import shown
from windfall.errors import InputError
from windfall.space.arms import Arms
from windfall.space.checks import finite_array

__all__ = ["similar_arms"]

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
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    if values[-1] <= 0 or values[0] < -1e-6 * values[-1]:
        raise InputError(
            f"kernel_matrix has the eigenvalue {shown(float(values[0]))}; expected none below 0: "
            "add its size to the diagonal"
        )
    kept = values > _ROUNDING * values[-1]
    features = (vectors[:, kept] * np.sqrt(values[kept]))[:, ::-1]
    unit = 0.5 + features / (2.0 * np.abs(features).max())
    corners = np.stack([np.zeros(unit.shape[1]), np.ones(unit.shape[1])])
    return Arms(unit, [f"similarity {i + 1}" for i in range(unit.shape[1])], corners)
