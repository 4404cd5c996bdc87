"""How far two correct computations may differ, from the condition of what they compute.

Processors sum in different orders and fuse different multiplications and additions, and BLAS has
other kernels for each of them. A tolerance that one of them happens to keep is a test that fails on
the next machine; these bounds hold on every one (``make test-portable`` tries several).
"""

import numpy as np

EPS = np.finfo(float).eps


def solving(matrix: np.ndarray) -> float:
    """The relative error, in norm, of A⁻¹b or of L⁻¹ by a Cholesky factor of A: n · eps · cond(A).

    Worst cases of that size are rare (Higham, *Accuracy and Stability of Numerical Algorithms*,
    chapter 10): with condition 7e10 and n = 16, four families of BLAS kernels differed by 2e-6
    where this allows 2e-4.
    """
    return float(len(matrix) * EPS * np.linalg.cond(matrix))


def relative_distance(found: np.ndarray, expected: np.ndarray) -> float:
    """‖found − expected‖/‖expected‖: entries that cancel to almost nothing have no say."""
    difference = np.asarray(found) - np.asarray(expected)
    return float(np.linalg.norm(difference) / np.linalg.norm(expected))
