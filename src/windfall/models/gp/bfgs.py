"""Dense BFGS in one flat loop, made for objectives with a handful of parameters.

Every turn of the loop costs exactly one evaluation of the objective and its gradient: either the
trial point is accepted (Armijo) and the inverse Hessian updated, or the step is shortened. With no
inner line-search loop the program is small to compile, and under ``vmap`` no lane waits for the
line search of another. Non-finite values count as "worse", so that a failed Cholesky factor inside
the objective only shortens the step.
"""

import dataclasses
from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Bool, Float, Int

from windfall.runtime.arrays import Array
from windfall.runtime.modules import Module

__all__ = ["Solution", "minimise"]

_SUFFICIENT_DECREASE = 1e-4
_SHORTEST_STEP = 1e-10


class Solution(Module):
    """The best point found and how the search ended.

    ``before`` is the value of the point that was evaluated before the search; infinite if none was.
    """

    x: Float[Array, " p"]
    value: Float[Array, ""]
    gradient: Float[Array, " p"]
    besides: tuple[Array, ...]
    evaluations: Int[Array, ""]
    converged: Bool[Array, ""]
    before: Float[Array, ""]


class _Search(Module):
    x: Array
    value: Array
    gradient: Array
    besides: tuple[Array, ...]
    inverse_hessian: Array
    direction: Array
    step: Array
    evaluations: Array
    fresh: Array
    done: Array
    converged: Array
    before: Array


def minimise(
    value_and_gradient: Callable[[Array], tuple[Array, ...]],
    start: Float[Array, " p"],
    *,
    evaluations: int | Int[Array, ""] = 100,
    gradient_tolerance: float = 1e-4,
    value_tolerance: float = 1e-7,
    besides: tuple[Array, ...] = (),
    before: tuple[Float[Array, " p"], bool | Bool[Array, ""]] | None = None,
) -> Solution:
    """Minimise a smooth function from one start, within a number of evaluations.

    Args:
        value_and_gradient: The objective, returning its value and gradient, and whatever else is to
            be known of the best point.
        start: Where to begin.
        evaluations: The most evaluations to spend.
        gradient_tolerance: Converged when no partial derivative is larger.
        value_tolerance: Converged when a step improves the value by less, relatively.
        besides: What else the objective returns, for a search that evaluates nothing.
        before: Another point, and whether its value is to be known, too: of several searches side
            by side, each a lane of one program, one may have a point to compare itself with.

    Example:
        >>> import jax, jax.numpy as jnp
        >>> bowl = jax.value_and_grad(lambda x: jnp.sum((x - 1.0) ** 2))
        >>> minimise(bowl, jnp.zeros(2)).x
        Array([1., 1.], dtype=float32)
    """
    identity = jnp.eye(start.shape[0], dtype=start.dtype)
    none = jnp.zeros((), jnp.int32)

    def downhill(gradient):
        # The first step has no curvature to go by: move by one unit at most.
        return -gradient / jnp.maximum(1.0, jnp.linalg.norm(gradient))

    # The objective appears once in the program: the first turn "accepts" the start itself, reached
    # by a step of length zero from nowhere.
    nowhere = _Search(
        x=start,
        value=jnp.asarray(jnp.inf, start.dtype),
        gradient=jnp.zeros_like(start),
        besides=besides,
        inverse_hessian=identity,
        direction=jnp.zeros_like(start),
        step=jnp.ones((), start.dtype),
        evaluations=none if before is None else jnp.where(before[1], none - 1, none),
        fresh=jnp.asarray(True),
        done=jnp.asarray(False),
        converged=jnp.asarray(False),
        before=jnp.asarray(jnp.inf, start.dtype),
    )

    def advance(s: _Search) -> _Search:
        if before is None:
            return onwards(s, s.x + s.step * s.direction)[0]
        early = s.evaluations < 0
        trial = jnp.where(early, before[0], s.x + s.step * s.direction)
        after, value = onwards(s, trial)
        # The search itself has not begun.
        waiting = dataclasses.replace(s, evaluations=none, before=value)
        return jax.tree.map(lambda old, new: jnp.where(early, old, new), waiting, after)

    def onwards(s: _Search, trial: Array) -> tuple[_Search, Array]:
        """One turn, and the value of its point."""
        value, gradient, *also = value_and_gradient(trial)
        slope = jnp.dot(s.gradient, s.direction)
        finite = jnp.isfinite(value) & jnp.all(jnp.isfinite(gradient))
        accept = finite & (value <= s.value + _SUFFICIENT_DECREASE * s.step * slope)

        inverse_hessian, informed = _update(
            s.inverse_hessian, s.step * s.direction, gradient - s.gradient, s.fresh
        )
        fresh = s.fresh & ~informed
        direction = -inverse_hessian @ gradient
        descends = ~fresh & (jnp.dot(direction, gradient) < 0)
        inverse_hessian = jnp.where(descends, inverse_hessian, identity)
        direction = jnp.where(descends, direction, downhill(gradient))

        # Minimum of the parabola through f(0), f'(0) and f(step), kept within [0.1, 0.5]·step.
        curvature = value - s.value - s.step * slope
        shorter = jnp.where(
            finite & (curvature > 0), -0.5 * slope * s.step**2 / curvature, 0.1 * s.step
        )
        shorter = jnp.clip(shorter, 0.1 * s.step, 0.5 * s.step)

        gain = s.value - value
        flat = jnp.max(jnp.abs(gradient)) <= gradient_tolerance
        settled = gain <= value_tolerance * jnp.maximum(1.0, jnp.abs(value))
        converged = accept & (flat | settled)
        hopeless = ~finite & (s.evaluations == 0)
        stuck = ~accept & (shorter < _SHORTEST_STEP)

        def keep(new, old):
            return jnp.where(accept, new, old)

        after = _Search(
            keep(trial, s.x),
            keep(value, s.value),
            keep(gradient, s.gradient),
            jax.tree.map(keep, tuple(also), s.besides),
            keep(inverse_hessian, s.inverse_hessian),
            keep(direction, s.direction),
            jnp.where(accept, 1.0, shorter),
            s.evaluations + 1,
            jnp.where(accept, ~descends, s.fresh),
            converged | stuck | hopeless,
            converged,
            s.before,
        )
        return after, jnp.where(finite, value, jnp.inf)

    end = jax.lax.while_loop(lambda s: ~s.done & (s.evaluations < evaluations), advance, nowhere)
    found = end.x, end.value, end.gradient, end.besides, end.evaluations, end.converged
    return Solution(*found, end.before)


def _update(inverse_hessian, s, y, fresh):
    """BFGS update of the inverse Hessian; skipped where the curvature s·y is not positive."""
    curvature = jnp.dot(s, y)
    informed = curvature > 1e-12 * jnp.linalg.norm(s) * jnp.linalg.norm(y)
    rho = 1.0 / jnp.where(informed, curvature, 1.0)
    # The first update rescales the identity to the curvature just seen (Nocedal & Wright 6.20).
    base = (
        jnp.where(fresh & informed, curvature / jnp.where(informed, jnp.dot(y, y), 1.0), 1.0)
        * inverse_hessian
    )
    # (I − ρ s yᵀ) H (I − ρ y sᵀ) + ρ s sᵀ, multiplied out: one product of a matrix and a vector.
    turned = base @ y
    across = jnp.outer(s, turned)
    stretch = rho * (1.0 + rho * jnp.dot(y, turned))
    updated = base - rho * (across + across.T) + stretch * jnp.outer(s, s)
    return jnp.where(informed, updated, inverse_hessian), informed
