"""Named hyper-priors against SciPy, and the most probable hyper-parameters against a dense grid."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree
from models.gp.naive import observed, pulls, standardised
from scipy import stats

from windfall.errors import InputError
from windfall.models.gp.evidence import Hyper, log_evidence
from windfall.models.gp.fit import Fit, fit
from windfall.models.gp.kernels import (
    Custom,
    Matern52,
    Periodic,
    RationalQuadratic,
    SquaredExponential,
)
from windfall.models.gp.model import GP
from windfall.models.gp.priors import DimensionPrior, GammaPrior, LogNormalPrior, usual_prior
from windfall.space import Arms

ONE = Hyper(SquaredExponential([0.2, 0.9], 1.0), np.float64(1e-2))
OTHER = Hyper(SquaredExponential([1.2, 0.05], 8.0), np.float64(1e-5))


def test_gamma_prior_is_the_density_of_the_logarithms_up_to_a_constant():
    prior = GammaPrior(lengthscale=(3.0, 6.0), noise=(0.5, 20.0))

    def naive(hyper):
        # The density of log θ is that of θ times θ.
        scales, noise = np.asarray(hyper.kernel.lengthscale), float(hyper.noise)
        total = np.sum(stats.gamma.logpdf(scales, 3.0, scale=1 / 6.0) + np.log(scales))
        return total + stats.gamma.logpdf(noise, 0.5, scale=1 / 20.0) + np.log(noise)

    np.testing.assert_allclose(prior(ONE) - prior(OTHER), naive(ONE) - naive(OTHER), rtol=1e-12)


@pytest.mark.parametrize(
    ("prior", "peak"),
    [
        (LogNormalPrior(lengthscale=(0.3, 0.7), noise=(0.01, 2.0)), (0.3, 0.01)),
        (DimensionPrior(lengthscale=(0.3, 0.7), noise=(0.01, 2.0)), (0.3 * 2**0.5, 0.01)),
        (GammaPrior(lengthscale=(3.0, 6.0), noise=(0.5, 20.0)), (3.0 / 6.0, 0.5 / 20.0)),
    ],
    ids=["log-normal", "dimension", "gamma"],
)
def test_spreads_are_what_the_curvature_at_the_peak_says(prior, peak):
    scale, noise = peak
    logs = jax.tree.map(np.log, Hyper(SquaredExponential([scale, scale], 1.0), np.float64(noise)))
    flat, unravel = ravel_pytree(logs)
    curvature = -jax.hessian(lambda u: prior(jax.tree.map(jnp.exp, unravel(u))))(flat)
    spreads = prior.spreads(ONE)
    known = np.array([True, True, False, True])  # no prior of the variance: 1
    np.testing.assert_allclose(np.diag(curvature)[known], spreads[known] ** -2.0, rtol=1e-9)
    assert spreads[2] == 1.0


def smooth(a, b, lengthscale):
    return SquaredExponential(lengthscale)(a, b)


@pytest.mark.parametrize(
    "prior",
    [
        LogNormalPrior(lengthscale=(0.1, 0.2), noise=(0.3, 0.4)),
        GammaPrior(lengthscale=(30.0, 200.0), noise=(8.0, 20.0)),
        lambda hyper: -20.0 * sum((jnp.log(v) + 1.0) ** 2 for v in jax.tree.leaves(hyper)),
    ],
    ids=["log-normal", "gamma", "function"],
)
def test_the_most_probable_hyper_parameters_are_those_of_a_dense_grid(prior):
    x, y = pulls(repeats=True)
    observations = observed(x, standardised(y))
    side = np.linspace(np.log(0.02), np.log(5.0), 160), np.linspace(np.log(1e-3), 0.0, 160)
    grid = np.stack(np.meshgrid(*side, indexing="ij"), -1).reshape(-1, 2)

    @jax.jit
    def density(logs):
        def one(u):
            hyper = Hyper(Custom(smooth, lengthscale=jnp.exp(u[0])), jnp.exp(u[1]))
            return log_evidence(hyper, observations) + prior(hyper)

        return jax.lax.map(one, logs)

    values = np.asarray(density(grid))
    top = grid[np.argmax(values)]
    assert np.all((top > grid.min(axis=0)) & (top < grid.max(axis=0)))
    warm = Hyper(Custom(smooth, lengthscale=0.5), np.float64(0.1))
    hyper, info = eqx.filter_jit(fit)(
        jax.random.key(0), observations, warm, Fit(iterations=200, prior=prior)
    )
    found = np.log([hyper.kernel.parameters["lengthscale"], hyper.noise])
    spacing = grid[-1] - grid[-2], grid[-1] - grid[-161]
    np.testing.assert_allclose(found, top, atol=1.5 * max(map(np.max, spacing)))
    assert -info.objective >= values.max() - 1e-6
    assert values.max() > float(density(np.log([[0.5, 0.1]]))[0]) + 0.05  # it had to move


def test_the_usual_prior_knows_what_it_can_and_leaves_the_rest_alone():
    kernel = RationalQuadratic(0.3) + Custom(lambda a, b, reach: reach * a[0] * b[0], reach=2.0)
    prior = usual_prior(Hyper(kernel, np.float64(1e-3)))
    assert prior.terms.keys() == {"lengthscale", "variance", "alpha", "noise"}
    other = eqx.tree_at(lambda k: k.right.parameters["reach"], kernel, np.float64(50.0))
    assert prior(Hyper(kernel, np.float64(0.1))) == prior(Hyper(other, np.float64(0.1)))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GammaPrior(noise=(0.0, 1.0)), r"\(0.0, 1.0\); expected \(shape, rate\), both pos"),
        (lambda: GammaPrior(noise=2.0), "prior noise is 2.0; expected"),
        (
            lambda: GP(Matern52(), fit=Fit(prior=GammaPrior(period=(1.0, 1.0)))).begin(
                Arms(np.eye(2)), 4
            ),
            r"prior has \['period'\]; expected names of hyper-parameters: lengthscale, variance",
        ),
    ],
)
def test_bad_priors_are_refused_in_one_line(make, message):
    with pytest.raises(InputError, match=message) as error:
        make()
    assert "\n" not in str(error.value)


def test_a_prior_may_name_what_only_one_of_the_kernels_has():
    """And counts where that kernel is in use."""
    prior = LogNormalPrior(noise=(0.1, 1.0), period=(0.5, 1.0))
    GP(Matern52(), contexts=Periodic(), fit=Fit(prior=prior)).begin(Arms(np.eye(2)), 4)
    prior.check(ONE, Hyper(Periodic(), np.float64(0.1)))
    assert prior(ONE) == LogNormalPrior(noise=(0.1, 1.0))(ONE)


@pytest.mark.parametrize("prior", [GammaPrior(noise=(0.5, 2.0)), LogNormalPrior(noise=(0.1, 1.0))])
def test_the_text_of_a_prior_makes_it_again(prior):
    again = eval(repr(prior))
    assert type(again) is type(prior)
    assert again.terms == prior.terms
