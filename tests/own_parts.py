"""What users write in modules of their own: functions and classes that specs name by address."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from windfall.acquisition.base import Acquisition
from windfall.acquisition.ucb import UpperBound
from windfall.models.gp.kernels import Kernel, parameter
from windfall.models.gp.means import Mean
from windfall.models.gp.priors import Prior


def brownian(a, b):
    return jnp.minimum(a[0], b[0])


def triangle(a, b, *, width, height=1.0):
    return height * jnp.prod(jnp.maximum(0.0, 1.0 - jnp.abs(a - b) / width))


@jax.jit
def slope(features):
    return 2.0 * features[:, 0]


def short_lengths(hyper):
    return -jnp.sum(hyper.kernel.lengthscale)


def half(values):
    return 0.5 + 0.0 * values


def log_bump(x):
    return -jnp.sum(x**2, axis=1)


def near(p):
    return 4.0 - p["x"] ** 2


class Tent(Kernel):
    width: Any = parameter("width", per_feature=True)

    def __call__(self, x1, x2):
        return jnp.prod(jnp.maximum(0.0, 1.0 - jnp.abs(x1 - x2) / self.width))


class Greedy(Acquisition):
    kappa: Any = eqx.field(converter=float, default=0.5)
    label: str = eqx.field(static=True, default="greedy")

    def focus(self, key, belief, situation, setup):
        return UpperBound(belief, self.kappa)


class Level(Mean):
    height: Any

    def __init__(self, height):
        self.height = float(height)

    def offset(self, x):
        return self.height


class Halves(Prior):
    """Its constructor does not take what its base class says it does."""

    def __init__(self, width):
        self.terms = {"lengthscale": (float(width), 1.0)}

    def log_density(self, value, first, second):
        return -(value**2)


class Forgetful(Kernel):
    """Its constructor's argument is nowhere to be found."""

    size: Any

    def __init__(self, diameter):
        self.size = diameter / 2


class Drifting(Kernel):
    """Made again from its spec it is another one."""

    size: Any = eqx.field(converter=lambda size: 2.0 * size)


class Typed(Kernel):
    type: Any = 1.0


class Stranger:
    """Derives from nothing of windfall's."""

    made = 0

    def __init__(self, size: float = 1.0):
        Stranger.made += 1
        self.size = size

    def __call__(self, x):
        return self.size
