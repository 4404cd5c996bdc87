"""Thompson sampling: the chosen arm is distributed as the best arm of a joint draw."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from acquisition.fakes import bumpy_deviation, fake, situation, wavy_mean
from models.gp.believing import believing

from windfall.acquisition.thompson import TS
from windfall.models.gp.evidence import Hyper
from windfall.models.gp.kernels import SquaredExponential
from windfall.models.gp.observations import Observations

DRAWS = 4000
ARMS = np.array([[0.0, 0.0], [0.2, 0.1], [0.35, 0.5], [0.5, 0.5], [0.55, 0.5], [0.9, 0.8]])
KERNEL = SquaredExponential(0.3)
NOISE = 0.05


def belief():
    observations = jax.tree.map(jnp.asarray, Observations.empty(16, 2))
    for arm, reward in [(0, 1.0), (2, 1.3), (5, 0.2), (2, 1.0)]:
        observations = observations.add(jnp.asarray(ARMS[arm]), jnp.asarray(reward))
    return believing(Hyper(KERNEL, np.float64(NOISE)), observations)


def exact_moments():
    """The textbook posterior over the arms, from the rewards one by one."""
    pulled, y = np.array([0, 2, 5, 2]), np.array([1.0, 1.3, 0.2, 1.0])
    z = (y - y.mean()) / y.std()
    k = np.asarray(KERNEL.gram(ARMS, ARMS))
    gain = k[:, pulled] @ np.linalg.inv(k[np.ix_(pulled, pulled)] + NOISE * np.eye(4))
    covariance = k - gain @ k[pulled]
    return y.mean() + y.std() * gain @ z, y.var() * covariance


def frequencies(values) -> np.ndarray:
    return np.bincount(np.argmax(values, axis=1), minlength=len(ARMS)) / len(values)


@pytest.fixture(scope="module")
def draws():
    model, around = belief(), situation(ARMS)

    @jax.jit
    def run(keys):
        def one(key):
            return TS(features=256).focus(key, model, around, None)(ARMS)

        return jax.lax.map(one, keys, batch_size=100)

    return np.asarray(run(jax.random.split(jax.random.key(0), DRAWS)))


def test_the_best_arm_of_a_draw_is_distributed_as_it_should(draws):
    rng = np.random.default_rng(0)
    mean, covariance = exact_moments()
    joint = frequencies(rng.multivariate_normal(mean, covariance, size=200_000))
    apart = frequencies(mean + np.sqrt(np.diag(covariance)) * rng.normal(size=(200_000, 6)))
    # Five standard errors, and a little for the finite number of features.
    margin = 5.0 * np.sqrt(joint * (1.0 - joint) / DRAWS) + 0.005
    found = frequencies(draws)
    assert np.all(np.abs(found - joint) < margin)
    # One draw per arm, each on its own, would be another policy; the test can tell.
    assert np.any(np.abs(apart - joint) > 2.0 * margin)


def test_draws_have_the_posteriors_mean_and_covariance(draws):
    mean, covariance = exact_moments()
    variance = np.diag(covariance)
    assert np.all(np.abs(draws.mean(axis=0) - mean) < 5.0 * np.sqrt(variance / DRAWS))
    # Var of a sample covariance: (S_ij² + S_ii S_jj)/n for Gaussians.
    error = np.sqrt((covariance**2 + np.outer(variance, variance)) / DRAWS)
    assert np.all(np.abs(np.cov(draws.T) - covariance) < 5.0 * error)


def test_takes_the_beliefs_own_draw():
    key = jax.random.key(3)
    score = TS().focus(key, fake(), situation(ARMS), None)
    shift = float(jax.random.normal(key, (), float))
    wanted = np.asarray(wavy_mean(ARMS)) + shift * np.asarray(bumpy_deviation(ARMS))
    np.testing.assert_allclose(score(ARMS), wanted, rtol=1e-9)
