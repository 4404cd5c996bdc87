"""Searches uphill in the unit box, from several starts at once, and how near to a peak they end.

Quasi-Newton steps go in the angle u with x = (1 − cos πu)/2. The angle knows no bounds, and a
maximum at the edge of the box is an ordinary stationary point. Whole numbers and choices stay.

Constraints g ≥ 0 enter by an augmented Lagrangian, L = −a + Σ (ρ/2) max(0, λ/ρ − g)², whose
multipliers λ are updated between searches; an end that still breaks a constraint is moved back on
the line to its start, which breaks none.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Float

from windfall.acquisition.region import Region
from windfall.models.gp.bfgs import minimise
from windfall.runtime.arrays import Array

__all__ = ["Value", "ending", "polish", "scaled_slack"]

Value = Callable[[Float[Array, "m c"]], Float[Array, " m"]]

#: Starts keep off the edge, where the score does not change with the angle.
_OFF_EDGE = 0.02
_EVALUATIONS = 80
_MULTIPLIER_ROUNDS, _PENALTY = 6, 100.0
_BISECTIONS = 40
#: A constraint counts as active this near to where it breaks, in units of the box.
_ACTIVE = 1e-6


def _point(angle):
    return 0.5 * (1.0 - jnp.cos(jnp.pi * angle))


def _angle(x):
    return jnp.clip(jnp.arccos(1.0 - 2.0 * x) / jnp.pi, _OFF_EDGE, 1.0 - _OFF_EDGE)


def scaled_slack(region: Region, starts) -> Callable[[Array], Array]:
    """The constraints in units of their own size over the box."""
    if not region.constraints:
        return lambda x: jnp.zeros(0, x.dtype)
    size = jnp.max(jnp.abs(jax.vmap(region.slack)(starts)), axis=0)
    size = jnp.where(jnp.isfinite(size) & (size > 0), size, 1.0)
    return lambda x: region.slack(x) / size


def polish(value: Value, region: Region, slack, scale, starts: Float[Array, "l c"]):
    """Where searches uphill from each start end, and how many points they scored.

    All lanes at once: a score is made of matrix products, which may be batched on every device.
    """

    def at(start, angle):
        return jnp.where(region.free, _point(angle), start)

    def search(start, angle, multipliers):
        def objective(angle):
            x = at(start, angle)
            excess = jnp.maximum(0.0, multipliers / _PENALTY - slack(x))
            return -value(x[None])[0] / scale + 0.5 * _PENALTY * jnp.sum(excess**2)

        return minimise(
            jax.value_and_grad(objective), angle,
            evaluations=_EVALUATIONS, gradient_tolerance=1e-7, value_tolerance=1e-12,
        )  # fmt: skip

    def lane(start):
        none = jnp.zeros(len(region.constraints), start.dtype)
        if not region.constraints:
            end = search(start, _angle(start), none)
            return at(start, end.x), end.evaluations

        def improve(_, carry):
            angle, multipliers, evaluations = carry
            end = search(start, angle, multipliers)
            multipliers = jnp.maximum(0.0, multipliers - _PENALTY * slack(at(start, end.x)))
            return end.x, multipliers, evaluations + end.evaluations

        begin = (_angle(start), none, jnp.zeros((), jnp.int32))
        angle, _, evaluations = jax.lax.fori_loop(0, _MULTIPLIER_ROUNDS, improve, begin)
        return _back(region, start, at(start, angle)), evaluations

    return jax.vmap(lane)(starts)


def _back(region: Region, start, end):
    """The last allowed point found on the line from an allowed start to an end."""

    def allowed(t):
        return region.feasible((start + t * (end - start))[None])[0]

    def halve(_, bounds):
        low, high = bounds
        middle = 0.5 * (low + high)
        good = allowed(middle)
        return jnp.where(good, middle, low), jnp.where(good, high, middle)

    zero, one = jnp.zeros((), start.dtype), jnp.ones((), start.dtype)
    low, _ = jax.lax.fori_loop(0, _BISECTIONS, halve, (zero, one))
    return jnp.where(allowed(one), end, start + low * (end - start))


def ending(value: Value, region: Region, x):
    """The score at the end, and the length of its projected gradient."""
    found, gradient = jax.value_and_grad(lambda x: value(x[None])[0])(x)
    gradient = jnp.where(region.free, gradient, 0.0)
    if region.constraints:
        gradient = _without_constraints(region, x, gradient)
    outward = ((x <= 0) & (gradient < 0)) | ((x >= 1) & (gradient > 0))
    return found, jnp.linalg.norm(jnp.where(outward, 0.0, gradient))


def _without_constraints(region: Region, x, gradient):
    """A gradient less what active constraints and edges take, Σ λ normal with the best λ ≥ 0.

    Found by going through the normals again and again (coordinate descent): there are few.
    """
    eye = jnp.eye(x.shape[0], dtype=x.dtype)
    inward = jnp.where(region.free, jax.jacobian(region.slack)(x), 0.0)
    normals = jnp.concatenate([inward, eye, -eye])
    room = jnp.concatenate([region.slack(x), x, 1.0 - x])
    length = jnp.sum(normals**2, axis=1)
    active = (room <= _ACTIVE * jnp.sqrt(length)) & (length > 0)

    def improve(i, carry):
        i = i % normals.shape[0]
        left, weights = carry
        step = jnp.where(active[i], -left @ normals[i] / jnp.where(active[i], length[i], 1.0), 0.0)
        step = jnp.maximum(step, -weights[i])
        return left + step * normals[i], weights.at[i].add(step)

    start = gradient, jnp.zeros(normals.shape[0], x.dtype)
    return jax.lax.fori_loop(0, 100 * normals.shape[0], improve, start)[0]
