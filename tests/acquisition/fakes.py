"""A posterior whose moments are known, and the situation around it."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from windfall.acquisition.base import Situation
from windfall.attention.ratio import Domain
from windfall.models.gp.evidence import Hyper
from windfall.models.gp.kernels import SquaredExponential
from windfall.models.gp.means import Zero
from windfall.models.gp.observations import Observations, Scale
from windfall.models.gp.posterior import Posterior


class FakePosterior(Posterior):
    """Mean and deviation are functions of the points; a draw shifts all points together."""

    mean_at: Callable = eqx.field(static=True, default=None)
    deviation_at: Callable = eqx.field(static=True, default=None)

    def mean(self, x):
        return self.mean_at(x)

    def moments(self, x):
        return self.mean_at(x), self.deviation_at(x)

    def sample(self, key, anchors, features=512):
        shift = jax.random.normal(key, (), anchors.dtype)
        return lambda x: self.mean_at(x) + shift * self.deviation_at(x)


def wavy_mean(x):
    return jnp.sin(5.0 * x[:, 0]) + x[:, 1]


def bumpy_deviation(x):
    return 0.1 + (x[:, 0] - x[:, 1]) ** 2


def fake(mean=wavy_mean, deviation=bumpy_deviation, spread: float = 1.0) -> FakePosterior:
    return FakePosterior(
        Hyper(SquaredExponential(0.3), np.float64(1e-4)),
        Observations.empty(16, 2),
        Scale(np.float64(0.0), np.float64(spread)),
        np.eye(16),
        np.bool_(True),
        Zero(),
        mean,
        deviation,
    )


def situation(arms: np.ndarray, *, round: int = 1, best: float = 0.0, domain=None) -> Situation:
    domain = Domain(arms, np.ones(len(arms))) if domain is None else domain
    return Situation(np.int32(round), np.float64(best), len(arms), domain, arms[:8])
