"""A belief whose moments are known, one that rests on rewards, and the situation around them."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from windfall.acquisition.base import Situation
from windfall.models.base import Belief, Tried
from windfall.models.gp.belief import GPBelief
from windfall.models.gp.evidence import Hyper
from windfall.models.gp.kernels import Matern52
from windfall.models.gp.means import Zero
from windfall.models.gp.observations import Observations
from windfall.models.gp.posterior import condition


def _unused(*_):
    raise NotImplementedError("no acquisition asks for this")


unused: Any = _unused


class FakeBelief(Belief):
    """Mean and deviation are functions of the points; a draw shifts all points together."""

    mean_at: Callable = eqx.field(static=True)
    deviation_at: Callable = eqx.field(static=True)
    prior_at: Callable = eqx.field(static=True)
    inputs: Tried

    @property
    def tried(self):
        return self.inputs

    def mean(self, x):
        return self.mean_at(x)

    def moments(self, x):
        return self.mean_at(x), self.deviation_at(x)

    def prior_deviation(self, x):
        return self.prior_at(x)

    def sample(self, key, anchors, features=512):
        shift = jax.random.normal(key, (), anchors.dtype)
        return lambda x: self.mean_at(x) + shift * self.deviation_at(x)

    # What no acquisition may ask for.
    capacity = healthy = unused  # pyright: ignore[reportIncompatibleMethodOverride]
    observe = imagine = resized = dump = load = unused


def wavy_mean(x):
    return jnp.sin(5.0 * x[:, 0]) + x[:, 1]


def bumpy_deviation(x):
    return 0.1 + (x[:, 0] - x[:, 1]) ** 2


def fake(
    mean=wavy_mean, deviation=bumpy_deviation, prior=None, tried: Tried | None = None
) -> FakeBelief:
    """A belief; by default its prior deviation is 1 and nothing has been tried."""
    prior = (lambda x: jnp.ones(x.shape[0])) if prior is None else prior
    return FakeBelief(mean, deviation, prior, tried_at() if tried is None else tried)


def tried_at(x=(), rewards=()) -> Tried:
    """These inputs have been tried, with room for others."""
    used = len(x)
    features, reward = np.zeros((16, 2)), np.zeros(16)
    features[:used], reward[:used] = np.reshape(x, (used, 2)), rewards
    return Tried(features, reward, np.arange(16) < used, np.int32(used))


def believing(x, rewards, mean=Zero(), noise=1e-4) -> GPBelief:  # noqa: B008  frozen
    """What a Gaussian process with settings that are known believes after these rewards."""
    observations = jax.tree.map(jnp.asarray, Observations.empty(16, 2))
    for point, reward in zip(x, rewards, strict=False):
        observations = observations.add(point, np.float64(reward))
    hyper = Hyper(Matern52([0.3, 0.3]), np.float64(noise))
    posterior = condition(hyper, observations, trend=mean)
    return GPBelief(observations, posterior, observations.used)


def situation(arms: np.ndarray, *, round: int = 1) -> Situation:
    return Situation(np.int32(round), len(arms), arms[:8])
