"""A log as it is evaluated: which arm, with which probability, in which context, and its reward."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from windfall.checks import shown
from windfall.errors import InputError
from windfall.space.checks import check_arms, finite_array
from windfall.study.session import Session

__all__ = ["Log", "as_log"]

_NEEDED = ("arm", "reward", "propensity")


@dataclass(frozen=True)
class Log:
    """Logged pulls.

    Attributes:
        arms: Features of the arms, (M, d).
        arm: Which was pulled in each row.
        reward: What it paid.
        propensity: The probability with which it was pulled, given its context.
        context: (n, c), c = 0 where there is none.
    """

    arms: np.ndarray
    arm: np.ndarray
    reward: np.ndarray
    propensity: np.ndarray
    context: np.ndarray

    def __len__(self) -> int:
        return len(self.arm)


def as_log(history: Any, arms: Any, count: int | None) -> Log:
    """A log from a study, its history, or columns of one's own.

    Args:
        history: A ``Study`` or ``Bandit``; or columns arm, reward, propensity and perhaps context
            (one number, or a line of them, per row).
        arms: Features of the arms, if the history is no study; None for arms about which nothing
            is known but which they are.
        count: How many arms there are, if that is known from elsewhere.
    """
    if isinstance(history, Session):
        if history.arms is None:
            raise InputError("history is a study without arms; expected one that chooses from arms")
        history, arms = history.history(), history.arms
    columns = _columns(history)
    reward = finite_array(columns["reward"], "reward")
    if reward.ndim != 1 or len(reward) < 2:
        raise InputError(f"reward has shape {reward.shape}; expected at least 2, one per row")
    arm, propensity = (_column(columns[name], name, len(reward)) for name in ("arm", "propensity"))
    wrong = ~((propensity > 0) & (propensity <= 1))
    if wrong.any():
        raise InputError(
            f"propensity is {propensity[wrong][0]:g}; expected a probability, above 0, at most 1"
        )
    features = _features(arms, arm, count)
    wrong = (arm < 0) | (arm >= len(features)) | (arm != np.floor(arm))
    if wrong.any():
        raise InputError(
            f"arm is {arm[wrong][0]:g}; expected a row number from 0 to {len(features) - 1}"
        )
    context = _context(columns.get("context"), len(reward))
    return Log(features, arm.astype(int), reward, propensity, context)


def _columns(history: Any) -> Any:
    """The columns that are needed; of the events of a study, the rewards of its choices."""
    if not isinstance(history, Mapping) and not hasattr(history, "columns"):
        raise InputError(
            f"history is {shown(history, 80)}; expected a Study, a Bandit, or columns arm, reward "
            "and propensity"
        )
    for name in _NEEDED:
        if name not in history:
            raise InputError(f"history has no column {name!r}; expected {', '.join(_NEEDED)}")
    if "kind" not in history:
        return history
    return _settled(*(history[name] for name in ("kind", "id", *_NEEDED)))


def _settled(*columns: Any) -> dict[str, Any]:
    """One row per choice that has a propensity and a reward, in the order of the rewards.

    Whatever was told for a choice once more was not chosen again, and does not count.
    """
    chance: dict[int, float] = {}
    paid: dict[int, tuple[int, float]] = {}
    for kind, number, arm, reward, propensity in zip(*columns, strict=True):
        if kind == "asked" and propensity is not None and not np.isnan(propensity):
            chance[number] = propensity
        elif kind == "told" and number in chance:
            paid.setdefault(number, (arm, reward))
        elif kind == "undone":
            paid.pop(number, None)
    if len(paid) < 2:
        raise InputError(
            f"history has {len(paid)} choices with a propensity and a reward; expected at least 2: "
            "use a policy that draws, such as Policy(acquisition, explore=0.1)"
        )
    arms, rewards = zip(*paid.values(), strict=True)
    return {"arm": arms, "reward": rewards, "propensity": [chance[i] for i in paid]}


def _column(values: Any, name: str, rows: int) -> np.ndarray:
    column = finite_array(values, name)
    if column.shape != (rows,):
        raise InputError(f"{name} has shape {column.shape}; expected ({rows},), one per reward")
    return column


def _features(arms: Any, arm: np.ndarray, count: int | None) -> np.ndarray:
    """What is known of the arms; if nothing, that each is itself."""
    if arms is None:
        return np.eye(count or max(int(arm.max()) + 1, 2))
    features = check_arms(arms)
    if count is not None and len(features) != count:
        raise InputError(
            f"policy has probabilities of {count} arms; expected {len(features)}, as many as arms"
        )
    return features


def _context(given: Any, rows: int) -> np.ndarray:
    if given is None:
        return np.zeros((rows, 0))
    context = finite_array(given, "context")
    if context.ndim == 1:
        context = context[:, None]
    if context.ndim != 2 or len(context) != rows:
        raise InputError(
            f"context has shape {context.shape}; expected ({rows}, numbers), a line per reward"
        )
    return context
