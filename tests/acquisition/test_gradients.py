"""The gradient of every acquisition under every kernel, against finite differences."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from models.gp.believing import believing

from windfall.acquisition.base import Situation
from windfall.acquisition.ei import EI
from windfall.acquisition.lw import LWUCB
from windfall.acquisition.thompson import TS
from windfall.acquisition.ucb import GPUCB, VUCB, Mean
from windfall.acquisition.windfall import Windfall
from windfall.attention.domain_prior import prior_over
from windfall.attention.prior import gaussian
from windfall.models.gp import kernels as k
from windfall.models.gp.evidence import Hyper
from windfall.models.gp.observations import Observations
from windfall.models.units import user_units
from windfall.space import Box

KERNELS = {
    "squared exponential": k.SquaredExponential([0.3, 0.5]),
    "matern 1/2": k.Matern12([0.4, 0.6]),
    "matern 3/2": k.Matern32([0.3, 0.5]),
    "matern 5/2": k.Matern52([0.3, 0.5]),
    "rational quadratic": k.RationalQuadratic([0.3, 0.5], alpha=0.7),
    "periodic": k.Periodic(period=0.8, lengthscale=0.7),
    "linear": k.Linear([2.0, 1.0]) + k.SquaredExponential(0.4),
    "white": k.SquaredExponential(0.4) + k.White(0.1),
    "product": k.Constant(2.0) * k.Matern52(0.5) * k.Linear([1.0, 1.0]),
    "own": k.Custom(lambda a, b: jnp.exp(-jnp.sum((a - b) ** 2) / 0.2), {}),
}
ACQUISITIONS = {
    "ei": EI(),
    "ts": TS(features=64),
    "v-ucb": VUCB(),
    "gp-ucb": GPUCB(),
    "lw-ucb": LWUCB(components=2, points=64),
    "direct": LWUCB(components=0, points=64, prior=gaussian([0.4, 0.6], 0.3)),
    "mean": Mean(),
    "windfall": Windfall(),
}
SPACE = Box([0, 0], [1, 1])
INPUTS = SPACE.fill(12, seed=1)
REWARDS = np.sin(6 * INPUTS[:, 0]) + INPUTS[:, 1] ** 2
#: Away from the data, where some kernels have a cusp.
POINTS = np.array([[0.31, 0.77], [0.62, 0.24], [0.93, 0.55]])
STEP = 1e-6


def belief_with(kernel):
    observations = jax.tree.map(jnp.asarray, Observations.empty(16, 2))
    for x, reward in zip(INPUTS, REWARDS, strict=True):
        observations = observations.add(x, jnp.asarray(reward))
    return believing(Hyper(kernel, jnp.asarray(1e-4)), observations)


def both_ways(function, points):
    """Gradients at the points, and by central differences."""
    slopes = jax.vmap(jax.grad(lambda x: function(x[None])[0]))(points)
    moves = STEP * jnp.eye(2)
    up, down = (function((points[:, None] + s * moves).reshape(-1, 2)) for s in (1, -1))
    return slopes, ((up - down) / (2 * STEP)).reshape(-1, 2)


@eqx.filter_jit
def of_moments(kernel, points):
    """What every score is made of: mean and deviation."""
    belief = belief_with(kernel)
    mean = both_ways(lambda x: belief.moments(x)[0], points)
    return {"mean": mean, "deviation": both_ways(lambda x: belief.moments(x)[1], points)}


@eqx.filter_jit
def of_scores(kernel, points):
    """For each acquisition."""
    belief, around = belief_with(kernel), Situation(jnp.asarray(3), 2, SPACE.fill(8))
    found = {}
    for name, acquisition in ACQUISITIONS.items():
        score = acquisition.focus(jax.random.key(0), belief, around, acquisition.setup(SPACE))
        found[name] = both_ways(score, points)
    return found


def test_the_direct_ratio_has_a_prior_to_differentiate():
    density = ACQUISITIONS["direct"].setup(SPACE).prior
    assert density is not None
    points = SPACE.natural(SPACE.fill(64))
    _, own = prior_over(gaussian([0.4, 0.6], 0.3), points, user_units(SPACE))
    np.testing.assert_allclose(density(POINTS), own(POINTS))


def assert_alike(found, kernel):
    for name, (exact, differences) in found.items():
        size = 1.0 + np.abs(differences).max()
        np.testing.assert_allclose(
            exact, differences, rtol=1e-4, atol=1e-5 * size, err_msg=f"{name} with {kernel}"
        )
        assert np.abs(exact).max() > 1e-3


@pytest.mark.parametrize("name", KERNELS)
def test_gradients_of_the_moments_agree_with_finite_differences(name):
    assert_alike(of_moments(KERNELS[name], POINTS), name)


@pytest.mark.parametrize("name", ["matern 5/2", "periodic"])
def test_gradients_of_scores_agree_with_finite_differences(name):
    assert_alike(of_scores(KERNELS[name], POINTS), name)


@pytest.mark.parametrize("name", ["squared exponential", "matern 1/2", "matern 5/2", "periodic"])
def test_gradients_are_finite_at_the_data(name):
    """There the deviation is (nearly) 0, whose root has no slope."""
    for what, (exact, _) in of_moments(KERNELS[name], INPUTS[:3]).items():
        assert np.all(np.isfinite(exact)), what


def test_gradients_of_scores_are_finite_at_the_data():
    for acquisition, (exact, _) in of_scores(KERNELS["matern 5/2"], INPUTS[:3]).items():
        assert np.all(np.isfinite(exact)), acquisition
