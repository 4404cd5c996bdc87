"""Sobol points, the very ones of SciPy without its statistics, whose import takes half a second."""

from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from windfall.errors import InputError

__all__ = ["Sobol"]

_BITS = 30


class Sobol:
    """The Sobol sequence in the unit box, scrambled: ``scipy.stats.qmc.Sobol(d, rng=seed)``.

    Point n is the exclusive or of a shift and of those direction numbers whose bit is set in n's
    Gray code n ⊕ ⌊n/2⌋. Matoušek's scramble multiplies the direction numbers of each column, as
    columns of bits, by a random lower triangular matrix with a diagonal of ones.

    Example:
        >>> Sobol(2, seed=0).draw(2).round(3).tolist()
        [[0.41, 0.964], [0.722, 0.108]]
    """

    def __init__(self, dimension: int, seed: int):
        """Every seed has a scramble of its own."""
        (rng,) = np.random.default_rng(seed).spawn(1)
        shift = rng.integers(2, size=(dimension, _BITS), dtype=np.uint32)
        below = np.tril(rng.integers(2, size=(dimension, _BITS, _BITS), dtype=np.uint32), -1)
        scramble = below + np.eye(_BITS, dtype=np.uint32)
        powers = 2 ** np.arange(_BITS, dtype=np.uint32)
        self._shift = shift @ powers
        bits = _directions(dimension)[:, None, :] // powers[::-1, None] % 2  # the highest first
        self._directions = np.einsum("dpj,p->jd", scramble @ bits % 2, powers[::-1])
        self._drawn = 0

    def draw(self, count: int) -> np.ndarray:
        """The next (count, dimension) points."""
        n = np.arange(self._drawn, self._drawn + count, dtype=np.uint32)
        self._drawn += count
        gray = n ^ (n >> 1)
        points = np.tile(self._shift, (count, 1))
        for k, direction in enumerate(self._directions):
            points ^= (gray >> k & 1)[:, None] * direction
        return points * 0.5**_BITS


def _directions(dimension: int) -> np.ndarray:
    """(dimension, bits) direction numbers, from primitive polynomials over the field of 0 and 1.

    With the coefficients a of a polynomial of degree m, the first m numbers given and ⊕ as sum:
    v_j = 2a_1 v_{j-1} ⊕ 4a_2 v_{j-2} ⊕ … ⊕ 2^m v_{j-m} ⊕ v_{j-m}.
    """
    polynomials, first = _tabulated()
    if dimension > len(polynomials):
        raise InputError(f"columns are {dimension}; expected at most {len(polynomials)}")
    numbers = np.ones((dimension, _BITS), np.uint32)
    for v, polynomial, given in zip(numbers[1:], polynomials[1:], first[1:], strict=False):
        degree = int(polynomial).bit_length() - 1
        v[:degree] = given[:degree]
        for j in range(degree, _BITS):
            v[j] = v[j - degree]
            for k in range(1, degree + 1):
                v[j] ^= (int(polynomial) >> (degree - k) & 1) * v[j - k] << k
    return numbers << np.arange(_BITS, dtype=np.uint32)[::-1]


@cache
def _tabulated() -> tuple[np.ndarray, np.ndarray]:
    """Polynomials and first numbers of Joe and Kuo (2008), as SciPy has them in a file."""
    scipy = find_spec("scipy")
    assert scipy is not None
    assert scipy.origin is not None
    with np.load(Path(scipy.origin).parent / "stats" / "_sobol_direction_numbers.npz") as table:
        return table["poly"], table["vinit"]
