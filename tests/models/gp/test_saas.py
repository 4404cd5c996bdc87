"""The prior for many features: its integral by SciPy, and that it finds the few that matter."""

import jax
import numpy as np
import pytest
from models.gp.naive import observed
from scipy.integrate import quad

from windfall.errors import InputError
from windfall.models.gp.bayes import Bayes
from windfall.models.gp.evidence import Hyper
from windfall.models.gp.kernels import Constant, Matern52
from windfall.models.gp.model import GP
from windfall.models.gp.posterior import condition
from windfall.models.gp.saas import SAAS, log_relevances
from windfall.specs import from_spec, to_spec


def half_cauchy(x, scale):
    return 2.0 / (np.pi * scale * (1.0 + (x / scale) ** 2))


def density(lengthscale, shrinkage):
    """Of the logarithms of the length scales, integrated over τ."""
    rho = np.asarray(lengthscale) ** -2.0

    def at(log_tau):
        tau = np.exp(log_tau)
        return half_cauchy(tau, shrinkage) * tau * np.prod(half_cauchy(rho, tau) * rho)

    return quad(at, -25.0, 15.0, points=[np.log(shrinkage)], epsabs=0, epsrel=1e-9, limit=500)[0]


@pytest.mark.parametrize("shrinkage", [0.1, 1.0])
def test_the_scale_of_all_relevances_is_integrated_out(shrinkage):
    """Up to a constant: in ratios. The grid leaves out less than e⁻¹² at both ends."""
    cases = [np.full(3, 1.0), np.array([0.2, 5.0, 20.0]), np.full(3, 20.0), np.full(3, 0.3)]
    found = [float(log_relevances(case, np.float64(shrinkage))) for case in cases]
    expected = np.log([density(case, shrinkage) for case in cases])
    np.testing.assert_allclose(np.diff(found), np.diff(expected), atol=1e-4)


def test_other_hyper_parameters_have_log_normal_priors_and_the_spec_makes_it_again():
    prior = SAAS(0.2, noise=(1e-3, 0.5))
    assert from_spec(to_spec(prior)) == prior
    kernel = Matern52(np.ones(3))
    quiet, loud = (prior(Hyper(kernel, np.float64(noise))) for noise in (1e-3, 1e-2))
    assert float(quiet - loud) == pytest.approx(0.5 * (np.log(10.0) / 0.5) ** 2)
    with pytest.raises(InputError, match=r"^prior is SAAS; expected a kernel with length scales$"):
        prior(Hyper(Constant(1.0), np.float64(0.1)))
    with pytest.raises(InputError, match=r"^shrinkage is 0"):
        SAAS(0)


def test_two_features_of_thirty_that_matter_are_found():
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(40, 30))
    y = np.sin(6.0 * x[:, 4]) + np.cos(5.0 * x[:, 17]) + 0.05 * rng.standard_normal(40)
    fit = Bayes(samples=8, warmup=40, thinning=2, prior=SAAS(noise=(1e-2, 1.0)))
    data = observed(x, (y - y.mean()) / y.std(), 40)
    begun = fit.begin(condition(GP(Matern52(1.0)).hyper(30), data))
    infer = jax.jit(lambda key: fit.infer(key, data, begun, np.int32(0))[0])
    lengthscale = np.asarray(infer(jax.random.key(0)).kernel.lengthscale)
    relevance = np.median(lengthscale**-2.0, axis=0)
    assert set(np.argsort(relevance)[-2:]) == {4, 17}
    # Far above the others, which is what the prior is for.
    second, third = np.sort(relevance)[[-2, -3]]
    assert second > 10.0 * third
