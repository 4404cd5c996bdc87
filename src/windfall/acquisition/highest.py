"""The arm with the highest score: of all scores, or of those that are worth computing.

In a long list a first look gives every arm a ceiling that its score does not exceed. The scores of
those with the highest ceilings are then computed, a few at a time, until no ceiling that is left
reaches the best score: the choice is the one that all scores together would have led to.
"""

import dataclasses
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int

from windfall.acquisition.base import Score
from windfall.models.blocks import in_blocks
from windfall.models.distances import same_points
from windfall.models.glance import Glance
from windfall.models.lookup import Lookup
from windfall.runtime.arrays import Array
from windfall.runtime.execution import on_accelerator
from windfall.runtime.modules import Module

__all__ = ["LONG", "Highest", "better", "glanced", "highest", "objections"]

#: A list is long from so many arms on: a first look pays, and so do several devices.
LONG = 2**13
#: Arms in a block of the first look, so that what is held for them stays in a processor's cache;
#: and on an accelerator, which looks at many at once.
_ROWS, _ROWS_AT_ONCE = 4096, 2**17
#: How many scores are computed at a time: a few, in so many turns, and then, where ceilings are far
#: too high, many, since the next highest ceilings have to be found anew for each turn. Many from
#: the beginning on an accelerator, which takes no longer for them.
_FEW, _TURNS, _MANY = 512, 8, 2**14
#: Arms with more features than this are not looked at first.
_COLUMNS = 128
#: Up to so many points to avoid each is compared with every arm; more are looked up.
_COMPARED = 1024
#: The lowest score, and the most objections, that there can be.
_LOWEST, _MOST = np.finfo(np.float64).min, np.iinfo(np.int32).max


class Highest(Module):
    """The arm that is to be chosen.

    Attributes:
        arm: Its number.
        score: Its score.
        objections: How many of the points to avoid it is.
        valid: Whether no score was found that is not a number.
    """

    arm: Int[Array, ""]
    score: Float[Array, ""]
    objections: Int[Array, ""]
    valid: Bool[Array, ""]


def glanced(points: np.ndarray) -> Glance | None:
    """Arms for a first look; None for a few.

    Also None where arms have many features: distances then take longer than all the rest, and a
    look needs them, too.
    """
    if len(points) < _ROWS or points.shape[1] > _COLUMNS:
        return None
    return Glance.blocks(points, min(len(points), _ROWS_AT_ONCE) if on_accelerator() else _ROWS)


def highest(
    score: Score,
    arms: Float[Array, "m d"],
    glance: Glance | None = None,
    avoid: Float[Array, "p d"] | None = None,
    among: Bool[Array, " m"] | None = None,
) -> Highest:
    """The available arm with the highest score, the first if there are several.

    Args:
        score: What to maximise.
        arms: Features in the unit box.
        glance: The same for a first look.
        avoid: Of points to avoid it is as few as possible; NaN is no point.
        among: Which arms are available; None for all.
    """
    arms = jnp.asarray(arms)
    ceilings = None if glance is None else _ceilings(score, arms, glance)
    times = _counting(avoid)
    if ceilings is None:
        return _best(score(arms), jnp.arange(arms.shape[0]), _objections(arms, times, among))
    return _best_first(score, arms, ceilings, times, among)


def _best(values, numbers, objections) -> Highest:
    """The best of some arms, given their scores and, in order, their numbers."""
    # What is not to be chosen is lower than any score, also than one that is −∞.
    rated = jnp.maximum(jnp.where(jnp.isnan(values), -jnp.inf, values), _LOWEST)
    at = jnp.argmax(jnp.where(objections > jnp.min(objections), -jnp.inf, rated))
    return Highest(numbers[at], values[at], objections[at], ~jnp.any(jnp.isnan(values)))


def objections(
    arms: Float[Array, "m d"],
    avoid: Float[Array, "p d"] | None,
    among: Bool[Array, " m"] | None,
) -> Int[Array, " m"]:
    """How many of the points to avoid each arm is; what is not available is avoided most of all."""
    return _objections(arms, _counting(avoid), among)


def _objections(arms, times: Callable[[Array], Array], among) -> Int[Array, " m"]:
    found = times(arms)
    return found if among is None else jnp.where(among, found, _MOST)


