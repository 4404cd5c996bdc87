"""Which arms are available: a mask, or arms by number, name or features."""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from windfall.checks import shown
from windfall.errors import InputError
from windfall.space import Arms, Space
from windfall.space.checks import entries
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
    # As an array, so that a data frame is its numbers, and not the names of its columns.
    listed = entries(np.asarray(among) if hasattr(among, "__array__") else among)
    if listed is None:
        raise InputError(f"among is {shown(among)}; expected a mask, or a list of arms")
    truths = _truths(listed)
    if truths is not None:
        _check_mask(truths.shape, space.size)
        return truths
    arms = [arm_of(space, given) for given in listed]
    _check_once(listed, arms)
    for given, arm in zip(listed, arms, strict=True):
        if arm in retired:
            raise InputError(f"among has arm {shown(given)}, which is retired; expected others")
    mask = np.zeros(space.size, bool)
    mask[arms] = True
    return mask


def _truths(listed: Sequence[Any]) -> np.ndarray | None:
    """The array of what is True or False throughout, however nested; None where arms are listed."""
    try:
        array = np.asarray(listed)
    except ValueError:  # entries of several kinds
        return None
    return array if array.dtype == bool else None


def _check_mask(shape: tuple[int, ...], size: int) -> None:
    """Refuse other shapes: (M, 1) would else pass for features, which 0 and 1 may be."""
    if shape != (size,):
        flat = f"{shape[0]} entries; expected {size}"
        found = flat if len(shape) == 1 else f"shape {shape}; expected ({size},)"
        raise InputError(f"among has {found}, one for each arm")


def _check_once(listed: Sequence[Any], arms: Sequence[int]) -> None:
    """Refuse an arm that comes twice: a mask of numbers would else pass for arms 0 and 1."""
    if len(set(arms)) < len(arms):
        again = next(arm for arm, times in Counter(arms).items() if times > 1)
        raise InputError(
            f"among has arm {shown(listed[arms.index(again)])} more than once; expected every arm "
            "once, or booleans for a mask"
        )


def arm_of(space: Arms, given: Any) -> int:
    """The arm of this name, number or features."""
    given = plain(given)
    if not isinstance(given, str):
        return space.point(given)
    if space.titles is None or given not in space.titles:
        raise InputError(f"arm is {shown(given)}; expected the name of an arm, or its number")
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
