"""What each feature does by itself, beside what all of them do together."""

import dataclasses
import operator
from functools import reduce
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from windfall.checks import whole
from windfall.errors import InputError
from windfall.models.gp.kernels.base import Kernel
from windfall.models.gp.kernels.parameter import parameter
from windfall.models.gp.kernels.stationary import Stationary, fourier_features, squared_distance
from windfall.runtime.arrays import Array

__all__ = ["MainEffects"]


def _stationary(given: Any) -> Stationary:
    if not isinstance(given, Stationary):
        raise InputError(
            f"kernel is {given!r}; expected one of the distance, such as Matern52(0.5)"
        )
    return given


def _choices(given: Any) -> Any:
    return tuple(tuple(whole("choices", column, 0) for column in columns) for columns in given)


class MainEffects(Kernel):
    """k(x, x') + effect/F · Σ_f k_f(x, x'): a function of each of the F factors besides.

    A factor is a feature, or a choice that one-hot columns make. With r_j = |x_j − x'_j|/ℓ_j and p
    the kernel's correlation at r², k_j = p(F r_j²) for a feature: the same length scales, shorter
    by √F as distances along one feature are. For a choice k_f is 1 where both take the same option,
    and 0 elsewhere.

    What a feature does by itself is seen wherever the others stand, and so after few tries: a ridge
    that one try has met is a ridge all along. How much of the payoff there is of this kind is a
    hyper-parameter.

    Attributes:
        kernel: For all features together.
        effect: The variance of the sum of the functions of one factor.
        choices: The one-hot columns of each choice; a ``GP`` fills them in for its arms.

    Example:
        >>> from windfall.models.gp.kernels import Matern52
        >>> k = MainEffects(Matern52(0.5), effect=0.4)
        >>> x = np.array([[0.2, 0.0], [0.2, 0.9]])  # the first feature agrees
        >>> [round(float(v), 3) for v in (k.kernel.gram(x, x)[0, 1], k.gram(x, x)[0, 1])]
        [0.186, 0.398]
    """

    kernel: Stationary = eqx.field(converter=_stationary)
    effect: Float[Array, ""] = parameter("effect")
    choices: Any = eqx.field(static=True, converter=_choices, default=())

    def features(self, dimension: int) -> list[int]:
        """The columns that are no option of a choice."""
        options = {column for columns in self.choices for column in columns}
        return [column for column in range(dimension) if column not in options]

    def factors(self, dimension: int) -> int:
        """F: how many features and choices there are."""
        return len(self.features(dimension)) + len(self.choices)

    @property
    def options(self) -> np.ndarray:
        """The columns of all choices."""
        return np.array([column for columns in self.choices for column in columns], int)

    def __call__(self, x1, x2):
        return self.gram(x1[None], x2[None])[0, 0]

    def gram(self, x1, x2):
        dimension = x1.shape[1]
        factors = self.factors(dimension)
        inverse = 1.0 / jnp.broadcast_to(self.kernel.lengthscale, (dimension,))
        # Along one feature a distance is a difference, of which no root has to be taken.
        apart, alone = [], []
        for j in self.features(dimension):
            gap = x1[:, None, j] - x2[None, :, j]
            apart.append((inverse[j] * gap) ** 2)
            alone.append(self.kernel.along(jnp.sqrt(factors) * inverse[j] * jnp.abs(gap)))
        if self.choices:
            among = self.options
            apart.append(squared_distance(inverse[among] ** 2, x1[:, among], x2[:, among]))
            alone.append(x1[:, among] @ x2[:, among].T)
        together = self.kernel.variance * self.kernel.profile(reduce(operator.add, apart))
        return together + self.effect / factors * reduce(operator.add, alone)

    def diagonal(self, x):
        own = jnp.sum(x[:, self.options] ** 2, axis=1) + len(self.features(x.shape[1]))
        return self.kernel.diagonal(x) + self.effect / self.factors(x.shape[1]) * own

    def random_features(self, key, count, anchors):
        """Waves along one feature each, drawn at random, and the worth of each option."""
        together, which, frequencies, scales, worth = jax.random.split(key, 5)
        waves = self.kernel.random_features(together, count, anchors)
        dimension, dtype = anchors.shape[1], anchors.dtype
        factors, features = self.factors(dimension), self.features(dimension)
        inverse = jnp.sqrt(factors) / jnp.broadcast_to(self.kernel.lengthscale, (dimension,))
        each = self.effect / factors
        options, sigma = self.options, jnp.sqrt(each)
        values = jax.random.normal(worth, (len(options), count), dtype)
        if not features:
            return lambda x: waves(x) + sigma * (x[:, options] @ values)
        along = jnp.array(features)[jax.random.randint(which, (count,), 0, len(features))]
        scale = self.kernel.frequency_scale(scales, count, dtype)
        ripples = fourier_features(frequencies, count, inverse, each * len(features), dtype, scale)
        alone = jnp.where(jnp.arange(dimension)[:, None] == along, ripples.frequencies, 0.0)
        ripples = dataclasses.replace(ripples, frequencies=alone)
        return lambda x: waves(x) + ripples(x) + sigma * (x[:, options] @ values)

    def expanded(self, dimension):
        return dataclasses.replace(self, kernel=self.kernel.expanded(dimension))

    def stretched(self, factors):
        return dataclasses.replace(self, kernel=self.kernel.stretched(factors))

    def choosing(self, choices):
        return dataclasses.replace(self, choices=choices)

    def together(self):
        return self.kernel

    def __repr__(self) -> str:
        choices = f", choices={self.choices}" if self.choices else ""
        return f"MainEffects({self.kernel!r}, effect={np.asarray(self.effect).tolist()}{choices})"
