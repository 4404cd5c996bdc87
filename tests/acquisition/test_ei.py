"""Expected improvement against integrals and SciPy, also where it has long underflowed."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from acquisition.fakes import fake, situation, tried_at
from scipy import integrate
from scipy.stats import norm

from windfall.acquisition.ei import EI, expected_improvement, log_expected_improvement

ZERO = 0.0
log_ei = jax.jit(log_expected_improvement)


def log_h(z) -> np.ndarray:
    z = jnp.atleast_1d(jnp.asarray(z, float))
    return np.asarray(log_ei(z, jnp.ones_like(z), ZERO))


def exact_log_h(z: float) -> float:
    """log ∫ t φ(t − z) dt over t > 0, with φ(z) taken out so that nothing cancels or underflows."""
    if z > -1.0:
        return float(np.log(z * norm.cdf(z) + norm.pdf(z)))
    size = -z  # t = s/|z|:  φ(z)/z² ∫ s exp(−s − s²/(2z²)) ds
    value, _ = integrate.quad(
        lambda s: s * np.exp(-s - 0.5 * (s / size) ** 2), 0.0, 60.0, epsabs=0.0, epsrel=1e-13
    )
    return float(norm.logpdf(z) + np.log(value / size**2))


@pytest.mark.parametrize(
    "z",
    [8.0, 2.0, 0.5, 0.0, -0.5, -0.999, -1.001, -3.0, -10.0, -19.9, -20.1, -38.0, -100.0, -1000.0],
)
def test_agrees_with_the_integral(z):
    # The far tail's logarithm is ½z²: compare to the rounding of that.
    assert log_h(z)[0] == pytest.approx(exact_log_h(z), rel=1e-12, abs=1e-9)


def test_agrees_with_the_closed_form_where_that_works():
    z = np.linspace(-4.0, 6.0, 201)
    np.testing.assert_allclose(np.exp(log_h(z)), z * norm.cdf(z) + norm.pdf(z), rtol=1e-9)


def test_one_deviation_below_the_best():
    assert np.exp(log_h(-1.0))[0] == pytest.approx(0.083315, abs=1e-6)


def test_is_finite_increasing_and_smooth_down_to_minus_1000():
    z = np.concatenate([np.linspace(-1000.0, -60.0, 500), np.linspace(-60.0, 10.0, 4001)])
    values = log_h(z)
    assert np.all(np.isfinite(values))
    assert np.all(np.diff(values)[np.diff(z) > 0] > 0)
    # No step where one formula takes over from another.
    for seam in (-1.0, -20.0):
        below, above = log_h([np.nextafter(seam, -np.inf), np.nextafter(seam, 0.0)])
        assert abs(above - below) < 1e-9


def test_the_gradient_is_finite_and_agrees_with_differences():
    def total(z):
        return jnp.sum(log_expected_improvement(z, jnp.ones_like(z), ZERO))

    z = np.array([-1000.0, -50.0, -20.5, -19.5, -5.0, -1.1, -0.9, 0.0, 3.0, 30.0])
    gradient = np.asarray(jax.jit(jax.grad(total))(jnp.asarray(z)))
    assert np.all(np.isfinite(gradient))
    step = 1e-4
    differences = (log_h(z + step) - log_h(z - step)) / (2.0 * step)
    np.testing.assert_allclose(gradient, differences, rtol=1e-5)


def test_the_gradient_is_finite_without_deviation():
    def total(mean, deviation):
        return jnp.sum(log_expected_improvement(mean, deviation, ZERO))

    mean = jnp.asarray([-1.0, 0.0, 1.0])
    for part in jax.jit(jax.grad(total, (0, 1)))(mean, jnp.zeros(3)):
        assert not np.any(np.isnan(part))


def test_without_deviation_the_improvement_is_certain():
    mean = jnp.asarray([-2.0, -1e-9, 0.0, 1e-9, 0.5, 20.0, 1e9])
    values = np.asarray(log_ei(mean, jnp.zeros(7), ZERO))
    assert np.all(np.isfinite(values))
    np.testing.assert_allclose(values[3:], np.log(mean[3:]), rtol=1e-12)
    assert np.all(np.exp(values[:3]) < 1e-140)
    assert np.all(np.diff(values[2:]) > 0)


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e9])
def test_units_shift_the_logarithm_only(unit):
    rng = np.random.default_rng(0)
    mean, deviation = jnp.asarray(rng.normal(size=50)), jnp.asarray(rng.random(50))
    plain = log_ei(mean, deviation, jnp.asarray(0.3))
    scaled = log_ei(unit * mean, unit * deviation, jnp.asarray(unit * 0.3))
    np.testing.assert_allclose(scaled, plain + np.log(unit), rtol=1e-9)


def test_the_acquisition_uses_the_best_reward_and_xi():
    arms = np.random.default_rng(1).random((20, 2))
    belief = fake(tried=tried_at(arms[:3], [0.1, 0.5, -0.2]))
    score = EI(xi=0.25).focus(jax.random.key(0), belief, situation(arms), None)
    mean, deviation = fake().moments(jnp.asarray(arms))
    z = (mean - 0.75) / deviation
    wanted = deviation * (z * norm.cdf(z) + norm.pdf(z))
    np.testing.assert_allclose(np.exp(score(arms)), wanted, rtol=1e-7)


def test_the_plain_improvement_equals_its_logarithm_and_its_slopes_are_chance_and_density():
    """To rounding of σ: in the far tail, where nothing of it is left, it is exactly 0 or tiny."""
    z = jnp.asarray(np.linspace(-45.0, 8.0, 107))
    deviation = jnp.asarray(np.geomspace(1e-8, 10.0, 107))
    mean = 0.3 + z * deviation
    plain = expected_improvement(mean, deviation, jnp.asarray(0.3))
    exact = np.exp(log_ei(mean, deviation, 0.3))
    eps = np.finfo(float).eps
    # λ itself is rounded to ε·target/σ, and φ(λ)/σ turns that into as much of the value.
    rounding = 8 * eps * (0.3 + np.abs(mean) + deviation)
    assert np.all(np.abs(plain - exact) <= rounding)
    assert np.all(plain >= 0)
    by_mean, by_deviation = jax.grad(
        lambda m, s: jnp.sum(expected_improvement(m, s, jnp.asarray(0.3))), argnums=(0, 1)
    )(mean, deviation)
    at = (np.asarray(mean) - 0.3) / np.asarray(deviation)
    np.testing.assert_allclose(by_mean, norm.cdf(at), rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(by_deviation, norm.pdf(at), rtol=1e-9, atol=1e-300)
    one, nothing = jnp.ones(1), jnp.zeros(())
    certain = jax.grad(lambda s: expected_improvement(one, s, nothing)[0])(jnp.zeros(1))
    assert np.all(np.isfinite(certain))
