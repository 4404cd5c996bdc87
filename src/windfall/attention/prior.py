"""Input densities p_x: which inputs matter before any reward is seen.

A prior is a function of an (m, d) array of features in the user's units (a choice by its number)
that gives m densities, up to a common factor. On a space with logarithmic scales it is relative to
the space's own uniform distribution: a constant is log-uniform there.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from windfall.checks import numbers_or_none, shown
from windfall.errors import InputError
from windfall.naming import name_of
from windfall.runtime.arrays import Array

__all__ = [
    "Gaussian",
    "Independent",
    "LogDensity",
    "Relative",
    "Tabulated",
    "as_prior",
    "check_weights",
    "gaussian",
    "independent",
    "prior_over",
    "prior_values",
]


@dataclass(frozen=True)
class Gaussian:
    """An independent Gaussian density over the features, up to a constant."""

    mean: tuple[float, ...]
    deviation: tuple[float, ...]

    def __call__(self, x: Any) -> Any:
        """The density at each row of ``x``."""
        _check_features("a Gaussian", len(self.mean), x, "one mean and deviation per feature")
        xp = _module(x)
        errors = (x - np.asarray(self.mean)) / np.asarray(self.deviation)
        return xp.exp(-0.5 * xp.sum(errors**2, axis=-1))

    @classmethod
    def from_spec_arguments(cls, mean: Any, deviation: Any) -> "Gaussian":
        return gaussian(mean, deviation)


def gaussian(mean: Any, deviation: Any) -> Gaussian:
    """An independent Gaussian density over the features, up to a constant.

    Args:
        mean: One per feature, in the user's units.
        deviation: One per feature, or one for all.

    Example:
        >>> import numpy as np
        >>> gaussian([0.0], [1.0])(np.array([[0.0], [1.0]])).round(4).tolist()
        [1.0, 0.6065]
    """
    given = numbers_or_none(mean), numbers_or_none(deviation)
    centre, spread = (np.zeros(0) if a is None else np.atleast_1d(a) for a in given)
    fits = centre.size and centre.ndim == 1 and spread.shape in (centre.shape, (1,))
    if not fits or np.any(spread <= 0):
        raise InputError(
            f"prior has mean {shown(mean)} and deviation {shown(deviation)}; expected finite means "
            "and positive deviations, one per feature"
        )
    return Gaussian(tuple(centre.tolist()), tuple(np.broadcast_to(spread, centre.shape).tolist()))


@dataclass(frozen=True)
class Independent:
    """The product of one density per feature."""

    marginals: tuple[Any, ...]

    def __call__(self, x: Any) -> Any:
        """The density at each row of ``x``."""
        _check_features("independent marginals", len(self.marginals), x, "one for each feature")
        density = _module(x).ones(x.shape[:-1])
        for i, marginal in enumerate(self.marginals):
            if isinstance(marginal, tuple):  # weights, one for each choice
                _check_choices(i, len(marginal), x)
                number = _module(x).round(x[..., i]).astype(int)
                density = density * _module(x).asarray(marginal)[number]
            elif marginal is not None:
                at = x[..., i : i + 1] if isinstance(marginal, Gaussian) else x[..., i]
                density = density * marginal(at)
        return density

    @classmethod
    def from_spec_arguments(cls, marginals: Any) -> "Independent":
        return independent(marginals)

    def __repr__(self) -> str:
        return f"Independent(({', '.join(map(name_of, self.marginals))},))"


def independent(marginals: Any) -> Independent:
    """One density per feature, multiplied.

    Args:
        marginals: For each feature: None (uniform), ``gaussian(mean, deviation)``, a function that
            gives the densities of an array of values, or a list of weights for the choices of a
            ``Categorical``.

    Example:
        >>> import numpy as np
        >>> prior = independent([None, gaussian(0.0, 1.0), [1.0, 3.0]])
        >>> prior(np.array([[5.0, 1.0, 0.0], [5.0, 0.0, 1.0]])).round(4).tolist()
        [0.6065, 3.0]
    """
    if isinstance(marginals, str | dict) or not isinstance(marginals, Sequence) or not marginals:
        raise InputError(f"marginals is {marginals!r}; expected a list, one entry for each feature")
    return Independent(tuple(_marginal(i, m) for i, m in enumerate(marginals)))


def _check_choices(i: int, weights: int, x: Any) -> None:
    """Refuse features that no weight is given for, where their values are known."""
    if not isinstance(x, np.ndarray) or not x.size:
        return
    low, high = (round(edge(x[..., i])) for edge in (np.min, np.max))
    if low < 0 or high >= weights:
        raise InputError(
            f"marginal {i} has {weights} weights, for choices 0 to {weights - 1}; expected one for "
            f"each choice, and feature {i} goes from {low} to {high}"
        )


def _marginal(i: int, marginal: Any) -> Any:
    if isinstance(marginal, Gaussian) and len(marginal.mean) != 1:
        raise InputError(
            f"marginal {i} is a Gaussian over {len(marginal.mean)} features; expected 1"
        )
    if marginal is None or callable(marginal):
        return marginal
    weights = numbers_or_none(marginal)
    good = weights is not None and weights.ndim == 1 and weights.size > 1 and np.all(weights >= 0)
    if weights is None or not good or not weights.any():
        raise InputError(
            f"marginal {i} is {shown(marginal)}; expected None, gaussian(mean, deviation), a "
            "function or a list of weights"
        )
    return tuple(weights.tolist())


@dataclass(frozen=True)
class LogDensity:
    """A density given by its logarithm, up to a constant: nothing underflows.

    Example:
        >>> import jax.numpy as jnp
        >>> prior = LogDensity(lambda x: -1e4 * jnp.sum(x**2, axis=1))
    """

    log: Any  # a function, checked

    def __post_init__(self):
        if not callable(self.log):
            raise InputError(f"log density is {self.log!r}; expected a function of features")

    def __call__(self, x: Any) -> Any:
        """The density at each row of ``x``."""
        return _module(x).exp(self.log(x))

    def __repr__(self) -> str:
        return f"LogDensity({name_of(self.log)})"


class Relative(eqx.Module):
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


class Tabulated(eqx.Module):
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


def as_prior(prior: Any) -> Callable | np.ndarray | None:
    """A prior as users write it: None, a function of features, or weights as an array."""
    if prior is None or callable(prior):
        return prior
    weights = numbers_or_none(prior)
    if weights is None or weights.ndim == 0:
        raise InputError(
            f"prior is {shown(prior)}; expected None, a function of features or one finite weight "
            "per arm"
        )
    return weights


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


def check_traceable(density: Relative, columns: int) -> None:
    """A prior whose gradient is needed must be written in JAX."""
    try:
        with jax.enable_x64(True):
            jax.eval_shape(density, jax.ShapeDtypeStruct((1, columns), jnp.float64))
    except Exception as error:
        raise InputError(
            f"prior {name_of(density.prior)} cannot be traced by JAX, which components=0 needs on "
            "a box; write it with jax.numpy, or use a mixture (components=4)"
        ) from error


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
        return _module(x).exp(prior.log(x) - shift)
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


def _check_features(what: str, expected: int, x: Any, remedy: str) -> None:
    if x.shape[-1] != expected:
        raise InputError(
            f"prior is {what} over {expected} features; expected {remedy}, and the arms have "
            f"{x.shape[-1]}"
        )


def _module(x: Any) -> Any:
    """NumPy on the host, JAX inside compiled code."""
    return np if isinstance(x, np.ndarray) else jnp
