"""Somebody else's runs on the same arms: rewards of each pull, to be held against a policy's."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from windfall.checks import shown
from windfall.errors import InputError
from windfall.space.checks import finite_array, read_only

__all__ = ["check_references"]


def check_references(references: Any) -> Mapping[str, np.ndarray]:
    """By name, (runs, pulls) rewards with NaN where nothing was pulled; None for none.

    >>> check_references({"them": [[1.0, 2.0], [3.0, None]]})
    {'them': array([[ 1.,  2.],
           [ 3., nan]])}
    >>> check_references({"them": [[1.0, 2.0], [3.0]]})
    Traceback (most recent call last):
    windfall.errors.InputError: references['them'] is [[1.0, 2.0], [3.0]]; expected rows of as ...
    """
    if references is None:
        return {}
    if not isinstance(references, Mapping) or not all(isinstance(who, str) for who in references):
        raise InputError(f"references is {shown(references, 60)}; expected runs by name")
    return {who: _rewards(f"references[{who!r}]", runs) for who, runs in references.items()}


def _rewards(name: str, runs: Any) -> np.ndarray:
    try:
        given = np.asarray(runs)
        if given.dtype.kind not in "biufO":  # text is no number, even where it could be read as one
            raise TypeError
        rewards = given.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"{name} is {shown(runs, 60)}; expected rows of as many numbers, NaN where nothing was"
            " pulled"
        ) from None
    finite_array(np.where(np.isnan(rewards), 0.0, rewards), name)
    if rewards.ndim != 2 or not rewards.size or np.isnan(rewards[:, 0]).all():
        raise InputError(
            f"{name} has shape {rewards.shape}; expected (runs, pulls) rewards, at least one of a"
            " first pull"
        )
    return read_only(rewards)
