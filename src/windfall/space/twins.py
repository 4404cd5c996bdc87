"""Arms with the same features, found without a look at every arm."""

import numpy as np

__all__ = ["Twins"]


class Twins:
    """The rows of a table by a fingerprint of their numbers.

    Example:
        >>> Twins(np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]])).of(np.array([1.0, 2.0])).tolist()
        [0, 2]
    """

    def __init__(self, table: np.ndarray):
        """Of a table, which is not copied."""
        self._table = table
        prints = _fingerprints(table)
        self._order = np.argsort(prints)
        self._prints = prints[self._order]

    def of(self, row: np.ndarray) -> np.ndarray:
        """The numbers of all rows that are like this one, in order."""
        mine = _fingerprints(row[None])[0]
        first = np.searchsorted(self._prints, mine, "left")
        near = self._order[first : np.searchsorted(self._prints, mine, "right")]
        return np.sort(near[(self._table[near] == row).all(axis=1)])


def _fingerprints(features: np.ndarray) -> np.ndarray:
    """A number for each row, the same for equal ones (−0 and 0 included), seldom for others."""
    prints = np.zeros(len(features), np.uint64)
    for column in features.T:
        bits = (column.astype(float) + 0.0).view(np.uint64)
        prints = (prints ^ bits ^ (bits >> np.uint64(29))) * np.uint64(0x9E3779B97F4A7C15)
        prints ^= prints >> np.uint64(32)
    return prints
