"""A small study that any model can learn from, and the compiled steps of learning."""

from typing import Any

import equinox as eqx
import jax
import numpy as np

from windfall.models.base import Reward
from windfall.space import Arms

RNG = np.random.default_rng(0)
SPACE = Arms(RNG.uniform(size=(20, 2)), box=[[0.0, 0.0], [1.0, 1.0]])
#: Some of the arms twice.
X = SPACE.points[[*range(12), 3, 3, 7]]
#: A trend that any model can learn, and noise that is not negligible.
Y = 5.0 + 4.0 * X[:, 0] - 2.0 * X[:, 1] + 0.3 * RNG.standard_normal(15)
AT = RNG.uniform(size=(7, 2))
KEY = jax.random.key(0)
#: Rounding of 10⁻¹⁶ grows by the condition number of the model's equations: that of covariance
#: matrices is 10⁸ at most, and a deviation is the root of a difference.
MEAN_ROUNDING, DEVIATION_ROUNDING = 1e-8, 1e-6


@eqx.filter_jit
def search(model, key, belief):
    return model.search(key, belief)


@eqx.filter_jit
def condition(model, belief):
    return model.condition(belief)


@eqx.filter_jit
def observe(belief, x, reward):
    return belief.observe(x, reward)


@eqx.filter_jit
def predict(belief, x):
    mean, deviation = belief.moments(x)
    return belief.mean(x), mean, deviation, belief.prior_deviation(x)


def told(belief, x=X, y=Y):
    for point, reward in zip(x, y, strict=True):
        belief = observe(belief, point, Reward(np.float64(reward)))
    return belief


_LEARNED: dict[str, Any] = {}


def learned(model):
    """What the model believes after all rewards; searched once."""
    if repr(model) not in _LEARNED:
        found, _ = search(model, KEY, told(model.begin(SPACE, 16)))
        _LEARNED[repr(model)] = condition(model, found)
    return _LEARNED[repr(model)]


def assert_same(belief, other, x=AT):
    """The same predictions but for rounding."""
    for i, (a, b) in enumerate(zip(predict(belief, x), predict(other, x), strict=True)):
        rounding = MEAN_ROUNDING if i < 2 else DEVIATION_ROUNDING
        np.testing.assert_allclose(a, b, rtol=0, atol=rounding * np.abs(Y).max())
