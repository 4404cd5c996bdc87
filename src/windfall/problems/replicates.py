"""Every single measurement of each arm: its mean is what the arm pays, its spread the noise."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from windfall.errors import InputError
from windfall.space.checks import finite_array

__all__ = ["check_replicates", "padded", "replicate_means", "replicate_noise"]


def padded(groups: Sequence[Any]) -> np.ndarray:
    """Lists of different lengths as the rows of one array, filled up with NaN.

    >>> padded([[1.0, 2.0], [3.0]]).tolist()
    [[1.0, 2.0], [3.0, nan]]
    """
    rows = [np.atleast_1d(np.asarray(group, np.float64)) for group in groups]
    table = np.full((len(rows), max(map(len, rows), default=0)), np.nan)
    for row, values in zip(table, rows, strict=True):
        row[: len(values)] = values
    return table


def check_replicates(groups: Any, size: int) -> np.ndarray:
    """(M, r) measurements, arms with fewer than r filled up with NaN at the end.

    Args:
        groups: One list of measurements per arm, or an array in which NaN stands for none.
        size: M, how many arms there are.
    """
    try:
        given = padded(list(groups))
    except (TypeError, ValueError) as error:
        raise InputError("replicates is no table of numbers; expected one list per arm") from error
    if len(given) != size:
        raise InputError(f"replicates has {len(given)} lists; expected {size}, one per arm")
    kept = [row[~np.isnan(row)] for row in given]
    empty = next((i for i, row in enumerate(kept) if not len(row)), None)
    if empty is not None:
        raise InputError(f"replicates of arm {empty} is empty; expected at least one measurement")
    finite_array(np.concatenate(kept), "replicates")
    return padded(kept)


def replicate_means(replicates: np.ndarray) -> np.ndarray:
    """(M,) what each arm pays."""
    return np.nanmean(replicates, axis=1)


def replicate_noise(replicates: np.ndarray) -> float:
    """Root mean square, over arms, of the deviation of a measurement drawn from the arm's own.

    >>> replicate_noise(np.array([[1.0, 3.0], [5.0, np.nan]])) ** 2
    0.5000000000000001
    """
    return float(np.sqrt(np.mean(np.nanvar(replicates, axis=1))))
