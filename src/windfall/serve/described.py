"""Studies and choices as plain values, for answers."""

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from windfall.registry import GOALS, POLICIES
from windfall.serve.served import ServedStudy
from windfall.space import Arms
from windfall.study.choice import Choice, Holder
from windfall.study.events import Event

__all__ = ["best", "choices", "event", "facts", "plain", "summary", "time"]

#: What a policy is for, where it is a goal's own.
_GOALS = {POLICIES[name]: goal for goal, name in GOALS.items()}


def summary(name: str, study: ServedStudy) -> dict[str, Any]:
    """A study in one row of a list."""
    events = study.events
    rewards = study.rewards
    created = events[0].contents
    return {
        "name": name,
        "pulls": len(rewards),
        "failed": len(study.failed),
        "pending": len(study.pending),
        "best": best(study) if rewards else None,
        "goal": _GOALS.get(created["policy"].get("acquisition", {}).get("type")),
        "budget": created["policy"].get("budget"),
        "last_activity": time(events[-1].time),
        "created": time(events[0].time),
        "events": len(events),
    }


def facts(name: str, study: ServedStudy) -> dict[str, Any]:
    """All about a study but its history and its arms."""
    created = study.events[0].contents
    return {
        **summary(name, study),
        "space": _space(study, created["space"]),
        "policy": created["policy"],
        "context": created.get("context"),
        "last_context": study.last_context,
        "seed": study.seed,
        "initial": study.initial,
        "last_entry": study.last_entry,
        "waiting": choices(study, study.pending),
        "failures": choices(study, study.failed),
    }


def best(study: ServedStudy) -> dict[str, Any]:
    """What has the highest mean reward so far, with that and its pulls."""
    found = study.best
    point = study.space.point(found.features if found.arm is None else found.arm)
    reward, pulls = study.means[point]
    return {**_choice(study, found, {}), "reward": reward, "pulls": pulls}


def choices(study: ServedStudy, made: Sequence[Choice]) -> list[dict[str, Any]]:
    """Choices with all that is known about them."""
    holders = study.leases
    return [_choice(study, one, holders) for one in made]


def _choice(study: ServedStudy, made: Choice, holders: Mapping[int, Holder]) -> dict[str, Any]:
    said = {} if made.id is None else study.predicted(made.id)
    holder = None if made.id is None else holders.get(made.id)
    return {
        "id": made.id,
        "arm": made.arm,
        "name": None if made.arm is None else study.space.title(made.arm),
        "features": plain(made.features),
        "parameters": {name: plain(value) for name, value in made.parameters.items()},
        "why": made.why,
        **{name: said.get(name) for name in ("mean", "deviation", "ratio", "best")},
        "worker": None if holder is None else holder.worker,
        "expires": None if holder is None else time(holder.until),
        "context": made.context,
    }


def event(happened: Event) -> dict[str, Any]:
    """An event as a stream tells it; the hyper-parameters of a fit stay in the store."""
    contents = {name: v for name, v in happened.contents.items() if name not in ("belief", "space")}
    return {
        "number": happened.number,
        "kind": happened.kind,
        "time": time(happened.time),
        "worker": happened.worker,
        **contents,
    }


def plain(value: Any) -> Any:
    """Arrays and NumPy's numbers as JSON holds them; what is not finite as None.

    >>> plain(np.array([1.0, np.nan]))
    [1.0, None]
    """
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        finite = np.isfinite(value)
        return value.tolist() if finite.all() else [plain(entry) for entry in value.tolist()]
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist()) if isinstance(value, np.generic) else value.tolist()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def time(seconds: float | None) -> str | None:
    """Seconds since 1970 as people and programs read them.

    >>> time(0.5)
    '1970-01-01T00:00:00.500000+00:00'
    """
    if seconds is None:
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds")
    except (OverflowError, ValueError, OSError):  # a lease of a million years
        return None


def _space(study: ServedStudy, spec: dict[str, Any]) -> dict[str, Any]:
    """A space without a list of all its arms, which has a page of its own."""
    if isinstance(study.space, Arms):
        return {"type": "Arms", "names": study.names, "size": study.space.size}
    return {**spec, "names": study.names, "size": study.space.size}
