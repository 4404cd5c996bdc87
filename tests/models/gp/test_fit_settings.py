"""Settings of the search for hyper-parameters: priors, and what is refused."""

import jax
import numpy as np
import pytest
from models.gp.fitting import WARM, data, evidence, search
from scipy import stats

from windfall.errors import InputError
from windfall.models.gp.evidence import Hyper
from windfall.models.gp.fit import Fit
from windfall.models.gp.kernels import SquaredExponential
from windfall.models.gp.priors import LogNormalPrior


def test_prior_is_the_normal_density_of_the_logarithms_up_to_a_constant():
    prior = LogNormalPrior(lengthscale=(0.3, 0.7), noise=(1e-3, 2.0))

    def naive(hyper):
        scales = stats.norm.logpdf(np.log(hyper.kernel.lengthscale), np.log(0.3), 0.7).sum()
        return scales + stats.norm.logpdf(np.log(hyper.noise), np.log(1e-3), 2.0)

    one = Hyper(SquaredExponential([0.2, 0.9], 1.0), np.float64(1e-2))
    other = Hyper(SquaredExponential([1.2, 0.05], 8.0), np.float64(1e-5))
    np.testing.assert_allclose(prior(one) - prior(other), naive(one) - naive(other), rtol=1e-12)


@pytest.mark.parametrize("median", [0.05, 2.0])
def test_a_prior_moves_the_fit(median):
    observations = data()
    plain, _ = search(jax.random.key(0), observations, WARM, Fit())
    settings = Fit(prior=LogNormalPrior(lengthscale=(median, 1e-3)))
    pulled, info = search(jax.random.key(0), observations, WARM, settings)
    np.testing.assert_allclose(pulled.kernel.lengthscale, median, rtol=1e-2)
    assert np.any(np.abs(np.log(plain.kernel.lengthscale / median)) > 0.1)
    objective = -evidence(pulled, observations) - settings.prior(pulled)
    np.testing.assert_allclose(info.objective, objective, rtol=1e-9)


def test_any_function_of_the_hyper_parameters_is_a_prior():
    settings = Fit(restarts=0, prior=lambda hyper: -1e6 * (hyper.noise - 0.25) ** 2)
    hyper, _ = search(jax.random.key(0), data(), WARM, settings)
    np.testing.assert_allclose(hyper.noise, 0.25, atol=1e-2)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LogNormalPrior(noise=(0.0, 1.0)), r"prior noise is \(0.0, 1.0\); expected"),
        (lambda: LogNormalPrior(noise=(1.0, -1.0)), "both positive"),
        (lambda: LogNormalPrior(noise=(1.0, np.nan)), "both positive"),
        (lambda: LogNormalPrior(noise=(1.0, 2.0, 3.0)), "both positive"),
        (lambda: LogNormalPrior(noise=1.0), "prior noise is 1.0; expected"),
        (lambda: LogNormalPrior(noise="ab"), "prior noise is 'ab'; expected"),
        (
            lambda: LogNormalPrior(length_scale=(0.3, 0.7)).check(WARM),
            r"prior has \['length_scale'\]; expected .* lengthscale, variance, noise",
        ),
        (lambda: Fit(restarts=-1), "restarts is -1; expected a whole number, at least 0"),
        (lambda: Fit(iterations=0), "iterations is 0; expected a whole number, at least 1"),
        (lambda: Fit(prior=0.3), "prior is 0.3; expected"),
        (lambda: Fit(lean=1), "lean is 1; expected"),
        (lambda: Fit(lean=True), "lean is True; expected a named prior, not None"),
        (lambda: Fit(lean=True, prior=abs), "lean is True; expected a named prior, not <built-in"),
    ],
)
def test_bad_settings_are_refused_in_one_line(make, message):
    with pytest.raises(InputError, match=message) as error:
        make()
    assert "\n" not in str(error.value)


def test_prior_repr_is_the_expression_that_makes_it():
    prior = LogNormalPrior(lengthscale=(0.3, 0.7), noise=(0.001, 2.0))
    assert eval(repr(prior)).terms == prior.terms


def test_settings_are_the_expression_that_makes_them():
    prior = LogNormalPrior(noise=(0.001, 2.0))
    for settings in (Fit(prior=prior), Fit(restarts=2, prior=prior, lean=True)):
        assert repr(eval(repr(settings))) == repr(settings)
    assert "lean" not in repr(Fit(prior=prior))
