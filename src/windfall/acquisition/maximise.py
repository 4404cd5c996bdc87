"""Maximise a score over a box: many points, the best few of them polished.

1. The score of space-filling points, of the observed inputs, and of points scattered at several
   scales around the best observed inputs and then around the best of all these.
2. From the best few that lie apart, searches uphill by the gradient (``polish``), in which whole
   numbers and choices stay as they are.
3. Where there are such, their neighbours are tried from the best point, and polished in turn.

The host goes from one to the next; only what is computed for many points is compiled.
"""

import numpy as np
from jaxtyping import Bool, Float, Int

from windfall.acquisition.polish import LANES, Surface, ending, polish
from windfall.acquisition.region import Region
from windfall.runtime.arrays import Array
from windfall.runtime.modules import Module

__all__ = ["APART", "SCATTERED", "Search", "maximise"]

#: Choices that must differ are at least so far apart in some column of the unit box.
APART = 1e-6
_INCUMBENTS, _PEAKS = 4, 8
_SCALES = (0.2, 0.05, 0.01, 0.002)
_REPEATS = 16
#: The most points that are scattered at once.
SCATTERED = max(_INCUMBENTS, _PEAKS) * len(_SCALES) * _REPEATS
#: The share of parameters without an order or a scale that a scattered point takes from another.
_SWAPPED = 0.2
#: Starts of the polish are apart by this much times √columns: nearer ones climb the same hill. With
#: 8 starts at 0.04, 2 of 28 draws of Thompson sampling in 5 and 6 dimensions were not maximised;
#: none of the settings tried found better points than these.
_SPACING = 0.1
#: Ends this near to the edge are tried on the edge, too.
_NEAR_EDGE = 1e-5
#: Scores whose difference is below this, in units of one that matters, are equal: near the data the
#: deviation is the root of a small difference, with rounding errors of about 1e-8.
_EQUAL = 1e-7
_ROUNDS_OF_MOVES = 10


class Search(Module):
    """How a maximisation ended.

    Attributes:
        value: The score found.
        gradient_norm: Length of the score's gradient over the unit box, without what points out of
            it (and, at a constraint, without what the constraint takes).
        evaluations: How many points were scored.
        polished: Whether the polish improved on the best start.
    """

    value: Float[Array, ""]
    gradient_norm: Float[Array, ""]
    evaluations: Int[Array, ""]
    polished: Bool[Array, ""]


def maximise(
    rng: np.random.Generator,
    surface: Surface,
    inputs: Float[np.ndarray, "n c"],
    rewards: Float[np.ndarray, " n"],
    avoid: Float[np.ndarray, "p c"],
) -> tuple[Float[np.ndarray, " c"], Search]:
    """The best point found; always one that exists and is allowed, never worse than any start.

    Args:
        rng: Randomness of the scattered points.
        surface: The score, the region and points that fill it.
        inputs: What was tried.
        rewards: What it paid.
        avoid: Points that the answer must differ from, as long as there are others; then it is one
            of those that stand here least often.
    """
    region, starts = surface.region, surface.starts
    incumbents = inputs[np.argsort(-rewards, kind="stable")[:_INCUMBENTS]]
    points = np.concatenate([starts, inputs, _scattered(rng, region, incumbents, starts)])
    scores = surface.scores(points)
    scale = _scale(scores[: len(starts)])
    times = _times(points, avoid)
    least = np.min(times[np.isfinite(scores)], initial=len(avoid))
    scores = np.where(times > least, -np.inf, scores)

    def rated(x):
        return np.where(_times(x, avoid) > least, -np.inf, surface.scores(x))

    best = points[np.argsort(-scores, kind="stable")[:_PEAKS]]
    scattered = _scattered(rng, region, best, starts)
    points = np.concatenate([points, scattered])
    scores = np.concatenate([scores, rated(scattered)])

    top = points[np.argmax(scores)]
    lanes = points[_apart(scores, points, LANES)]
    x, evaluations = _pick(rated, scale, top, *polish(surface, scale, lanes))
    evaluations += len(points)
    for _ in range(_ROUNDS_OF_MOVES if region.mixed else 0):
        moves = region.neighbours(x)
        moves = moves[np.any(moves != x, axis=1)]
        order = np.argsort(-rated(moves), kind="stable")[:LANES]
        new, spent = _pick(rated, scale, x, *polish(surface, scale, moves[order]))
        evaluations += spent + len(moves)
        if np.all(new == x):
            break
        x = new

    found = surface.looked_at(x[None])[0][0]
    ended = Search(found, np.float64(ending(surface, x)), np.int32(evaluations), np.any(x != top))
    return x, ended


def _times(x: Float[np.ndarray, "m c"], avoid: Float[np.ndarray, "p c"]) -> Int[np.ndarray, " m"]:
    """How many of the points to avoid each point is."""
    near = np.all(np.abs(x[:, None, :] - avoid[None, :, :]) <= APART, axis=-1)
    return np.sum(near, axis=1)


def _scattered(rng: np.random.Generator, region: Region, centres, starts) -> np.ndarray:
    """Points around others at several scales; choices are swapped for those of other points."""
    shape = (len(centres), len(_SCALES), _REPEATS, starts.shape[1])
    moved = centres[:, None, None, :]
    moved = moved + np.reshape(_SCALES, (-1, 1, 1)) * rng.standard_normal(shape)
    if region.mixed:
        columns = region.columns
        donors = starts[rng.integers(len(starts), size=shape[:-1])]
        swapped = rng.random((*shape[:-1], columns.pick.shape[1])) < _SWAPPED
        moved = np.where(swapped[..., columns.group] & columns.discrete, donors, moved)
    return region.snap(moved.reshape(-1, starts.shape[1]))


def _scale(scores: Float[np.ndarray, " s"]) -> np.float64:
    """The size of a difference in score that matters: from the upper tenth to the best."""
    top = np.max(scores)
    with np.errstate(invalid="ignore"):  # −∞ where nothing is allowed
        spread = top - np.quantile(scores, 0.9)
    useful = np.isfinite(spread) and spread > 1e-12 * np.abs(top)
    return np.float64(spread if useful else 1.0)


def _apart(scores, points, count: int) -> Int[np.ndarray, " count"]:
    """The best points of which no two are near each other, best first."""
    radius = _SPACING**2 * points.shape[1]
    left, chosen = scores.copy(), np.zeros(count, int)
    for i in range(count):  # when none is left the first point serves again
        chosen[i] = np.argmax(left)
        left[np.sum((points - points[chosen[i]]) ** 2, axis=1) < radius] = -np.inf
    return chosen


def _pick(rated, scale, start: Float[np.ndarray, " c"], ends: Float[np.ndarray, "l c"], spent: int):
    """The best of the start and the ends, these on the edge where it is near and no worse."""
    edges = np.where(ends < _NEAR_EDGE, 0.0, np.where(ends > 1.0 - _NEAR_EDGE, 1.0, ends))
    lanes = len(ends)
    scores = rated(np.concatenate([start[None], edges, ends]))
    on_edge, off_edge = scores[1 : 1 + lanes], scores[1 + lanes :]
    as_good = on_edge >= off_edge - _EQUAL * scale
    points = np.concatenate([start[None], np.where(as_good[:, None], edges, ends)])
    scores = np.concatenate([scores[:1], np.where(as_good, on_edge, off_edge)])
    # argmax is first-wins: an end counts only if it is better than the start.
    return points[np.argmax(scores)], spent + 2 * lanes + 1
