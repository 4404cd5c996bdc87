"""The input density p_x where there are no arms: in the ratio, and in what is chosen."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from models.gp.believing import studying
from scipy.stats import gaussian_kde

from windfall.acquisition.lw import LWUCB
from windfall.attention.prior import LogDensity, gaussian, independent
from windfall.errors import InputError
from windfall.models.gp.evidence import Hyper
from windfall.models.gp.kernels import SquaredExponential
from windfall.models.gp.observations import Observations
from windfall.policy import Policy
from windfall.space import Box, Parameters, Real
from windfall.study import compiled

BOX = Box([-2.0, 0.0], [2.0, 100.0], names=["a", "b"])
#: In the user's units; at (0.15, 0.85) of the unit box, a tenth of it wide.
CENTRE, WIDTH = np.array([-1.4, 85.0]), np.array([0.4, 10.0])


def log_density(x):
    return -0.5 * jnp.sum(((x - CENTRE) / WIDTH) ** 2, axis=1)


def density(x):
    return jnp.exp(log_density(x))


PRIORS = {
    "gaussian": gaussian(CENTRE, WIDTH),
    "independent": independent([gaussian(CENTRE[0], WIDTH[0]), gaussian(CENTRE[1], WIDTH[1])]),
    "log density": LogDensity(log_density),
    "function": density,
}


def state_of(policy: Policy, space=BOX):
    """A model that knows a wave: every payoff near every place, so that only the prior decides."""
    x = np.stack(np.meshgrid(np.linspace(0, 1, 8), np.linspace(0, 1, 8)), -1).reshape(-1, 2)
    y = np.sin(9.0 * x.sum(axis=1))
    ones, zeros = np.ones(64), np.zeros(64)
    observations = Observations(x, ones, y, zeros, zeros, np.int32(64))
    hyper = Hyper(SquaredExponential([0.15, 0.15], 1.0), np.float64(1e-2))
    return studying(policy, space, hyper, observations)


@pytest.mark.parametrize("name", PRIORS)
def test_the_ratio_is_the_prior_over_the_density_of_the_mean(name):
    """w = p_x/p_μ(μ) with mean 1 over the domain; p_μ by SciPy, weighted by p_x."""
    policy = Policy(LWUCB(components=0, points=512, prior=PRIORS[name]))
    state = state_of(policy)
    x = state.setup.domain.points
    natural = np.array([-2.0, 0.0]) + np.array([4.0, 100.0]) * x
    prior = np.exp(-0.5 * np.sum(((natural - CENTRE) / WIDTH) ** 2, axis=1))
    mean = np.asarray(state.belief.mean(x))
    naive = prior / gaussian_kde(mean, weights=prior)(mean)
    naive /= naive.mean()
    np.testing.assert_allclose(state.setup.domain.prior, prior / prior.mean(), rtol=1e-9)
    np.testing.assert_allclose(state.setup.prior(x), prior / prior.mean(), rtol=1e-9)
    ratio = policy.score(state).ratio(x)
    np.testing.assert_allclose(ratio, naive, rtol=0.02, atol=1e-3)
    assert np.mean(ratio) == pytest.approx(1.0)


@pytest.mark.parametrize("components", [0, 2])
def test_a_concentrated_prior_moves_the_choice(components):
    def chosen(prior):
        policy = Policy(LWUCB(kappa=5.0, components=components, points=512, prior=prior))
        state = state_of(policy)
        if components:  # the prior is in the domain now: without it one program serves them all
            policy = Policy(LWUCB(kappa=5.0, components=components, points=512))
        x, info = compiled.select(policy, state, None, np.int32(0))
        assert bool(info.healthy)
        return np.asarray(x)

    here, there = chosen(PRIORS["gaussian"]), chosen(gaussian(-CENTRE + [0.0, 100.0], WIDTH))
    assert np.linalg.norm(here - [0.15, 0.85]) < 0.25
    assert np.linalg.norm(there - [0.85, 0.15]) < 0.25
    # However it is written, it is the same prior.
    np.testing.assert_allclose(chosen(PRIORS["log density"]), here, atol=1e-4)


def test_a_constant_prior_is_uniform_on_the_scale_of_the_space():
    space = Parameters({"a": Real(1e-3, 1e3, log=True), "b": Real(0, 1)})
    policy = Policy(LWUCB(components=0, points=256, prior=lambda x: jnp.full(x.shape[0], 7.0)))
    state = policy.begin(jax.random.key(0), space)
    np.testing.assert_allclose(state.setup.domain.prior, 1.0)
    np.testing.assert_allclose(state.setup.prior(space.fill(8)), 1.0)


def test_a_numpy_prior_serves_the_mixture_and_not_the_direct_ratio():
    def numpy_only(x):
        return np.exp(-np.asarray(x)[:, 0])

    policy = Policy(LWUCB(components=2, points=64, prior=numpy_only))
    assert policy.begin(jax.random.key(0), BOX).setup.prior is None
    with pytest.raises(InputError, match=r"^prior .*numpy_only cannot be traced by JAX"):
        Policy(LWUCB(components=0, points=64, prior=numpy_only)).begin(jax.random.key(0), BOX)
