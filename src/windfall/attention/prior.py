"""Input densities p_x: which inputs matter before any reward is seen.

A prior is a function of an (m, d) array of features in the user's units (a choice by its number)
that gives m densities, up to a common factor. On a space with logarithmic scales it is relative to
the space's own uniform distribution: a constant is log-uniform there.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np

from windfall.checks import numbers_or_none, shown
from windfall.errors import InputError
from windfall.naming import name_of
from windfall.runtime.given import Numbers

__all__ = [
    "Gaussian",
    "InContext",
    "Independent",
    "LogDensity",
    "as_prior",
    "gaussian",
    "independent",
    "module_of",
]


@dataclass(frozen=True)
class Gaussian:
    """An independent Gaussian density over the features, up to a constant."""

    mean: tuple[float, ...]
    deviation: tuple[float, ...]

    def __call__(self, x: Any) -> Any:
        """The density at each row of ``x``."""
        _check_features("a Gaussian", len(self.mean), x, "one mean and deviation per feature")
        xp = module_of(x)
        errors = (x - np.asarray(self.mean)) / np.asarray(self.deviation)
        return xp.exp(-0.5 * xp.sum(errors**2, axis=-1))

    @classmethod
    def from_spec_arguments(cls, mean: Numbers, deviation: Numbers) -> "Gaussian":
        return gaussian(mean, deviation)


def gaussian(mean: Numbers, deviation: Numbers) -> Gaussian:
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
        density = module_of(x).ones(x.shape[:-1])
        for i, marginal in enumerate(self.marginals):
            if isinstance(marginal, tuple):  # weights, one for each choice
                _check_choices(i, len(marginal), x)
                number = module_of(x).round(x[..., i]).astype(int)
                density = density * module_of(x).asarray(marginal)[number]
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
        return module_of(x).exp(self.log(x))

    def __repr__(self) -> str:
        return f"LogDensity({name_of(self.log)})"


@dataclass(frozen=True)
class InContext:
    """p_x(x | z): which inputs matter in a context.

    A density of arrays whose columns are the features and then the numbers of the context, in the
    user's units: any other prior, or a function that JAX can trace.

    Example:
        >>> import jax.numpy as jnp
        >>> near = InContext(lambda x: jnp.exp(-jnp.abs(x[:, 0] - x[:, 1])))
    """

    density: Any  # a function, checked

    def __post_init__(self):
        if not callable(self.density) or isinstance(self.density, InContext):
            raise InputError(
                f"density is {self.density!r}; expected a function of features and context"
            )

    def __call__(self, x: Any) -> Any:
        """The density at each row of ``x``, features and context."""
        return self.density(x)

    def __repr__(self) -> str:
        return f"InContext({name_of(self.density)})"


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


def _check_features(what: str, expected: int, x: Any, remedy: str) -> None:
    if x.shape[-1] != expected:
        raise InputError(
            f"prior is {what} over {expected} features; expected {remedy}, and the arms have "
            f"{x.shape[-1]}"
        )


def module_of(x: Any) -> Any:
    """NumPy on the host, JAX inside compiled code."""
    return np if isinstance(x, np.ndarray) else jnp
