"""What single options are worth, whatever stands beside them."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from windfall.checks import whole
from windfall.models.gp.kernels.base import Kernel
from windfall.models.gp.kernels.parameter import fixed_variance

__all__ = ["Effects"]


def _columns(given: Any) -> tuple[int, ...]:
    return tuple(whole("columns", column, 0) for column in given)


class Effects(Kernel):
    """k = variance · (the number of choices in which two points agree).

    The payoff is a sum over the choices of what the option is worth, each with this variance: on
    one-hot columns C that is k = variance · Σ_{c ∈ C} x_c x'_c. The variance is not searched for.

    Example:
        >>> k = Effects((1, 2, 3, 4), 1.0)  # two choices of two options, beside one number
        >>> float(k(jnp.array([0.3, 1, 0, 1, 0]), jnp.array([0.9, 1, 0, 0, 1])))
        1.0
    """

    columns: tuple[int, ...] = eqx.field(static=True, converter=_columns)
    variance: float = eqx.field(static=True, converter=fixed_variance)

    def _options(self, x):
        return x[..., np.array(self.columns)]

    def __call__(self, x1, x2):
        return self.variance * jnp.dot(self._options(x1), self._options(x2))

    def gram(self, x1, x2):
        return self.variance * (self._options(x1) @ self._options(x2).T)

    def diagonal(self, x):
        return self.variance * jnp.sum(self._options(x) ** 2, axis=1)

    def random_features(self, key, count, anchors):
        worth = jax.random.normal(key, (len(self.columns), count), anchors.dtype)
        return lambda x: jnp.sqrt(self.variance) * (self._options(x) @ worth)
