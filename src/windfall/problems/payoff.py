"""A user's payoff function, evaluated at every arm."""

from collections.abc import Callable
from typing import Any

import numpy as np

from windfall.errors import InputError
from windfall.space.checks import finite_array

__all__ = ["evaluated"]


def evaluated(payoff: Callable[[np.ndarray], Any], arms: np.ndarray) -> np.ndarray:
    """The function's value at every arm, with one call if it is vectorised.

    With as many arms as features, a function of one arm such as ``lambda x: x[0]`` also returns M
    values for all arms at once, and they are wrong: there the calls arm by arm go first.
    """
    ways = [_all_at_once, _arm_by_arm]
    if arms.shape[0] == arms.shape[1]:
        ways.reverse()
    failure: Exception | None = None
    for way in ways:
        try:
            values = way(payoff, arms)
        except Exception as error:  # the caller's function may raise anything
            failure = error
        else:
            if values is not None:
                return finite_array(values, "payoff")
    raise InputError(
        f"payoff(arms) fails ({type(failure).__name__}: {_one_line(failure)}); expected a function"
        " that gives one number per arm"
    ) from failure


def _all_at_once(payoff: Callable[[np.ndarray], Any], arms: np.ndarray) -> np.ndarray | None:
    values = np.asarray(payoff(arms))
    return values if values.shape == arms.shape[:1] else None


def _arm_by_arm(payoff: Callable[[np.ndarray], Any], arms: np.ndarray) -> np.ndarray:
    return np.array([np.asarray(payoff(arm)).item() for arm in arms])


def _one_line(error: Exception | None) -> str:
    return " ".join(str(error).split())
