"""What payoffs are expected to be far from every reward: the mean function of the model.

- ``Zero``: the mean of the rewards, since they are standardised.
- ``Constant``, ``Linear``: a level, or a level and slopes, that the rewards have to tell. Their
  coefficients have a wide Gaussian prior β ~ N(0, deviation²), in units of the rewards' deviation,
  and are integrated out exactly: h(x)ᵀβ adds the kernel deviation²·h(x)ᵀh(x') to the model, which
  no fit touches. Predictions then carry the coefficients' uncertainty.
- a function of the features in the user's units, in reward units: what is known about the payoffs
  before the first reward. The model learns the difference.
"""

import dataclasses
from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Float

from windfall.checks import number
from windfall.errors import InputError
from windfall.models.gp import kernels
from windfall.models.gp.kernels import Kernel
from windfall.models.gp.observations import Observations
from windfall.models.units import user_units
from windfall.naming import name_of
from windfall.runtime.arrays import Array
from windfall.runtime.modules import Module

__all__ = ["Constant", "Function", "Linear", "Mean", "Zero", "as_mean"]

_WIDE = 10.0


class Mean(Module):
    """A mean function; this one expects nothing, and the others change what they need to."""

    def over(self, kernel: Kernel) -> Kernel:
        """The covariance of payoffs whose deviation from the mean function has ``kernel``."""
        return kernel

    def offset(self, x: Float[Array, "m d"]) -> Any:
        """The part that is known exactly, in reward units, at unit-box points."""
        del x
        return 0.0

    def residual(self, observations: Observations) -> Observations:
        """Observations in reward units without the part that is known exactly."""
        return observations

    def bound(self, space: Any) -> "Mean":
        """The same function on a study's space: done once, when the study starts."""
        del space
        return self


class Zero(Mean):
    """Zero on standardised rewards: far away the model expects the mean of the rewards.

    Example:
        >>> Zero()
        Zero()
    """

    def __repr__(self) -> str:
        return "Zero()"


class _Level(Mean):
    deviation: Float[Array, ""] = eqx.field(
        converter=number("deviation", 0.0, strict=True), default=_WIDE
    )

    def __repr__(self) -> str:
        return f"{type(self).__name__}(deviation={float(self.deviation)})"


class Constant(_Level):
    """An unknown level β ~ N(0, deviation²): far away the model expects what the rewards say of it.

    Unlike ``Zero`` it weighs the rewards by what each of them says about the level, and admits how
    little that is.

    Attributes:
        deviation: Prior deviation of β, in units of the rewards' deviation.

    Example:
        >>> Constant()
        Constant(deviation=10.0)
    """

    def over(self, kernel):
        return kernel + kernels.Constant(self.deviation**2)


class Linear(_Level):
    """An unknown level and slopes: far away the model follows the rewards' trend.

    Attributes:
        deviation: Prior deviation of the level, and of each slope across the whole box, in units of
            the rewards' deviation.

    Example:
        >>> Linear(deviation=5)
        Linear(deviation=5.0)
    """

    def over(self, kernel):
        return kernel + (kernels.Constant(self.deviation**2) + kernels.Linear(self.deviation**2))


class Function(Mean):
    """A user's function of an (m, d) array of features in the user's units, giving m payoffs.

    JAX must be able to trace it. ``GP(mean=function)`` makes one.

    Example:
        >>> def slope(features):
        ...     return 2.0 * features[:, 0]
        >>> Function(slope)
        slope
    """

    function: Any = eqx.field(static=True)
    units: Any = None

    def __check_init__(self):
        if not callable(self.function) or isinstance(self.function, type):
            raise InputError(f"mean is {self.function!r}; expected a function of the features")

    def bound(self, space):
        return dataclasses.replace(self, units=user_units(space))

    def spec_arguments(self) -> dict[str, Any]:
        """For specs: without the units, which belong to a study."""
        return {"function": self.function}

    def offset(self, x):
        features = x if self.units is None else self.units(x)
        values = jnp.asarray(self.function(features), x.dtype)
        if values.shape != x.shape[:1]:
            raise InputError(
                f"mean {self!r} returned an array of shape {values.shape} for {x.shape[0]} points; "
                "expected one number for each row of features"
            )
        return values

    def residual(self, observations):
        known = self.offset(observations.features)
        mean = jnp.where(observations.live, observations.mean - known, 0.0)
        return dataclasses.replace(observations, mean=mean)

    def __repr__(self) -> str:
        return name_of(self.function)


def as_mean(mean: Any) -> Mean:
    """A mean function as it is; a function of the features as one that is known.

    Example:
        >>> as_mean(Linear())
        Linear(deviation=10.0)
    """
    if isinstance(mean, Mean):
        return mean
    if callable(mean) and not isinstance(mean, type):  # a class is a forgotten pair of brackets
        return Function(mean)
    raise InputError(
        f"mean is {mean!r}; expected means.Zero(), means.Constant(), means.Linear() or a function "
        "of the features"
    )
