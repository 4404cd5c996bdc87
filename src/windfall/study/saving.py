"""A study as numbers and lists that JSON can hold, and back."""

from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from windfall.checks import whole
from windfall.errors import InputError
from windfall.models.gp.posterior import Posterior
from windfall.policy import Policy
from windfall.space.checks import finite_array
from windfall.study.menu import ArmMenu, Choice, Point, RegionMenu
from windfall.study.record import Pull, Record

__all__ = ["Saved", "read", "write"]

_FORMAT = 2
_KEYS = {"format", "policy", "seed", "initial", "reward", "hyper", "learned"}
#: What the formats have besides. Format 1 knew arms only, and nothing but rewards.
_MORE = {
    1: {"arms", "arm"},
    2: {"space", "point", "noise", "count", "deviation", "failed", "pending", "behind"},
}


@dataclass(frozen=True)
class Saved:
    """A study as it was saved, checked.

    Attributes:
        hyper: The hyper-parameters.
        behind: The number of distinct inputs that they rest on.
        learned: The number of events that were learned from.
    """

    seed: int
    initial: int
    record: Record
    hyper: Any
    behind: int
    learned: int


def write(
    menu: ArmMenu | RegionMenu,
    policy: Policy,
    seed: int,
    initial: int,
    record: Record,
    posterior: Posterior,
    learned: int,
) -> dict[str, Any]:
    """The state of a study."""
    told = record.told
    return {
        "format": _FORMAT,
        "space": menu.saved(),
        "policy": repr(policy),
        "seed": seed,
        "initial": initial,
        "point": [_plain(pull.point) for pull in told],
        "reward": [pull.reward for pull in told],
        "noise": [pull.noise for pull in told],
        "count": [pull.count for pull in told],
        "deviation": [pull.deviation for pull in told],
        "failed": [_plain(point) for point in record.failed],
        "pending": [[_plain(point), choice.why] for point, choice in record.pending],
        "hyper": [np.asarray(leaf).tolist() for leaf in jax.tree.leaves(posterior.hyper)],
        "behind": int(posterior.observations.used),
        "learned": learned,
    }


def read(state: Any, menu: ArmMenu | RegionMenu, policy: Policy, hyper: Any) -> Saved:
    """A state that fits this menu, this policy and hyper-parameters of this shape."""
    if not isinstance(state, dict) or not state.keys() >= _KEYS:
        raise InputError("state is not a state_dict; expected what Bandit.state_dict returned")
    if state["format"] not in _MORE:
        raise InputError(f"state has format {state['format']!r}; expected 1 or {_FORMAT}")
    if not state.keys() >= _MORE[state["format"]]:
        raise InputError("state is not a state_dict; expected what Bandit.state_dict returned")
    if state["format"] == 1:
        state = _from_first(state)
    menu.check_saved(state["space"])
    if state["policy"] != repr(policy):
        raise InputError(
            f"state was saved with policy {state['policy']}; this Bandit has {policy!r}"
        )
    record = _record(state, menu)
    learned = whole("state learned", state["learned"], 0)
    if learned > record.events:
        raise InputError(f"state learned is {learned}; expected at most {record.events}")
    behind = whole("state behind", state["behind"], 0)
    return Saved(state["seed"], state["initial"], record, _hyper(state, hyper), behind, learned)


def _from_first(state: dict[str, Any]) -> dict[str, Any]:
    """Format 1 as format 2."""
    nothing = [None] * len(_listed(state, "reward"))
    return {
        **state,
        "space": state["arms"],
        "point": state["arm"],
        **dict.fromkeys(("noise", "count", "deviation"), nothing),
        "failed": [],
        "pending": [],
        "behind": 0,
    }


def _record(state: dict[str, Any], menu: ArmMenu | RegionMenu) -> Record:
    names = ("point", "reward", "noise", "count", "deviation")
    columns = [_listed(state, name) for name in names]
    if len({len(column) for column in columns}) > 1:
        sizes = ", ".join(f"{len(c)} of {n}" for n, c in zip(names, columns, strict=True))
        raise InputError(f"state has {sizes}; expected as many of each")
    told = [Pull.of(menu.point(point), *rest) for point, *rest in zip(*columns, strict=True)]
    failed = [menu.point(point) for point in _listed(state, "failed")]
    return Record(told, failed, [_pending(entry, menu) for entry in _listed(state, "pending")])


def _pending(entry: Any, menu: ArmMenu | RegionMenu) -> tuple[Point, Choice]:
    if not isinstance(entry, list) or len(entry) != 2 or not isinstance(entry[1], str):
        raise InputError(f"state pending has {entry!r}; expected a point and its reason")
    point = menu.point(entry[0])
    return point, menu.choice(point, entry[1])


def _hyper(state: dict[str, Any], template: Any) -> Any:
    leaves, tree = jax.tree.flatten(template)
    values = [finite_array(v, "state hyper") for v in _listed(state, "hyper")]
    shapes = [np.shape(leaf) for leaf in leaves]
    if [v.shape for v in values] != shapes or not all(np.all(v > 0) for v in values):
        raise InputError(f"state hyper is {state['hyper']}; expected positive {shapes} numbers")
    return jax.tree.unflatten(tree, values)


def _listed(state: dict[str, Any], name: str) -> list[Any]:
    if not isinstance(state[name], list):
        raise InputError(f"state {name} is {state[name]!r}; expected a list")
    return state[name]


def _plain(point: Point) -> Any:
    return list(point) if isinstance(point, tuple) else point
