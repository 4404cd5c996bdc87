"""Features whose values crowd together, and how they are spread over the unit interval."""

from typing import Any, NamedTuple

import numpy as np

__all__ = ["Spacing", "moved", "spacing"]

#: How far a value may be from the share of arms below it, both from 0 to 1, before they count as
#: crowded; and how far one of L values that were drawn evenly is off by luck in one case of twenty,
#: times √L (Kolmogorov).
_CROWDED, _LUCK = 0.25, 1.36
#: Of more arms so many are looked at; of more values than the second number so many are kept.
_ENOUGH, _KNOTS = 65_536, 1_024


class Spacing(NamedTuple):
    """A map of the unit interval onto itself: linear between some places ``at`` that go ``to``.

    Outside of the outermost of them nothing moves.
    """

    at: np.ndarray
    to: np.ndarray


def spacing(column: np.ndarray) -> Spacing | None:
    """How to spread the values of a feature that was scaled to the unit box; None: as they are.

    A kernel takes distances at their word. Where most arms crowd in a small part of a feature's
    range (10, 100, … 10⁶ bytes; a search that closed in; mixtures, of which most have none of this
    or that; one outlier) nearly all of them would be alike to it. There the share of arms below a
    value says as much as the value: with L values among M arms each goes a part w = 1 − L/(2M) of
    the way to that share (half of its own arms included, from 0 for the lowest to 1 for the highest
    one). All the way where many arms share a value, since somebody chose the levels; half of it
    where every arm has a value of its own (``docs/decisions/0014-spread-and-effects.md``).

    Example:
        >>> sizes = np.array([10.0, 100.0, 1000.0, 10_000.0] * 50)
        >>> spread = spacing(sizes / 10_000)
        >>> spread.to.round(2).tolist()
        [0.0, 0.33, 0.66, 1.0]
        >>> spacing(np.linspace(0, 1, 50) ** 1.5) is None
        True
    """
    few = column[:: -(-len(column) // _ENOUGH)]
    few = np.concatenate([few, [column.min(), column.max()]]) if len(few) < len(column) else few
    values, arms = np.unique(few, return_counts=True)
    if len(values) < 3:
        return None
    below = np.cumsum(arms) - 0.5 * arms
    share = (below - below[0]) / (below[-1] - below[0])
    even = values[0] + (values[-1] - values[0]) * share
    own = len(values) / len(few)  # 1: every arm has its own; near 0: levels were chosen
    allowed = max(_CROWDED, own * _LUCK / np.sqrt(len(values)))
    if np.max(np.abs(values - even)) <= allowed * (values[-1] - values[0]):
        return None
    part = 1.0 - 0.5 * own
    kept = np.linspace(0, len(values) - 1, min(len(values), _KNOTS)).round().astype(int)
    return Spacing(values[kept], ((1.0 - part) * values + part * even)[kept])


def moved(x: Any, start: Any, end: Any, numpy: Any = np) -> Any:
    """Numbers from between some places to between others, which begin and end where those do.

    Example:
        >>> start, end = np.array([0.0, 0.1, 1.0]), np.array([0.0, 0.5, 1.0])
        >>> moved(np.array([-1.0, 0.05, 0.5]), start, end).round(3).tolist()
        [-1.0, 0.25, 0.722]
    """
    inside = (x > start[0]) & (x < start[-1])
    return numpy.where(inside, numpy.interp(x, start, end), x)
