"""Bayesian linear regression in use: its features and settings, studies and trials with it."""

from functools import partial

import jax.numpy as jnp
import numpy as np
import pytest
from policies import ALL, FEW, small
from sklearn.gaussian_process.kernels import Matern
from sklearn.preprocessing import PolynomialFeatures

import windfall as wf
from windfall.errors import InputError, NumericalError
from windfall.models.linear import BayesianLinear
from windfall.space import Arms

X = np.random.default_rng(2**20).uniform(size=(40, 2))
SPACE = Arms(X, None, (np.zeros(2), np.ones(2)))


def test_fourier_features_approximate_their_kernel():
    belief = BayesianLinear("fourier", size=4096, lengthscale=0.4).begin(SPACE, 16)
    phi = np.asarray(belief.features(jnp.asarray(X)))
    # Each entry is a mean of 4096 numbers within ±2 whose deviation is at most 1.
    assert np.max(np.abs(phi @ phi.T - Matern(0.4, nu=2.5)(X))) < 5.5 / np.sqrt(4096)
    other = BayesianLinear("fourier", size=4096, lengthscale=0.4, seed=1).begin(SPACE, 16)
    assert not np.allclose(other.features.args[0], belief.features.args[0])


def test_polynomial_features_are_scikit_learns():
    x = np.random.default_rng(0).uniform(size=(10, 3))
    belief = BayesianLinear("polynomial").begin(Arms(x, None, (np.zeros(3), np.ones(3))), 16)
    wanted = PolynomialFeatures(2, include_bias=False).fit_transform(2 * x - 1)
    np.testing.assert_allclose(belief.features(jnp.asarray(x)), wanted, rtol=1e-12)


def test_settings_that_make_no_sense_are_refused():
    for settings in ({"features": "cubic"}, {"features": list}, {"noise": 0.0}, {"size": 0},
                     {"lengthscale": -1.0}, {"seed": -1}, {"refit_every": 0}):  # fmt: skip
        with pytest.raises(InputError, match=f"{next(iter(settings))} is .*; expected"):
            BayesianLinear(**settings)
    for wrong in (lambda x: x[:, 0], lambda x: jnp.log(x - 2.0)):
        with pytest.raises(InputError, match="expected finite numbers, one row for each point"):
            BayesianLinear(wrong).begin(SPACE, 16)


def test_features_that_fail_at_an_input_are_reported():
    poles = BayesianLinear(lambda x: jnp.where(x == 0.77, jnp.nan, x))
    bandit = wf.Bandit(wf.Box([0.0], [1.0]), wf.Policy(wf.Mean(), poles))
    bandit.tell([0.77], 1.0)
    with pytest.raises(NumericalError, match="not finite"):
        bandit.posterior([[0.5]])


def plays(policy, space):
    """A study with batches, a failure and a choice taken back."""
    bandit = wf.Bandit(space, policy, seed=0, initial=3)
    for _ in range(4):
        choice = bandit.ask()
        bandit.tell(choice, 3.0 + 2.0 * choice.features[0] - choice.features[1])
    first, second, third = bandit.ask(3)
    assert len({tuple(c.features) for c in (first, second, third)}) == 3
    bandit.fail(first)
    bandit.forget(second)
    bandit.tell(third, 1.0, noise=0.1)
    assert np.all(bandit.ask().features != first.features)
    assert all(np.all(np.isfinite(c)) for c in bandit.explain().values() if c.dtype == float)


@pytest.mark.parametrize("name", ALL)
def test_every_acquisition_decides_with_it_on_a_list(name):
    plays(wf.Policy(small(name), BayesianLinear()), X)


@pytest.mark.parametrize("name", FEW)
def test_acquisitions_decide_with_it_on_a_box(name):
    plays(wf.Policy(small(name), BayesianLinear()), wf.Box([0, 0], [1, 1]))


def test_trials_one_by_one_and_together_find_the_peak_of_a_parabola():
    x = np.linspace(0.0, 1.0, 24)[:, None]
    problem = wf.Problem(arms=x, payoff=lambda x: -((x[:, 0] - 0.7) ** 2), noise=1e-2, name="hill")
    policy = wf.Policy(wf.VUCB(), BayesianLinear("polynomial", refit_every=2))
    play = partial(wf.simulate, problem, policy, rounds=14, trials=2, seed=1, workers=1)
    apart, together = play(batch=0), play(batch=2)
    # The arms beside the best one lose less than 0.01.
    assert np.all(apart.regret[:, -4:] < 0.01)
    np.testing.assert_allclose(apart.regret, together.regret, atol=0.01)
