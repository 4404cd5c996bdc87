"""A log as it is evaluated: which arm, with which probability, in which context, and its reward."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from windfall.checks import shown
from windfall.errors import InputError
from windfall.space import Arms, Context, Inputs
from windfall.space.checks import finite_array
from windfall.space.joint import Joint
from windfall.study.session import Session

__all__ = ["Log", "as_log"]

_NEEDED = ("arm", "reward", "propensity")


@dataclass(frozen=True)
class Log:
    """Logged pulls.

    Attributes:
        space: The arms.
        inputs: What a model sees: the arms' columns, then those of the context.
        arm: Which was pulled in each row.
        reward: What it paid.
        propensity: The probability with which it was pulled, given its context.
        context: (n, c) columns of the contexts, as a model sees them.
        available: (n, M) which arms could be chosen.
    """

    space: Arms
    inputs: Inputs
    arm: np.ndarray
    reward: np.ndarray
    propensity: np.ndarray
    context: np.ndarray
    available: np.ndarray

    def __len__(self) -> int:
        return len(self.arm)

    @property
    def points(self) -> np.ndarray:
        """Each row's input."""
        return np.concatenate([self.space.points[self.arm], self.context], axis=1)


def as_log(history: Any, arms: Any, count: int | None) -> Log:
    """A log from a study, its history, or columns of one's own.

    Args:
        history: A ``Study`` or ``Bandit``; or columns arm, reward, propensity and perhaps context
            (one number, or a line of them, per row) and available (a line of a mask, per row).
        arms: Features of the arms, if the history is no study; None for arms about which nothing
            is known but which they are.
        count: How many arms there are, if that is known from elsewhere.
    """
    described = None
    if isinstance(history, Session):
        if not isinstance(history.space, Arms):
            raise InputError("history is a study without arms; expected one that chooses from arms")
        arms, described, history = history.space, history.context, _events(history)
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
    space = _space(arms, arm, count)
    wrong = (arm < 0) | (arm >= space.size) | (arm != np.floor(arm))
    if wrong.any():
        raise InputError(
            f"arm is {arm[wrong][0]:g}; expected a row number from 0 to {space.size - 1}"
        )
    inputs, context = _situated(space, columns.get("context"), described, len(reward))
    available = _available(columns.get("available"), arm.astype(int), space.size)
    return Log(space, inputs, arm.astype(int), reward, propensity, context, available)


def _events(study: Session) -> dict[str, list[Any]]:
    """The columns of a study's events, with contexts as they were recorded, and what was there."""
    events = [event for event in study.happened() if event.kind in ("asked", "told", "undone")]
    contents = [event.contents for event in events]
    there = study.offered()
    told = {event.number: event.contents.get("id") for event in events if event.kind == "told"}
    return {
        "kind": [event.kind for event in events],
        "arm": [said.get("point") for said in contents],
        "available": [there.get(said.get("id", -1)) for said in contents],
        "id": [said.get("id", told.get(said.get("event", -1))) for said in contents],
        **{
            name: [said.get(name) for said in contents]
            for name in ("reward", "propensity", "context")
        },
    }


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
    beside = [name for name in ("context", "available") if name in history]
    names = ("kind", "id", *_NEEDED, *beside)
    rows = zip(*(history[name] for name in names), strict=True)
    return _settled([dict(zip(names, row, strict=True)) for row in rows])


def _settled(events: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One row per choice that has a propensity and a reward, in the order of the rewards.

    Whatever was told for a choice once more was not chosen again, and does not count. What is taken
    back is the last that was told.
    """
    asked: dict[int, dict[str, Any]] = {}
    paid: dict[int, list[float]] = {}
    for event in events:
        kind, number, propensity = event["kind"], event["id"], event["propensity"]
        if kind == "asked" and propensity is not None and not np.isnan(propensity):
            asked[number] = event
        elif kind == "told" and number in asked:
            paid.setdefault(number, []).append(event["reward"])
        elif kind == "undone" and number in paid:
            paid[number].pop()
            if not paid[number]:
                del paid[number]
    if len(paid) < 2:
        raise InputError(
            f"history has {len(paid)} choices with a propensity and a reward; expected at least 2: "
            "use a policy that draws, such as Policy(acquisition, explore=0.1)"
        )
    rows = [asked[number] | {"reward": rewards[0]} for number, rewards in paid.items()]
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    return {name: column for name, column in columns.items() if column[0] is not None}


def _column(values: Any, name: str, rows: int) -> np.ndarray:
    column = finite_array(values, name)
    if column.shape != (rows,):
        raise InputError(f"{name} has shape {column.shape}; expected ({rows},), one per reward")
    return column


def _space(arms: Any, arm: np.ndarray, count: int | None) -> Arms:
    """What is known of the arms; if nothing, that each is itself."""
    if arms is None:
        return Arms(np.eye(count or max(int(arm.max()) + 1, 2)))
    space = arms if isinstance(arms, Arms) else Arms(arms)
    if count is not None and space.size != count:
        raise InputError(
            f"policy has probabilities of {count} arms; expected {space.size}, as many as arms"
        )
    return space


def _situated(
    space: Arms, given: Any, described: Context | None, rows: int
) -> tuple[Inputs, np.ndarray]:
    """What a model sees of arms and contexts, and the columns of the contexts."""
    if given is None:
        return space, np.zeros((rows, 0))
    if described is None:
        table = finite_array(given, "context")
        table = table[:, None] if table.ndim == 1 else table
        if table.ndim != 2 or len(table) != rows or not table.shape[1]:
            raise InputError(
                f"context has shape {table.shape}; expected ({rows}, numbers), a line per reward"
            )
        given, described = table.tolist(), Context([f"context {i}" for i in range(table.shape[1])])
    contexts = [described.point(line) for line in given]
    frame = described.frame(described.including(None, contexts))
    inputs = Joint(space, described, frame) if frame.width else space
    return inputs, frame.unit(contexts)


def _available(given: Any, arm: np.ndarray, size: int) -> np.ndarray:
    if given is None:
        return np.ones((len(arm), size), bool)
    mask = finite_array(given, "available") != 0
    if mask.shape != (len(arm), size):
        raise InputError(
            f"available has shape {mask.shape}; expected {(len(arm), size)}, a line per reward"
        )
    gone = ~mask[np.arange(len(arm)), arm]
    if gone.any():
        raise InputError(f"arm is {arm[gone][0]} where it is not available; expected another mask")
    return mask
