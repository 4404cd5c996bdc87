"""The evidence and its gradient against SciPy, scikit-learn, tinygp and finite differences."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import sklearn.gaussian_process.kernels as sk
import tinygp
from hypothesis import given, settings
from hypothesis import strategies as st
from jax.flatten_util import ravel_pytree
from models.gp.naive import central_differences, gram, observed, pulls, standardised
from scipy.stats import multivariate_normal
from sklearn.gaussian_process import GaussianProcessRegressor

from windfall.models.gp.evidence import Hyper, covariance, log_evidence, log_normal
from windfall.models.gp.kernels import (
    Constant,
    Custom,
    Linear,
    Matern12,
    Matern32,
    Matern52,
    Periodic,
    RationalQuadratic,
    SquaredExponential,
    White,
)

NOISE = np.float64(0.05)
HYPER = Hyper(SquaredExponential([0.3, 0.7], 1.5), NOISE)
KERNELS = {
    "squared-exponential": SquaredExponential([0.3, 0.7], 1.5),
    "matern-1/2": Matern12([0.3, 0.7], 1.5),
    "matern-3/2": Matern32([0.3, 0.7], 1.5),
    "matern-5/2": Matern52([0.3, 0.7], 1.5),
    "rational-quadratic": RationalQuadratic([0.3, 0.7], 1.5, 0.8),
    "composite": 0.5 * Periodic(0.6, 0.8) + Linear(0.5) * Matern52(0.4) + White(0.1),
}
evidence = jax.jit(log_evidence)
evidence_and_gradient = jax.jit(jax.value_and_grad(log_evidence))
repeats = pytest.mark.parametrize("repeats", [False, True], ids=["distinct", "repeats"])
each_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS.keys())


def in_logs(hyper, gradient):
    """∂/∂ log θ = θ · ∂/∂θ, as one vector."""
    return ravel_pytree(jax.tree.map(jnp.multiply, hyper, gradient))[0]


@repeats
@each_kernel
def test_collapsed_evidence_is_the_density_of_all_rewards(kernel, repeats):
    x, y = pulls(repeats)
    matrix = gram(kernel, x, x) + NOISE * np.eye(len(x))
    expected = multivariate_normal(np.zeros(len(x)), matrix).logpdf(y)
    np.testing.assert_allclose(evidence(Hyper(kernel, NOISE), observed(x, y)), expected, rtol=1e-10)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.floats(-3, 3)), min_size=1, max_size=10),
    st.floats(1e-3, 1.0),
)
def test_collapsed_evidence_is_the_density_of_all_rewards_whatever_was_pulled(history, noise):
    grid = np.array([[0.0, 0.0], [0.4, 0.1], [0.9, 0.8], [0.3, 1.0]])
    x, y = grid[[arm for arm, _ in history]], np.array([reward for _, reward in history])
    hyper = Hyper(HYPER.kernel, np.float64(noise))
    matrix = np.asarray(hyper.kernel.gram(x, x)) + noise * np.eye(len(x))
    expected = multivariate_normal(np.zeros(len(x)), matrix).logpdf(y)
    np.testing.assert_allclose(evidence(hyper, observed(x, y)), expected, rtol=1e-8, atol=1e-8)


@repeats
@pytest.mark.parametrize(
    ("kernel", "reference"),
    [
        (SquaredExponential([0.3, 0.7], 1.5), sk.ConstantKernel(1.5) * sk.RBF([0.3, 0.7])),
        (Matern52([0.3, 0.7], 1.5), sk.ConstantKernel(1.5) * sk.Matern([0.3, 0.7], nu=2.5)),
    ],
    ids=["squared-exponential", "matern-5/2"],
)
def test_evidence_and_gradient_equal_scikit_learn(kernel, reference, repeats):
    x, y = pulls(repeats)
    y = standardised(y)
    regressor = GaussianProcessRegressor(
        reference + sk.WhiteKernel(NOISE), alpha=0.0, optimizer=None
    ).fit(x, y)
    answer: Any = regressor.log_marginal_likelihood(regressor.kernel_.theta, eval_gradient=True)
    expected, (amplitude, first, second, noise) = answer  # scikit-learn's order
    hyper = Hyper(kernel, NOISE)
    value, gradient = evidence_and_gradient(hyper, observed(x, y))
    np.testing.assert_allclose(value, expected, rtol=1e-10)
    np.testing.assert_allclose(
        in_logs(hyper, gradient), [first, second, amplitude, noise], rtol=1e-8, atol=1e-10
    )


def test_evidence_equals_tinygp_for_a_composite_kernel():
    x, y = pulls(repeats=True)
    kernel = Matern32(0.5, 1.2) * SquaredExponential(0.8) + 0.4 * Linear() + Constant(0.3)
    euclidean = tinygp.kernels.distance.L2Distance()
    reference = (
        1.2
        * tinygp.kernels.Matern32(0.5, distance=euclidean)
        * tinygp.kernels.ExpSquared(0.8, distance=euclidean)
        + 0.4 * tinygp.kernels.DotProduct()
        + tinygp.kernels.Constant(0.3)
    )
    expected = tinygp.GaussianProcess(reference, x, diag=NOISE).log_probability(y)
    np.testing.assert_allclose(evidence(Hyper(kernel, NOISE), observed(x, y)), expected, rtol=1e-10)


@repeats
@each_kernel
def test_compiled_gradient_equals_finite_differences(kernel, repeats):
    x, y = pulls(repeats)
    data = observed(x, standardised(y))
    hyper = Hyper(kernel, NOISE)
    flat, unravel = ravel_pytree(jax.tree.map(jnp.log, hyper))
    expected = central_differences(
        lambda u: evidence(jax.tree.map(jnp.exp, unravel(u)), data), flat
    )
    value, gradient = evidence_and_gradient(hyper, data)
    np.testing.assert_allclose(value, evidence(hyper, data), rtol=1e-12)
    np.testing.assert_allclose(in_logs(hyper, gradient), expected, rtol=1e-6, atol=1e-7)


def test_log_normal_gradient_equals_finite_differences_in_rewards_and_matrix():
    rng = np.random.default_rng(3)
    root, y = rng.standard_normal((4, 4)), rng.standard_normal(4)
    matrix = root @ root.T + np.eye(4)
    by_y, by_matrix = jax.grad(log_normal, (0, 1))(y, matrix)
    np.testing.assert_allclose(
        by_y, central_differences(lambda v: log_normal(v, matrix), y), rtol=1e-7
    )

    def perturbed(entries):
        change = entries.reshape(4, 4)
        return log_normal(y, matrix + (change + change.T) / 2)  # a covariance stays symmetric

    expected = central_differences(perturbed, np.zeros(16)).reshape(4, 4)
    np.testing.assert_allclose(by_matrix, expected, rtol=1e-7)


@pytest.mark.parametrize("name", ["squared-exponential", "composite"])
def test_capacity_does_not_show(name):
    x, y = pulls(repeats=True)
    kernel = KERNELS[name]
    hyper = Hyper(kernel, NOISE)
    small, large = (evidence_and_gradient(hyper, observed(x, y, capacity)) for capacity in (16, 64))
    np.testing.assert_allclose(small[0], large[0], rtol=1e-12)
    np.testing.assert_allclose(
        in_logs(hyper, small[1]), in_logs(hyper, large[1]), rtol=1e-9, atol=1e-10
    )


def test_covariance_is_the_identity_on_free_slots():
    x, y = pulls(repeats=True)
    data = observed(x, y)
    used, matrix = int(data.used), np.asarray(covariance(HYPER, data))
    live = data.features[:used]
    expected = np.eye(16)
    expected[:used, :used] = gram(HYPER.kernel, live, live) + np.diag(NOISE / data.count[:used])
    np.testing.assert_allclose(matrix, expected, rtol=1e-12)


def test_a_function_without_a_value_at_zero_keeps_its_gradient():
    # Free slots hold zeros; the cosine of an angle with the zero vector is 0/0.
    def cosine(a, b, height):
        return height * a @ b / jnp.sqrt((a @ a) * (b @ b))

    x, y = pulls(repeats=True)
    hyper = Hyper(Custom(cosine, {"height": 0.7}), NOISE)
    data = observed(x + 0.1, standardised(y))
    _, gradient = evidence_and_gradient(hyper, data)
    expected = central_differences(
        lambda v: evidence(Hyper(Custom(cosine, {"height": v[0]}), NOISE), data), [0.7]
    )
    np.testing.assert_allclose(gradient.kernel.parameters["height"], expected[0], rtol=1e-6)


@settings(max_examples=25)
@given(st.permutations(range(12)))
def test_the_order_of_the_arms_does_not_matter(order):
    x, y = pulls(repeats=True)
    one = evidence(HYPER, observed(x, y))
    np.testing.assert_allclose(evidence(HYPER, observed(x[order], y[order])), one, rtol=1e-11)


@settings(max_examples=25)
@given(st.floats(1e-3, 1e3))
def test_scaling_rewards_and_variances_shifts_the_evidence_by_the_jacobian(unit):
    x, y = pulls(repeats=True)
    scaled = Hyper(SquaredExponential([0.3, 0.7], 1.5 * unit**2), NOISE * unit**2)
    expected = evidence(HYPER, observed(x, y)) - len(y) * np.log(unit)
    np.testing.assert_allclose(evidence(scaled, observed(x, y * unit)), expected, rtol=1e-9)


def test_no_cholesky_factor_means_minus_infinity_and_never_nan():
    def indefinite(a, b):
        return -jnp.sum((a - b) ** 2)  # zero on the diagonal, negative elsewhere

    x, y = pulls(repeats=False)
    assert evidence(Hyper(Custom(indefinite), np.float64(1e-6)), observed(x, y)) == -np.inf
    assert evidence(Hyper(Custom(lambda a, b: jnp.nan), NOISE), observed(x, y)) == -np.inf
    assert log_normal(np.ones(2), np.array([[1.0, 2.0], [2.0, 1.0]])) == -np.inf
