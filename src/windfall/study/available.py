"""Which arms are available: a mask, or arms by number, name or features."""

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

from windfall.checks import shown
from windfall.errors import InputError
from windfall.space import Arms, Space
from windfall.space.growing import grown, numbers, read_arms
from windfall.study.choice import Among, plain

__all__ = ["arm_of", "available", "enlarged", "to_retire"]


def available(
    space: Space, among: Any, retired: Collection[int] = ()
) -> tuple[np.ndarray, Among | None]:
    """(M,) which arms are available, and the same as an event has it; None where all are.

    Args:
        space: The arms.
        among: What the user says; None for all.
        retired: Arms that are no longer available to anybody.

    Example:
        >>> arms = Arms([[0.0], [1.0], [2.0]], titles=["red", "green", "blue"])
        >>> available(arms, ["red", 2])
        (array([ True, False,  True]), ('without', (1,)))
    """
    if not isinstance(space, Arms):
        raise InputError(f"among is {shown(among)}; expected none: there is no list of arms")
    mask = np.ones(space.size, bool) if among is None else _mask(space, among, retired)
    gone = np.flatnonzero(~mask)
    here = np.flatnonzero(mask)
    mask[[*retired]] = False
    if not mask.any():
        raise InputError(f"among is {shown(among)}; expected at least one arm that is available")
    if not len(gone):
        return mask, None
    name, arms = ("among", here) if len(here) < len(gone) else ("without", gone)
    return mask, (name, tuple(arms.tolist()))


def _mask(space: Arms, among: Any, retired: Collection[int]) -> np.ndarray:
    if isinstance(among, str) or not isinstance(among, Iterable):
        raise InputError(f"among is {shown(among)}; expected a mask, or a list of arms")
    listed = list(among) if not isinstance(among, np.ndarray) else among
    if len(listed) and all(isinstance(entry, bool | np.bool_) for entry in listed):
        if len(listed) != space.size:
            raise InputError(
                f"among has {len(listed)} entries; expected {space.size}, one for each arm"
            )
        return np.array(listed, bool)
    mask = np.zeros(space.size, bool)
    for given in listed:
        arm = arm_of(space, given)
        if arm in retired:
            raise InputError(f"among has arm {given!r}, which is retired; expected others")
        mask[arm] = True
    return mask


def arm_of(space: Arms, given: Any) -> int:
    """The arm of this name, number or features."""
    given = plain(given)
    if not isinstance(given, str):
        return space.point(given)
    if space.titles is None or given not in space.titles:
        raise InputError(f"arm is {given!r}; expected the name of an arm, or its number")
    return space.titles.index(given)


def enlarged(
    space: Space, features: Any, names: Any, retired: Collection[int]
) -> tuple[Arms, list[int]]:
    """A list with further arms, and the numbers of these; retired ones may come back."""
    if not isinstance(space, Arms):
        raise InputError("arms cannot be added; expected a study that chooses from a list of arms")
    rows, texts = read_arms(space, features, names)
    found = numbers(space, rows, texts, retired)
    return grown(space, rows, texts, found), found


def to_retire(space: Space, given: Any, retired: Collection[int]) -> int:
    """The arm that is meant, which must not be the last."""
    if not isinstance(space, Arms):
        raise InputError("an arm cannot be retired; expected a study with a list of arms")
    arm = arm_of(space, given)
    if arm in retired:
        raise InputError(f"arm is {given!r}, which is retired already; expected another")
    if len(retired) == space.size - 1:
        raise InputError(f"arm is {given!r}, the last one; expected to keep at least one")
    return arm
