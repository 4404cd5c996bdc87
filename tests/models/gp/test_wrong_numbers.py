"""Numbers that a model is made of: JAX's are checked like all others, and text is no number."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import windfall as wf
from windfall.errors import InputError
from windfall.models.gp.kernels import Constant, Custom, Matern32, Matern52, SquaredExponential


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SquaredExponential(jnp.array(-1.0)), "lengthscale is -1.0; expected a positive"),
        (lambda: SquaredExponential(jnp.array([1.0, np.nan])), r"lengthscale is Array\(.*; exp"),
        (lambda: SquaredExponential(["0.5"]), r"lengthscale is \['0.5'\]; expected a positive"),
        (lambda: SquaredExponential(True), "lengthscale is True; expected a positive"),
        (lambda: SquaredExponential(variance=jnp.ones(2)), r"variance is Array\(.*; expected"),
        (lambda: SquaredExponential(variance=np.complex128(1)), r"variance is .*; expected"),
        (lambda: Custom(lambda a, b, slope: slope, slope=jnp.array(0)), "slope is 0; expected"),
        (lambda: jnp.array(-2.0) * SquaredExponential(), "variance is -2.0; expected a positive"),
        (lambda: wf.means.Constant(jnp.array(0.0)), "deviation is 0.0; expected a finite number"),
        (lambda: wf.means.Linear(jnp.ones(2)), r"deviation is Array\(.*; expected a number"),
        (lambda: wf.LogNormalPrior(noise="12"), "prior noise is '12'; expected .median, spread."),
        (lambda: wf.LogNormalPrior(noise=("1", "2")), r"prior noise is \('1', '2'\); expected"),
        (lambda: wf.GammaPrior(noise=(jnp.array(-1.0), 1.0)), r"prior noise is .*; expected"),
        (lambda: wf.GammaPrior(noise=(10**400, 1.0)), r"prior noise is .*; expected"),
        (lambda: wf.gaussian("3", 1.0), "prior has mean '3' and deviation 1.0; expected finite"),
        (lambda: wf.gaussian(0.0, jnp.array(0.0)), "prior has mean 0.0 and deviation 0.0; expect"),
        (lambda: wf.independent([["1", "2"]]), r"marginal 0 is \['1', '2'\]; expected None"),
    ],
)
def test_they_are_refused(make, message):
    with pytest.raises(InputError, match=f"^{message}"):
        make()


def test_a_jax_number_is_as_good_as_any():
    assert repr(jnp.array(2.0) * Matern52()) == repr(Constant(2.0) * Matern52())
    assert repr(wf.LogNormalPrior(noise=(jnp.array(0.5), 1))) == "LogNormalPrior(noise=(0.5, 1.0))"
    assert wf.gaussian(jnp.zeros(2), jnp.array(1.0)) == wf.gaussian([0.0, 0.0], 1.0)


@pytest.mark.parametrize("kernel", [Matern32, Matern52])
def test_nothing_is_shared_with_a_point_so_far_away_that_its_distance_overflows(kernel):
    with jax.enable_x64(True):
        far = jnp.array([[1e3], [1e6], [1e200], [np.inf]])
        np.testing.assert_array_equal(kernel(0.3).gram(far, jnp.array([[0.5]])), 0.0)
        np.testing.assert_array_equal(kernel(0.3).glance(far[:, 0] ** 2), 0.0)
