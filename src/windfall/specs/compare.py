"""What differs between two specs, in words."""

from collections.abc import Iterator
from typing import Any

from windfall.specs.common import are_pairs, inside, is_plain, is_table, shown

__all__ = ["differences"]

#: Of the differences between two lists at most so many are told.
_MOST = 5
_NOTHING = object()


def differences(here: Any, saved: Any) -> list[str]:
    """One line for each difference between two specs, or any JSON; none where they are the same.

    Args:
        here: The one at hand.
        saved: The other.

    Example:
        >>> here = {"policy": {"type": "VUCB", "kappa": 1.0}, "seed": 0}
        >>> differences(here, {"policy": {"type": "VUCB", "kappa": 2.0}, "seed": 0})
        ['policy.kappa: 1.0 here, 2.0 saved']
    """
    return list(_differences(here, saved, ""))


def _differences(here: Any, saved: Any, where: str) -> Iterator[str]:
    if isinstance(here, dict) and isinstance(saved, dict) and _kind(here) == _kind(saved):
        yield from _in_mappings(here, saved, where)
    elif isinstance(here, list) and isinstance(saved, list):
        yield from _in_lists(here, saved, where)
    elif not _same(here, saved):
        yield f"{where or 'spec'}: {_named(here)} here, {_named(saved)} saved"


def _in_mappings(here: dict, saved: dict, where: str) -> Iterator[str]:
    for name in {**here, **saved}:
        place = inside(where, name)
        yield from _differences(here.get(name, _NOTHING), saved.get(name, _NOTHING), place)


def _in_lists(here: list, saved: list, where: str) -> Iterator[str]:
    if is_table(here) and is_table(saved) and here == saved:  # there may be very many rows
        return
    if are_pairs(here) and are_pairs(saved):
        yield from _in_mappings(dict(here), dict(saved), where)
        orders = [[name for name, _ in pairs] for pairs in (here, saved)]
        if orders[0] != orders[1] and sorted(orders[0]) == sorted(orders[1]):
            first, second = (shown(order) for order in orders)
            yield f"{where or 'spec'}: in the order {first} here, {second} saved"
        return
    if len(here) != len(saved):
        yield f"{where or 'spec'}: {len(here)} entries here, {len(saved)} saved"
        return
    found = [
        line
        for i, (one, other) in enumerate(zip(here, saved, strict=True))
        if not (is_plain(one) and _same(one, other))  # most are, and there may be many
        for line in _differences(one, other, f"{where}[{i}]")
    ]
    yield from found[:_MOST]
    if len(found) > _MOST:
        yield f"{where or 'spec'}: {len(found) - _MOST} more differences"


def _kind(spec: dict) -> Any:
    """What decides whether two objects have anything to compare."""
    return spec.get("type"), spec.get("function")


def _same(one: Any, other: Any) -> bool:
    """Equal as JSON: True is not 1, while 1 is 1.0."""
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def _named(spec: Any) -> str:
    """A value, or of an object its type and of a function its address."""
    if spec is _NOTHING:
        return "nothing"
    if isinstance(spec, dict):
        named = spec.get("type", spec.get("function"))
        return named if isinstance(named, str) else shown(spec)
    return shown(spec)
