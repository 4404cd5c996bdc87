"""A study as numbers and lists that JSON can hold, and back.

Format 3 is the study's events, the first of which says what it rests on. Formats 1 and 2 had
columns of rewards, and knew spaces and policies by what they print.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from windfall import specs
from windfall._version import __version__
from windfall.checks import LARGEST_SEED, whole
from windfall.errors import InputError
from windfall.space import Arms, Context, Space
from windfall.space.checks import check_arms
from windfall.study.events import Event

if TYPE_CHECKING:
    from windfall.policy import Policy

__all__ = ["Basis", "Saved", "read", "rebuilt", "write"]

_FORMAT = 3
_OLD_KEYS = {"policy", "seed", "initial", "reward", "hyper", "learned"}
#: What the old formats have besides. Format 1 knew arms only, and nothing but rewards.
_MORE = {
    1: {"arms", "arm"},
    2: {"space", "point", "noise", "count", "deviation", "failed", "pending", "behind"},
}


@dataclass(frozen=True)
class Saved:
    """A study as it was saved: what it rests on was checked, what happened comes as events."""

    seed: int
    initial: int
    events: list[Event]


@dataclass(frozen=True)
class Basis:
    """What a study rests on."""

    space: Space
    policy: "Policy"
    seed: int
    initial: int
    context: Context | None = None

    def contents(self, spec: Callable[[Any], Any]) -> dict[str, Any]:
        """For the event that creates it, with parts written by ``to_spec`` or ``describe``."""
        # Only where there is one: studies that were kept before there were contexts stay the same.
        known = {} if self.context is None else {"context": spec(self.context)}
        return {
            "space": spec(self.space),
            "policy": spec(self.policy),
            "seed": self.seed,
            "initial": self.initial,
            **known,
            "versions": {"windfall": __version__},
        }


def write(basis: Basis, events: Sequence[Event]) -> dict[str, Any]:
    """The state of a study."""
    created = basis.contents(specs.describe)
    return {
        "format": _FORMAT,
        "events": [event.plain() for event in (Event(0, "created", created), *events)],
    }


def read(state: Any, space: Space, policy: "Policy", context: Context | None = None) -> Saved:
    """A state that was saved with this space, this policy and this context."""
    if not isinstance(state, dict) or "format" not in state:
        raise InputError("state is not a state_dict; expected what Bandit.state_dict returned")
    if state["format"] in _MORE:
        return _read_old(state, space, policy)
    created, events = _events(state)
    _check_same("arms" if isinstance(space, Arms) else "space", space, created.get("space"))
    _check_same("policy", policy, created.get("policy"))
    _check_same("context", context, created.get("context"))
    seed = whole("seed", created.get("seed"), 0, LARGEST_SEED)
    return Saved(seed, whole("initial", created.get("initial"), 1), events)


def rebuilt(state: Any) -> tuple[Space, "Policy", Context | None]:
    """The space, the policy and the context that a state of format 3 was saved with."""
    created, _ = _events(state)
    names = ("space", "policy", "context")
    parts = [specs.from_spec(created.get(name), allow_imports=True) for name in names]
    return parts[0], parts[1], parts[2]


def _events(state: Any) -> tuple[dict[str, Any], list[Event]]:
    """What a study rests on, and what happened to it."""
    if not isinstance(state, dict) or state.get("format") != _FORMAT:
        found = state.get("format") if isinstance(state, dict) else state
        raise InputError(f"state has format {found!r:.40}; expected 1, 2 or {_FORMAT}")
    listed = state.get("events")
    if not isinstance(listed, list) or not listed:
        raise InputError("state is not a state_dict; expected what Bandit.state_dict returned")
    events = [Event.of(event, number) for number, event in enumerate(listed)]
    if events[0].kind != "created":
        raise InputError(f"event 0 is {events[0].kind!r}; expected 'created'")
    return dict(events[0].contents), events[1:]


def _check_same(name: str, live: Any, saved: Any) -> None:
    found = specs.differences(specs.describe(live), saved)
    if not found:
        return
    # Every row of many arms would be said to differ: name the first.
    raise InputError(
        f"state was saved with other {name} ({found[0]}); make the Bandit with the same"
    )


def _read_old(state: dict[str, Any], space: Space, policy: "Policy") -> Saved:
    if not state.keys() >= _OLD_KEYS | _MORE[state["format"]]:
        raise InputError("state is not a state_dict; expected what Bandit.state_dict returned")
    if state["format"] == 1:
        nothing = [None] * len(_listed(state, "reward"))
        lacking = dict.fromkeys(("noise", "count", "deviation"), nothing)
        state = {
            **state, **lacking, "space": state["arms"], "point": state["arm"],
            "failed": [], "pending": [], "behind": 0,
        }  # fmt: skip
    _check_old_space(state["space"], space)
    if state["policy"] != repr(policy):
        raise InputError(
            f"state was saved with policy {state['policy']}; this Bandit has {policy!r}"
        )
    seed = whole("seed", state["seed"], 0, LARGEST_SEED)
    kept = _old_events(state)
    events = [Event(number, *event) for number, event in enumerate(kept, 1)]
    return Saved(seed, whole("initial", state["initial"], 1), events)


def _old_events(state: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    names: Sequence[str] = ("point", "reward", "noise", "count", "deviation")
    columns = [_listed(state, name) for name in names]
    if len({len(column) for column in columns}) > 1:
        sizes = ", ".join(f"{len(c)} of {n}" for n, c in zip(names, columns, strict=True))
        raise InputError(f"state has {sizes}; expected as many of each")
    rows = zip(*columns, strict=True)
    events: list[tuple[str, dict[str, Any]]]
    events = [("told", dict(zip(names, row, strict=True))) for row in rows]
    events += [("failed", {"point": point}) for point in _listed(state, "failed")]
    learned = whole("state learned", state["learned"], 0)
    if learned > len(events):
        raise InputError(f"state learned is {learned}; expected at most {len(events)}")
    if learned:
        belief = {"hyper": _listed(state, "hyper"), "behind": state["behind"]}
        events.append(("fitted", {"belief": belief, "searched": learned}))
    for number, entry in enumerate(_listed(state, "pending")):
        if not isinstance(entry, list) or len(entry) != 2 or not isinstance(entry[1], str):
            raise InputError(f"state pending has {entry!r}; expected a point and its reason")
        asked = {"id": number, "point": entry[0], "why": entry[1], "held": True}
        events.append(("asked", asked))
    return events


def _check_old_space(saved: Any, space: Space) -> None:
    if isinstance(space, Arms):
        same = not isinstance(saved, str) and np.array_equal(
            check_arms(saved, "state arms"), space.arms
        )
        if not same:
            raise InputError("state was saved with other arms; make the Bandit with the same ones")
    elif saved != repr(space):
        theirs = saved if isinstance(saved, str) else "of arms"
        raise InputError(f"state was saved with space {theirs}; this Bandit has {space!r}")


def _listed(state: dict[str, Any], name: str) -> list[Any]:
    if not isinstance(state[name], list):
        raise InputError(f"state {name} is {state[name]!r}; expected a list")
    return state[name]
