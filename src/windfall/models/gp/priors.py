"""What is known of the hyper-parameters before the first reward, by name.

All densities are those of log θ, because searches and samplers run over logarithms: the most
probable value does then not depend on whether one thinks of a length or of its square.
"""

from abc import abstractmethod
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from windfall.checks import numbers_or_none, shown
from windfall.errors import InputError
from windfall.models.gp.evidence import Hyper
from windfall.models.gp.parameters import named
from windfall.runtime.arrays import Array
from windfall.runtime.modules import Module
from windfall.specs import by_name

__all__ = ["DimensionPrior", "GammaPrior", "LogNormalPrior", "Prior", "usual_prior"]


class Prior(Module):
    """Independent priors of named hyper-parameters, each given by two positive numbers."""

    terms: dict[str, tuple[float, float]]

    @abstractmethod
    def log_density(self, value: Float[Array, "..."], first: float, second: float) -> Array:
        """The log density of log θ at θ = ``value``, up to a constant."""

    def spread(self, first: float, second: float) -> float:
        """How far log θ is expected from its most probable value; 1, a factor of e, if unknown."""
        del first, second
        return 1.0

    def spreads(self, hyper: Hyper) -> Float[np.ndarray, " p"]:
        """That of every entry of the parameter vector; 1 for names without a prior."""
        each = (
            np.full(np.size(leaf), self.spread(*self.terms[name]) if name in self.terms else 1.0)
            for name, leaf in named(hyper)
        )
        return np.concatenate(list(each))

    def __call__(self, hyper: Hyper) -> Float[Array, ""]:
        """The log density of all hyper-parameters that it knows, up to a constant."""
        total = jnp.zeros(())
        for name, value in named(hyper):
            if name in self.terms:
                total += jnp.sum(self.log_density(value, *self.terms[name]))
        return total

    def check(self, *hypers: Hyper) -> None:
        """Refuse a name that none of a model's kernels has."""
        known = {name: None for hyper in hypers for name, _ in named(hyper)}
        unknown = sorted(self.terms.keys() - known)
        if unknown:
            raise InputError(
                f"prior has {unknown}; expected names of hyper-parameters: {', '.join(known)}"
            )

    def spec_arguments(self) -> dict[str, Any]:
        """For specs: not the constructor's arguments, since those have the user's names."""
        return {"terms": self.terms}

    @classmethod
    def from_spec_arguments(cls, terms: Any) -> "Prior":
        return cls(**by_name("terms", terms))

    def __repr__(self) -> str:
        """The expression that makes this prior again."""
        inside = ", ".join(f"{name}=({a}, {b})" for name, (a, b) in self.terms.items())
        return f"{type(self).__name__}({inside})"


class LogNormalPrior(Prior):
    """``name=(median, spread)``: log θ ~ N(log median, spread²).

    Example:
        >>> LogNormalPrior(lengthscale=(0.3, 0.7))
        LogNormalPrior(lengthscale=(0.3, 0.7))
    """

    def __init__(self, **terms: Any):
        """``name=(median, spread)`` for each hyper-parameter that has a prior."""
        self.terms = _checked(terms, "(median, spread), both positive")

    def log_density(self, value, first, second):
        """−½ ((log θ − log median)/spread)²."""
        return -0.5 * ((jnp.log(value) - jnp.log(first)) / second) ** 2

    def spread(self, first, second):
        """The standard deviation."""
        del first
        return second


class DimensionPrior(LogNormalPrior):
    """The same, but a parameter with d entries, one per feature, has the median √d · median.

    Distances between points of the unit box grow like √d: with one prior for all d, every arm of a
    list with many features would be a stranger to every other (Hvarfner et al. 2024).

    Example:
        >>> prior = DimensionPrior(lengthscale=(0.3, 1.0))
        >>> bool((prior.log_density(np.full(4, 0.6), 0.3, 1.0) == 0.0).all())
        True
    """

    def __init__(self, **terms: Any):
        """``name=(median, spread)``, the median for one feature."""
        super().__init__(**terms)

    def log_density(self, value, first, second):
        """−½ ((log θ − log(√d median))/spread)²."""
        return super().log_density(value, first * np.sqrt(np.size(value)), second)


class GammaPrior(Prior):
    """``name=(shape, rate)``: θ ~ Gamma with mean shape/rate, which is also its peak over log θ.

    Example:
        >>> GammaPrior(lengthscale=(3.0, 6.0))
        GammaPrior(lengthscale=(3.0, 6.0))
    """

    def __init__(self, **terms: Any):
        """``name=(shape, rate)`` for each hyper-parameter that has a prior."""
        self.terms = _checked(terms, "(shape, rate), both positive")

    def log_density(self, value, first, second):
        """shape·log θ − rate·θ."""
        return first * jnp.log(value) - second * value

    def spread(self, first, second):
        """1/√shape, by the curvature at the peak."""
        del second
        return first**-0.5


#: Weak: on the unit box and standardised rewards, 95 % of each lie within a factor e^(2·spread).
_USUAL = {
    "lengthscale": (0.5, 1.0),
    "variance": (1.0, 1.0),
    "noise": (1e-4, 3.0),
    "alpha": (1.0, 1.0),
    "period": (0.5, 1.0),
}


def usual_prior(hyper: Hyper) -> LogNormalPrior:
    """A weak prior of whatever these hyper-parameters are; log-uniform for names of a user's own.

    Example:
        >>> from windfall.models.gp.kernels import Constant
        >>> usual_prior(Hyper(Constant(1.0), np.float64(0.1)))
        LogNormalPrior(variance=(1.0, 1.0), noise=(0.0001, 3.0))
    """
    return LogNormalPrior(**{name: _USUAL[name] for name, _ in named(hyper) if name in _USUAL})


def _checked(terms: dict[str, Any], wanted: str) -> dict[str, tuple[float, float]]:
    checked = {}
    for name, term in terms.items():
        pair = numbers_or_none(term)
        if pair is None or pair.shape != (2,) or np.any(pair <= 0):
            raise InputError(f"prior {name} is {shown(term)}; expected {wanted}")
        checked[name] = (float(pair[0]), float(pair[1]))
    return checked
