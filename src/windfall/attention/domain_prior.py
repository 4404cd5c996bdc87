"""Input densities over a domain: checked, scaled to mean 1, and as functions in compiled code."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.tree_util import Partial
from jaxtyping import Float

from windfall.attention.prior import LogDensity, module_of
from windfall.errors import InputError
from windfall.naming import name_of
from windfall.runtime.arrays import Array
from windfall.runtime.modules import Module

__all__ = [
    "Conditional",
    "Relative",
    "Tabulated",
    "check_traceable",
    "check_weights",
    "prior_over",
    "prior_values",
]


class Relative(Module):
    """A prior inside compiled code, scaled to mean 1 over the domain.

    Attributes:
        prior: A function of features in the user's units.
        units: The way there from points of the unit box.
        shift: Subtracted from a log density.
        total: The mean over the domain.
    """

    prior: Callable = eqx.field(static=True)
    units: Any
    shift: Float[Array, ""]
    total: Float[Array, ""]

    def __call__(self, x: Float[Array, "m d"]) -> Float[Array, " m"]:
        """The density at points of the unit box."""
        return jnp.asarray(_shifted(self.prior, self.units(x), self.shift)) / self.total


class Conditional(Module):
    """p_x(x | z) before the context is known.

    Attributes:
        prior: A function of features and then the context, in the user's units.
        units: The way there from points of the unit box and the columns of a context.
    """

    prior: Callable = eqx.field(static=True)
    units: Any

    def at(self, context: Float[Array, " c"], points: Float[Array, "n d"]) -> Relative:
        """The density in a context, with mean 1 over these points; 0 if it is 0 at all of them."""
        units = Partial(_beside, self.units, context)
        x = units(points)
        log = self.prior.log if isinstance(self.prior, LogDensity) else None
        shift = jnp.zeros(()) if log is None else jnp.max(log(x))
        total = jnp.mean(jnp.asarray(_shifted(self.prior, x, shift)))
        return Relative(self.prior, units, shift, jnp.where(total > 0, total, 1.0))


def _beside(units, context, x):
    return units(x, context)


class Tabulated(Module):
    """A density that is known at listed points only, looked up inside compiled code.

    Points are told apart by a fixed projection onto a line: a sorted list there answers in
    O(log n), and a copy of a listed point finds it whatever the rounding.

    Example:
        >>> import numpy as np
        >>> table = Tabulated.of(np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([0.5, 1.5]))
        >>> table(np.array([[1.0, 0.0], [0.0, 1.0]])).tolist()
        [1.5, 0.5]
    """

    direction: Float[Array, " d"]
    places: Float[Array, " n"]
    values: Float[Array, " n"]

    @classmethod
    def of(cls, points: np.ndarray, values: np.ndarray) -> "Tabulated":
        """The densities of some points of the unit box."""
        direction = np.random.default_rng(0).normal(size=points.shape[1])
        places = points @ direction
        order = np.argsort(places, kind="stable")
        return cls(direction, places[order], np.asarray(values, float)[order])

    def __call__(self, x: Float[Array, "m d"]) -> Float[Array, " m"]:
        """The density of the listed point that each point is a copy of."""
        place, places = jnp.asarray(x) @ self.direction, jnp.asarray(self.places)
        after = jnp.clip(jnp.searchsorted(places, place), 1, places.shape[0] - 1)
        nearer = place - places[after - 1] <= places[after] - place
        return jnp.asarray(self.values)[jnp.where(nearer, after - 1, after)]


def prior_values(
    prior: Callable | None, points: np.ndarray, arms: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """p_x at a domain's points and at the arms, all in the user's units; ``None`` is uniform.

    One scale serves both, mean 1 over the domain, so that a point counts the same wherever it is
    listed.
    """
    if prior is None:
        return np.ones(len(points)), np.ones(len(arms))
    shift = _highest(prior, points)
    at_points, at_arms = (_densities(prior, x, shift) for x in (points, arms))
    return at_points / at_points.mean(), at_arms / at_points.mean()


def prior_over(prior: Callable, points: np.ndarray, units: Any) -> tuple[np.ndarray, Relative]:
    """p_x at a domain's points in the user's units, and as a function of any unit points."""
    shift = _highest(prior, points)
    values = _densities(prior, points, shift)
    return values / values.mean(), Relative(
        prior, units, np.float64(shift), np.float64(values.mean())
    )


def check_traceable(density: Relative | Conditional, columns: list[int], otherwise: str) -> None:
    """A prior that compiled code computes must be written in JAX.

    Args:
        density: Its prior, and the units that it sees.
        columns: Of the unit box; then of a context, if it depends on one.
        otherwise: Why it must be, and what else would do.
    """

    def values(*x):
        return jnp.asarray(density.prior(density.units(*x)))

    like = [jax.ShapeDtypeStruct(s, jnp.float64) for s in ((3, columns[0]), *zip(columns[1:]))]
    try:
        with jax.enable_x64(True):
            found = jax.eval_shape(values, *like).shape
    except Exception as error:
        raise InputError(
            f"prior {name_of(density.prior)} cannot be traced by JAX, which {otherwise}"
        ) from error
    if found != (3,):
        raise InputError(f"prior returned shape {found} for 3 points; expected one density each")


def check_weights(weights: Any, arms: int) -> np.ndarray:
    """One weight per arm, scaled to mean 1."""
    values = np.asarray(weights, float)
    if values.shape != (arms,):
        raise InputError(
            f"prior has shape {values.shape}; expected one weight for each of {arms} arms"
        )
    return _checked(values) / values.mean()


def _highest(prior: Callable, x: np.ndarray) -> float:
    """What to subtract from a log density so that its exponential neither over- nor underflows."""
    if not isinstance(prior, LogDensity):
        return 0.0
    with jax.enable_x64(True):
        logs = np.asarray(prior.log(x), float)
    if np.isnan(logs).any() or (logs == np.inf).any() or not np.isfinite(logs).any():
        raise InputError(f"{prior!r} is NaN, +inf or -inf everywhere; expected finite numbers")
    return float(logs.max())


def _shifted(prior: Callable, x: Any, shift: Any) -> Any:
    if isinstance(prior, LogDensity):
        return module_of(x).exp(prior.log(x) - shift)
    return prior(x)


def _densities(prior: Callable, x: np.ndarray, shift: float) -> np.ndarray:
    with jax.enable_x64(True):  # where the user's function computes in JAX
        values = np.asarray(_shifted(prior, x, shift), float)
    if values.shape != (len(x),):
        raise InputError(
            f"prior returned shape {values.shape} for {len(x)} points; expected one density each"
        )
    return _checked(values)


def _checked(values: np.ndarray) -> np.ndarray:
    bad = ~np.isfinite(values) | (values < 0)
    if bad.any():
        i = int(np.argmax(bad))
        raise InputError(f"prior is {values[i]} at point {i}; expected finite densities >= 0")
    if not values.any():
        raise InputError("prior is 0 everywhere; expected some positive density")
    return values
