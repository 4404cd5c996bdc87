"""Maximise a score over a box: many points, the best few of them polished, one compiled program.

1. The score of space-filling points, of the observed inputs, and of points scattered at several
   scales around the best observed inputs and then around the best of all these.
2. From the best few that lie apart, searches uphill by the gradient (``polish``), in which whole
   numbers and choices stay as they are.
3. Where there are such, their neighbours are tried from the best point, and polished in turn.
"""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Bool, Float, Int, PRNGKeyArray

from windfall.acquisition.polish import Value, ending, polish, scaled_slack
from windfall.acquisition.region import Region
from windfall.models.base import Tried
from windfall.runtime.arrays import Array

__all__ = ["APART", "Search", "maximise"]

#: Choices that must differ are at least so far apart in some column of the unit box.
APART = 1e-6
_INCUMBENTS, _PEAKS, _LANES = 4, 8, 16
_SCALES = (0.2, 0.05, 0.01, 0.002)
_REPEATS = 16
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


class Search(eqx.Module):
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
    key: PRNGKeyArray,
    value: Value,
    region: Region,
    starts: Float[Array, "s c"],
    tried: Tried,
    avoid: Float[Array, "p c"],
) -> tuple[Float[Array, " c"], Search]:
    """The best point found; always one that exists and is allowed, never worse than any start.

    Args:
        key: Randomness of the scattered points.
        value: The score of points of the unit box.
        region: Which points exist and are allowed.
        starts: Points that fill it.
        tried: What was tried, and what it paid.
        avoid: Points that the answer must differ from, as long as there are others (NaN: none).
    """

    def allowed(x):
        """Scores to compare by: no NaN, and points that are not allowed come last."""
        scores = value(x)
        return jnp.where(jnp.isfinite(scores) & region.feasible(x), scores, -jnp.inf)

    def rated(x):
        return jnp.where(_taken(x, avoid), -jnp.inf, allowed(x))

    scatter = _Scatter.draw(key, region, starts)
    inputs = jnp.where(tried.live[:, None], tried.x, starts[0])
    rewards = jnp.where(tried.live, tried.reward, -jnp.inf)
    incumbents = inputs[jax.lax.top_k(rewards, min(_INCUMBENTS, rewards.shape[0]))[1]]
    points = jnp.concatenate([starts, inputs, scatter(incumbents, 0)])
    scores = allowed(points)
    scale = _scale(scores[: starts.shape[0]])
    others = jnp.where(_taken(points, avoid), -jnp.inf, scores)
    left = jnp.any(jnp.isfinite(others))
    scores, avoid = jnp.where(left, others, scores), jnp.where(left, avoid, jnp.nan)
    best = points[jax.lax.top_k(scores, _PEAKS)[1]]
    scattered = scatter(best, _INCUMBENTS)
    points = jnp.concatenate([points, scattered])
    scores = jnp.concatenate([scores, rated(scattered)])

    lanes = points[_apart(scores, points, _LANES)]
    climb = partial(polish, value, region, scaled_slack(region, starts), scale)
    pick = partial(_pick, rated, scale)
    top = points[jnp.argmax(scores)]
    x, evaluations = pick(top, *climb(lanes))
    evaluations += points.shape[0]

    if region.mixed:

        def move(carry):
            x, evaluations, _, rounds = carry
            moves = region.neighbours(x)
            scores = jnp.where(jnp.all(moves == x, axis=1), -jnp.inf, rated(moves))
            order = jax.lax.top_k(scores, min(_LANES, moves.shape[0]))[1]
            new, spent = pick(x, *climb(moves[order]))
            moved = jnp.any(new != x)
            return new, evaluations + spent + moves.shape[0], moved, rounds + 1

        def going(carry):
            return carry[2] & (carry[3] < _ROUNDS_OF_MOVES)

        start = (x, evaluations, jnp.asarray(True), jnp.zeros((), jnp.int32))
        x, evaluations, _, _ = jax.lax.while_loop(going, move, start)

    found, norm = ending(value, region, x)
    return x, Search(found, norm, evaluations.astype(jnp.int32), jnp.any(x != top))


