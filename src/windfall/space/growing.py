"""Lists of arms that grow: every arm keeps its number, its name and its place in the unit box."""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from windfall.checks import shown
from windfall.errors import InputError
from windfall.space.arms import Arms
from windfall.space.checks import entries, finite_array

__all__ = ["grown", "numbers", "read_arms"]


def read_arms(space: Arms, features: Any, names: Any) -> tuple[np.ndarray, list[str] | None]:
    """Arms to be added, checked: (n, d) features, and their names if they are given."""
    rows = np.atleast_2d(finite_array(features, "features"))
    if rows.ndim != 2 or rows.shape[1] != space.dimension or not len(rows):
        raise InputError(f"features has shape {rows.shape}; expected (arms, {space.dimension})")
    if names is None:
        return rows, None
    texts = [names] if isinstance(names, str) else entries(names) or []
    different = {text for text in texts if isinstance(text, str)}
    if not len(texts) == len(different) == len(rows):
        raise InputError(f"names is {shown(names)}; expected {len(rows)} different texts")
    return rows, texts


def numbers(
    space: Arms, rows: np.ndarray, names: Sequence[str] | None, retired: Collection[int]
) -> list[int]:
    """The numbers of arms that are added: those of retired arms that come back, else new ones.

    An arm comes back with its features, and with its name where names are given.
    """
    found: list[int] = []
    fresh = space.size
    for place, row in enumerate(rows):
        name = None if names is None else names[place]
        known = None if name is None else _called(space, name)
        if known is not None and known not in retired:
            raise InputError(f"names has {name!r}; expected names that no arm has")
        if known is not None and not np.array_equal(space.arms[known], row):
            raise InputError(f"names has {name!r}, a retired arm's; expected its features, too")
        if known is None and name is None:
            same = (arm for arm in retired if np.array_equal(space.arms[arm], row))
            known = next((arm for arm in sorted(same) if arm not in found), None)
        found.append(fresh if known is None else known)
        fresh += known is None
    return found


def _called(space: Arms, name: str) -> int | None:
    titles = space.titles or ()
    if name in titles:
        return titles.index(name)
    untitled = space.titles is None and name.isdecimal() and int(name) < space.size
    return int(name) if untitled else None


def grown(space: Arms, rows: np.ndarray, names: Sequence[str] | None, found: Sequence[int]) -> Arms:
    """A list with those arms that have new numbers; the unit box stays where it was.

    Example:
        >>> arms = Arms([[0.0], [2.0]])
        >>> more = grown(arms, np.array([[3.0]]), ["far"], [2])
        >>> more.points.tolist(), more.titles
        ([[0.0], [1.0], [1.5]], ('0', '1', 'far'))
    """
    new = [place for place, number in enumerate(found) if number >= space.size]
    if not new:
        return space
    titles: list[str] | None = None
    if names is not None or space.titles is not None:
        titles = list(space.titles or map(str, range(space.size)))
        titles += [str(found[place]) if names is None else names[place] for place in new]
    arms = np.concatenate([space.arms, rows[new]])
    return Arms(arms, space.names, space.box, titles, space.founders)