def _counting(points: Float[Array, "p d"] | None) -> Callable[[Array], Array]:
    """A function that counts how many of some points each arm is."""
    if points is None:
        return lambda arms: jnp.zeros(arms.shape[0], jnp.int32)
    if len(points) > _COMPARED:
        # Mostly there are none: what is no point need not be sorted.
        none = jnp.all(jnp.isnan(points[:, 0]))
        blank = jax.tree.map(jnp.asarray, Lookup.nothing(*points.shape))
        lookup = jax.lax.cond(none, lambda: blank, lambda: Lookup.of(points))
        return lambda arms: in_blocks(lookup.times, arms, arms.shape[1])

    def times(arms):
        return jnp.sum(same_points(points, arms), axis=0)

    return lambda arms: in_blocks(times, arms, points.size).astype(jnp.int32)


def _ceilings(score: Score, arms, glance: Glance) -> Float[Array, " m"] | None:
    """What no score exceeds; ∞ where nobody knows."""
    rows = glance.x.shape[-1]
    starts = Glance.starts(arms.shape[0], rows)

    def look(block):
        at, x = block
        points = jax.lax.dynamic_slice_in_dim(arms, at, rows)
        return score.ceiling(points, Glance(x, glance.reach))

    found = jax.lax.map(look, (starts, glance.x))
    if found is None:
        return None
    overlap = len(starts) * rows - arms.shape[0]
    found = jnp.concatenate([found[:-1].reshape(-1), found[-1, overlap:]])
    return jnp.where(jnp.isnan(found), jnp.inf, found)


def _best_first(score: Score, arms, ceilings, times, among) -> Highest:
    among = jnp.ones(arms.shape[0], bool) if among is None else jnp.asarray(among)
    # Single precision is sorted sooner. Measured from the highest down and rounded upwards, the
    # ceilings that matter keep nearly all their digits.
    finite = jnp.isfinite(ceilings)
    top = jnp.max(jnp.where(finite, ceilings, -jnp.inf), initial=-jnp.inf)
    top = jnp.where(jnp.any(finite), top, 0.0)
    depth = jnp.max(jnp.where(finite, top - ceilings, 0.0))
    depth = jnp.where(depth > 0, depth, 1.0)
    heights = jnp.maximum((ceilings - top) / depth, -1.0).astype(jnp.float32)
    heights = jnp.where(among, jnp.nextafter(heights, np.float32(np.inf)), -jnp.inf)

    def undecided(carry):
        best, heights = carry
        left = jnp.max(heights)
        may_win = (left >= (best.score - top) / depth) | (best.objections > 0)
        return best.valid & may_win & (left > -jnp.inf)

    def searched(carry, size, turns):
        """After so many turns at the most, each with the highest ceilings that are left."""

        def step(state):
            (best, heights), turn = state
            numbers = jnp.sort(_leaders(heights, min(size, arms.shape[0])))
            x = arms[numbers]
            found = _best(score(x), numbers, _objections(x, times, among[numbers]))
            return (better(best, found), heights.at[numbers].set(-jnp.inf)), turn + 1

        def unfinished(state):
            return undecided(state[0]) & (state[1] < turns)

        return jax.lax.while_loop(unfinished, step, (carry, jnp.int32(0)))[0]

    nothing = Highest(
        jnp.int32(_MOST), jnp.asarray(-jnp.inf, arms.dtype), jnp.int32(_MOST), jnp.asarray(True)
    )
    carry = (nothing, heights)
    if not on_accelerator():
        carry = searched(carry, _FEW, _TURNS)
    return searched(carry, _MANY, arms.shape[0])[0]


def _leaders(heights: Float[Array, " m"], size: int) -> Int[Array, " size"]:
    """So many different arms, the highest among them; as far as it is soon said, the highest.

    On an accelerator, which sorts slowly, the highest of every ``size``-th arm: neighbours in a
    list, which are often alike, are in different groups.
    """
    if not on_accelerator():
        return jax.lax.top_k(heights, size)[1]
    rounds = -(-len(heights) // size)
    groups = jnp.pad(heights, (0, rounds * size - len(heights)), constant_values=-jnp.inf)
    # The first row has no padding, and is what counts where a group has nothing left.
    rows = jnp.argmax(groups.reshape(rounds, size), axis=0).astype(jnp.int32)
    return rows * size + jnp.arange(size, dtype=jnp.int32)


def better(one: Highest, other: Highest) -> Highest:
    """The better of two, the first of equals; valid if both are."""
    same = one.objections == other.objections
    equal = same & (one.score == other.score)
    ahead = (other.objections < one.objections) | (same & (other.score > one.score))
    ahead = ahead | (equal & (other.arm < one.arm))
    best = jax.tree.map(lambda new, old: jnp.where(ahead, new, old), other, one)
    return dataclasses.replace(best, valid=one.valid & other.valid)