def _taken(x: Float[Array, "m c"], avoid: Float[Array, "p c"]) -> Bool[Array, " m"]:
    # No maximum over columns: XLA's, over NaN, may be −inf.
    near = jnp.all(jnp.abs(x[:, None, :] - avoid[None, :, :]) <= APART, axis=-1)
    return jnp.any(near, axis=1)


class _Scatter(eqx.Module):
    """Points around others at several scales; choices are swapped for those of other points.

    All randomness of a search is drawn at once: programs that draw random numbers are slow to
    compile.
    """

    region: Region
    noise: Float[Array, "n s r c"]
    donors: Float[Array, "n s r c"] | None

    @classmethod
    def draw(cls, key: PRNGKeyArray, region: Region, starts: Float[Array, "s c"]) -> "_Scatter":
        shape = (_INCUMBENTS + _PEAKS, len(_SCALES), _REPEATS, starts.shape[1])
        scales = jnp.asarray(_SCALES, starts.dtype)[:, None, None]
        noise = scales * jax.random.normal(key, shape, starts.dtype)
        if not region.mixed:
            return cls(region, noise, None)
        columns = region.columns
        size = (*shape[:-1], 1 + columns.pick.shape[1])
        uniform = jax.random.uniform(jax.random.fold_in(key, 1), size, starts.dtype)
        donors = starts[(uniform[..., 0] * starts.shape[0]).astype(jnp.int32)]
        swapped = (uniform[..., 1:] < _SWAPPED)[..., columns.group] & columns.discrete
        return cls(region, noise, jnp.where(swapped, donors, jnp.nan))

    def __call__(self, centres: Float[Array, "k c"], first: int) -> Float[Array, "m c"]:
        """Points around these centres, with the noise from row ``first`` on."""
        rows = slice(first, first + centres.shape[0])
        moved = centres[:, None, None, :] + self.noise[rows]
        if self.donors is not None:
            donors = self.donors[rows]
            moved = jnp.where(jnp.isnan(donors), moved, donors)
        return self.region.snap(moved.reshape(-1, centres.shape[1]))


def _scale(scores: Float[Array, " s"]) -> Float[Array, ""]:
    """The size of a difference in score that matters: from the upper tenth to the best."""
    top = jnp.max(scores)
    spread = top - jnp.quantile(scores, 0.9)
    useful = jnp.isfinite(spread) & (spread > 1e-12 * jnp.abs(top))
    return jnp.where(useful, spread, 1.0)


def _apart(scores, points, count: int) -> Int[Array, " count"]:
    """The best points of which no two are near each other, best first."""
    radius = _SPACING**2 * points.shape[1]

    def choose(i, carry):
        left, chosen = carry
        at = jnp.argmax(left).astype(jnp.int32)
        near = jnp.sum((points - points[at]) ** 2, axis=1) < radius
        return jnp.where(near, -jnp.inf, left), chosen.at[i].set(at)

    # When none is left the first point serves again.
    return jax.lax.fori_loop(0, count, choose, (scores, jnp.zeros(count, jnp.int32)))[1]


def _pick(rated: Value, scale, start: Float[Array, " c"], ends: Float[Array, "l c"], spent):
    """The best of the start and the ends, these on the edge where it is near and no worse."""
    edges = jnp.where(ends < _NEAR_EDGE, 0.0, jnp.where(ends > 1.0 - _NEAR_EDGE, 1.0, ends))
    lanes = ends.shape[0]
    scores = rated(jnp.concatenate([start[None], edges, ends]))
    on_edge, off_edge = scores[1 : 1 + lanes], scores[1 + lanes :]
    as_good = on_edge >= off_edge - _EQUAL * scale
    points = jnp.concatenate([start[None], jnp.where(as_good[:, None], edges, ends)])
    scores = jnp.concatenate([scores[:1], jnp.where(as_good, on_edge, off_edge)])
    # argmax is first-wins: an end counts only if it is better than the start.
    return points[jnp.argmax(scores)], jnp.sum(spent) + 2 * lanes + 1
