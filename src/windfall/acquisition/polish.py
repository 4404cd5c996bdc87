"""Searches uphill in the unit box, from several starts at once, and how near to a peak they end.

Quasi-Newton steps go in the angle u with x = (1 − cos πu)/2. The angle knows no bounds, and a
maximum at the edge of the box is an ordinary stationary point. Whole numbers and choices stay.

Constraints g ≥ 0 enter by an augmented Lagrangian, L = −a + Σ (ρ/2) max(0, λ/ρ − g)², whose
multipliers λ are updated between searches; an end that still breaks a constraint is moved back on
the line to its start, which breaks none.

The host drives, and two things are compiled (``Surface``): the score of many points, and the loop
of a climb. The score is traced once in each.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int

from windfall.acquisition.region import Region
from windfall.models.gp.bfgs import minimise
from windfall.runtime.arrays import Array
from windfall.runtime.programs import program

__all__ = ["LANES", "Climb", "Scored", "Surface", "ending", "polish"]

#: The score of points. A pytree, so that another round's numbers do not make another program.
Scored = Callable[[Float[Array, "m c"]], Float[Array, " m"]]

#: Climbs at once.
LANES = 16
#: Points are looked at in blocks of so many rows.
_BLOCK = 256
#: Starts keep off the edge, where the score does not change with the angle.
_OFF_EDGE = 0.02
_EVALUATIONS = 80
_MULTIPLIER_ROUNDS, _PENALTY = 6, 100.0
#: The way back to a start is searched by so many points at once, so many times: to 2⁻⁴⁰ of it.
_STEPS_BACK, _LOOKS_BACK = 32, 8
#: A constraint counts as active this near to where it breaks, in units of the box.
_ACTIVE = 1e-6


class Climb(NamedTuple):
    """Where climbs ended: angles, and there the score's gradient and the constraints' slopes."""

    angle: Float[Array, "l c"]
    evaluations: Int[Array, " l"]
    gradient: Float[Array, "l c"]
    slack: Float[Array, "l k"]
    normals: Float[Array, "l k c"]


class Surface:
    """A score over a region as the host sees it: compiled programs for points and for climbs."""

    def __init__(self, score: Scored, region: Region, starts: Float[np.ndarray, "s c"], room: int):
        """For at most as many points at once as there are starts and so many more.

        Args:
            score: Of points.
            region: Which points exist and are allowed.
            starts: Points that fill it.
            room: Further points.
        """
        self.score, self.region, self.starts = score, region, starts
        self._rows = -(-(len(starts) + room) // _BLOCK) * _BLOCK
        self._lines = max(len(starts), LANES * _STEPS_BACK)

    def looked_at(self, points: Float[np.ndarray, "m c"]) -> list[np.ndarray]:
        """The scores of points, and whether they are allowed."""
        filled = np.zeros((self._rows, points.shape[1]))
        filled[: len(points)] = points
        columns = _scores(self.score, self.region, filled, np.int32(len(points)))
        return [np.asarray(column)[: len(points)] for column in columns]

    def scores(self, points: Float[np.ndarray, "m c"]) -> Float[np.ndarray, " m"]:
        """Scores to compare by: no NaN, and points that are not allowed come last."""
        score, allowed = self.looked_at(points)
        return np.where(np.isfinite(score) & allowed, score, -np.inf)

    def climb(self, scale, starts, angles, multipliers, evaluations: int) -> Climb:
        """Climbs from these starts, each under multipliers of its own."""
        units = scale, self._slack_size
        return jax.tree.map(
            np.asarray,
            _climb(self.score, self.region, units, starts, angles, multipliers,
                   np.int32(evaluations)),
        )  # fmt: skip

    @cached_property
    def _slack_size(self) -> Float[np.ndarray, " k"]:
        """The size of each constraint over the box: climbs see them in this unit."""
        if not self.region.constraints:
            return np.zeros(0)
        filled = np.resize(self.starts, (self._lines, self.starts.shape[1]))
        size = np.max(np.abs(np.asarray(_slack(self.region, filled))), axis=0)
        return np.where(np.isfinite(size) & (size > 0), size, 1.0)

    def feasible(self, points: Float[np.ndarray, "m c"]) -> Bool[np.ndarray, " m"]:
        """Which of the points on the way back to starts keep to all constraints."""
        filled = np.resize(points, (self._lines, points.shape[1]))
        return np.all(np.asarray(_slack(self.region, filled)) >= 0, axis=1)[: len(points)]


@program
def _scores(score: Any, region: Region, points, count):
    """Of the first ``count`` points, and whether they are allowed; the others get any numbers."""

    def block(i):
        rows = jax.lax.dynamic_slice_in_dim(points, i * _BLOCK, _BLOCK)
        return score(rows), region.feasible(rows)

    def fill(i, columns):
        return jax.tree.map(
            lambda column, part: jax.lax.dynamic_update_slice_in_dim(column, part, i * _BLOCK, 0),
            columns,
            block(i),
        )

    shapes = jax.eval_shape(block, 0)
    empty = jax.tree.map(lambda s: jnp.zeros(points.shape[0], s.dtype), shapes)
    return jax.lax.fori_loop(0, -(-count // _BLOCK), fill, empty)


@program
def _slack(region: Region, points):
    return jax.vmap(region.slack)(points)


@program
def _climb(score: Any, region: Region, units, starts, angles, multipliers, evaluations) -> Climb:
    """All lanes at once: a score is made of matrix products, which may be batched everywhere."""
    scale, slack_size = units
    free = region.free

    def lane(start, angle, multipliers):
        def slope(angle):
            x = jnp.where(free, 0.5 * (1.0 - jnp.cos(jnp.pi * angle)), start)
            value, gradient = jax.value_and_grad(lambda x: score(x[None])[0])(x)
            slack, normals = _sloped_slack(region, slack_size, x)
            excess = jnp.maximum(0.0, multipliers / _PENALTY - slack)
            loss = -value / scale + 0.5 * _PENALTY * jnp.sum(excess**2)
            downhill = -gradient / scale - _PENALTY * excess @ normals
            turn = jnp.where(free, 0.5 * jnp.pi * jnp.sin(jnp.pi * angle), 0.0)
            return loss, downhill * turn, gradient, slack, normals

        k, c = multipliers.shape[0], angle.shape[0]
        return minimise(
            slope, angle, evaluations=evaluations, gradient_tolerance=1e-7, value_tolerance=1e-12,
            besides=tuple(jnp.zeros(shape, angle.dtype) for shape in ((c,), (k,), (k, c))),
        )  # fmt: skip

    end = jax.vmap(lane)(starts, angles, multipliers)
    return Climb(end.x, end.evaluations, *end.besides)


def _sloped_slack(region: Region, size, x):
    """The constraints in units of their size, and their derivatives."""
    if not region.constraints:
        return jnp.zeros(0, x.dtype), jnp.zeros((0, x.shape[0]), x.dtype)
    slack, pull = jax.vjp(lambda x: region.slack(x) / size, x)
    return slack, jax.vmap(lambda row: pull(row)[0])(jnp.eye(slack.shape[0], dtype=x.dtype))


def _angle(x: np.ndarray) -> np.ndarray:
    return np.arccos(1.0 - 2.0 * np.clip(x, 0.0, 1.0)) / np.pi


def polish(surface: Surface, scale: float, starts: Float[np.ndarray, "l c"]):
    """Where searches uphill from each start end, and how many points they scored."""
    region = surface.region
    if not np.any(region.free):
        return starts, 0
    count = len(starts)
    starts = starts[np.minimum(np.arange(LANES), count - 1)]  # always so many lanes
    angle = np.clip(_angle(starts), _OFF_EDGE, 1.0 - _OFF_EDGE)
    multipliers = np.zeros((LANES, len(region.constraints)))
    spent = 0
    for _ in range(_MULTIPLIER_ROUNDS if region.constraints else 1):
        end = surface.climb(scale, starts, angle, multipliers, _EVALUATIONS)
        angle = end.angle
        multipliers = np.maximum(0.0, multipliers - _PENALTY * end.slack)
        spent += int(np.sum(end.evaluations[:count]))
    ends = np.where(region.free, 0.5 * (1.0 - np.cos(np.pi * angle)), starts)
    if region.constraints:
        ends = _back(surface, starts, ends)
    return ends[:count], spent


def _back(surface: Surface, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Ends that are allowed, else the last allowed points found on the way from their starts."""
    good = surface.feasible(ends)
    if np.all(good):
        return ends
    steps = np.arange(1, _STEPS_BACK + 1) / _STEPS_BACK
    low, width = np.zeros(len(starts)), 1.0
    for _ in range(_LOOKS_BACK):
        way = low[:, None] + width * steps
        lines = starts[:, None] + way[:, :, None] * (ends - starts)[:, None]
        allowed = surface.feasible(lines.reshape(-1, starts.shape[1])).reshape(way.shape)
        # Up to the first step that is not allowed; behind the last that is, the search goes on.
        low = low + width / _STEPS_BACK * np.sum(np.cumprod(allowed, axis=1), axis=1)
        width /= _STEPS_BACK
    return np.where(good[:, None], ends, starts + low[:, None] * (ends - starts))


def ending(surface: Surface, x: Float[np.ndarray, " c"]) -> float:
    """The length of the score's gradient at the end, less what edges and constraints take."""
    from scipy.optimize import nnls  # slow to import, and not needed where there is a list

    region = surface.region
    if not np.any(region.free):
        return 0.0
    lanes = np.tile(x, (LANES, 1))
    none = np.zeros((LANES, len(region.constraints)))
    end = surface.climb(np.float64(1.0), lanes, _angle(lanes), none, 1)
    gradient = np.where(region.free, end.gradient[0], 0.0)
    eye = np.eye(len(x))[region.free]
    normals = np.concatenate([np.where(region.free, end.normals[0], 0.0), eye, -eye])
    room = np.concatenate([end.slack[0], x[region.free], 1.0 - x[region.free]])
    length = np.linalg.norm(normals, axis=1)
    active = normals[(room <= _ACTIVE * length) & (length > 0)]
    if not len(active) or not np.all(np.isfinite(gradient)):
        return float(np.linalg.norm(gradient))
    return float(nnls(active.T, -gradient)[1])
