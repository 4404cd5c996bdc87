"""Every kernel against plain formulas, scikit-learn and finite differences."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import sklearn.gaussian_process.kernels as sk
from hypothesis import given, settings
from hypothesis import strategies as st
from jax.flatten_util import ravel_pytree
from models.gp.naive import central_differences, gram

from windfall.errors import InputError
from windfall.models.gp import kernels
from windfall.models.gp.kernels import (
    Constant,
    Custom,
    Effects,
    Jumps,
    Kernel,
    Linear,
    MainEffects,
    Matern12,
    Matern32,
    Matern52,
    Periodic,
    Product,
    RationalQuadratic,
    SquaredExponential,
    Sum,
    Trend,
    White,
    as_kernel,
)
from windfall.models.gp.kernels.stationary import squared_distance

SCALES = [0.3, 0.7]
POINTS = np.random.default_rng(0).uniform(size=(7, 2))
POINTS[3] = POINTS[0]  # coinciding points
POINTS[4, 0] = POINTS[1, 0]  # one feature in common


def distance(a, b, scales):
    return math.sqrt(sum(((p - q) / s) ** 2 for p, q, s in zip(a, b, scales, strict=True)))


def matern32(r):
    return (1 + math.sqrt(3) * r) * math.exp(-math.sqrt(3) * r)


def matern52(r):
    return (1 + math.sqrt(5) * r + 5 * r**2 / 3) * math.exp(-math.sqrt(5) * r)


def brownian(a, b):
    return jnp.minimum(a[0], b[0]) + jnp.minimum(a[1], b[1])


def cosine_similarity(a, b, height):
    return height * a @ b / jnp.sqrt((a @ a) * (b @ b))


def periodic(a, b, scales=(0.8, 0.8)):
    waves = (math.sin(math.pi * (p - q) / 0.6) / s for p, q, s in zip(a, b, scales, strict=True))
    return 1.3 * math.exp(-2 * sum(w * w for w in waves))


# kernel, the same covariance of two points written out, the same in scikit-learn (where it exists)
CASES = {
    "squared-exponential": (
        SquaredExponential(0.4, 1.7),
        lambda a, b: 1.7 * math.exp(-(distance(a, b, [0.4, 0.4]) ** 2) / 2),
        1.7 * sk.RBF(0.4),
    ),
    "squared-exponential-ard": (
        SquaredExponential(SCALES, 1.7),
        lambda a, b: 1.7 * math.exp(-(distance(a, b, SCALES) ** 2) / 2),
        1.7 * sk.RBF(SCALES),
    ),
    "matern-1/2": (
        Matern12(SCALES, 0.6),
        lambda a, b: 0.6 * math.exp(-distance(a, b, SCALES)),
        0.6 * sk.Matern(SCALES, nu=0.5),
    ),
    "jumps": (
        Jumps(SCALES),
        lambda a, b: math.exp(-distance(a, b, [1 + s for s in SCALES])),
        sk.Matern([1 + s for s in SCALES], nu=0.5),
    ),
    "matern-3/2": (
        Matern32(SCALES, 0.6),
        lambda a, b: (
            0.6
            * (1 + math.sqrt(3) * distance(a, b, SCALES))
            * math.exp(-math.sqrt(3) * distance(a, b, SCALES))
        ),
        0.6 * sk.Matern(SCALES, nu=1.5),
    ),
    "matern-5/2": (
        Matern52(SCALES, 0.6),
        lambda a, b: (
            0.6
            * (1 + math.sqrt(5) * distance(a, b, SCALES) + 5 / 3 * distance(a, b, SCALES) ** 2)
            * math.exp(-math.sqrt(5) * distance(a, b, SCALES))
        ),
        0.6 * sk.Matern(SCALES, nu=2.5),
    ),
    "rational-quadratic": (
        RationalQuadratic(0.5, 2.0, 0.8),
        lambda a, b: 2.0 * (1 + distance(a, b, [0.5, 0.5]) ** 2 / 1.6) ** -0.8,
        2.0 * sk.RationalQuadratic(0.5, alpha=0.8),
    ),
    "periodic": (Periodic(0.6, 0.8, 1.3), periodic, None),
    "periodic-ard": (
        Periodic(0.6, SCALES, 1.3),
        lambda a, b: periodic(a, b, SCALES),
        None,
    ),
    "linear": (Linear(0.9), lambda a, b: 0.9 * (a @ b), 0.9 * sk.DotProduct(0.0)),
    "linear-ard": (Linear(SCALES), lambda a, b: 0.3 * a[0] * b[0] + 0.7 * a[1] * b[1], None),
    "trend": (
        Trend(0.9),
        lambda a, b: 0.9 * sum((p - 0.5) * (q - 0.5) for p, q in zip(a, b, strict=True)),
        lambda x: 0.9 * sk.DotProduct(0.0)(x - 0.5),
    ),
    "main-effects": (
        MainEffects(Matern32(SCALES, 0.6), 0.7),
        lambda a, b: (
            0.6 * matern32(distance(a, b, SCALES))
            + 0.35 * sum(matern32(math.sqrt(2.0) * abs(a[j] - b[j]) / SCALES[j]) for j in range(2))
        ),
        None,
    ),
    "main-effects-5/2": (
        MainEffects(Matern52(SCALES, 0.6), 0.7),
        lambda a, b: (
            0.6 * matern52(distance(a, b, SCALES))
            + 0.35 * sum(matern52(math.sqrt(2.0) * abs(a[j] - b[j]) / SCALES[j]) for j in range(2))
        ),
        None,
    ),
    "effects": (Effects((1,), 0.7), lambda a, b: 0.7 * a[1] * b[1], None),
    "constant": (Constant(2.5), lambda a, b: 2.5, sk.ConstantKernel(2.5)),
    "white": (White(0.4), lambda a, b: 0.4 * float((a == b).all()), None),
    "custom": (Custom(brownian), lambda a, b: min(a[0], b[0]) + min(a[1], b[1]), None),
    "custom-parameters": (
        Custom(cosine_similarity, {"height": 1.5}),
        lambda a, b: 1.5 * (a @ b) / (np.linalg.norm(a) * np.linalg.norm(b)),
        None,
    ),
    "sum": (
        SquaredExponential(SCALES) + Linear(0.5) + 2.0,
        lambda a, b: math.exp(-(distance(a, b, SCALES) ** 2) / 2) + 0.5 * (a @ b) + 2.0,
        sk.RBF(SCALES) + 0.5 * sk.DotProduct(0.0) + 2.0,
    ),
    "product": (
        0.5 * Matern12(0.7) * (Linear() + Constant(0.3)),
        lambda a, b: 0.5 * math.exp(-distance(a, b, [0.7, 0.7])) * (a @ b + 0.3),
        0.5 * sk.Matern(0.7, nu=0.5) * (sk.DotProduct(0.0) + sk.ConstantKernel(0.3)),
    ),
    "sum-with-function": (
        brownian + 0.5 * SquaredExponential(0.2),
        lambda a, b: (
            min(a[0], b[0])
            + min(a[1], b[1])
            + 0.5 * math.exp(-(distance(a, b, [0.2, 0.2]) ** 2) / 2)
        ),
        None,
    ),
}
each_kernel = pytest.mark.parametrize(
    ("kernel", "formula"), [c[:2] for c in CASES.values()], ids=CASES.keys()
)


@each_kernel
def test_gram_and_pairwise_calls_equal_the_formula(kernel, formula):
    others = POINTS[:4] + np.array([[0.0, 0.0], [0.1, 0.0], [0.0, 0.2], [0.3, 0.4]])
    expected = np.array([[formula(a, b) for b in others] for a in POINTS])
    np.testing.assert_allclose(kernel.gram(POINTS, others), expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(gram(kernel, POINTS, others), expected, rtol=1e-12, atol=1e-14)
    at_itself = [formula(a, a) for a in POINTS]
    np.testing.assert_allclose(kernel.diagonal(POINTS), at_itself, rtol=1e-12)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case[2] is not None])
def test_gram_equals_scikit_learn(name):
    kernel, _, reference = CASES[name]
    np.testing.assert_allclose(kernel.gram(POINTS, POINTS), reference(POINTS), rtol=1e-12)


def test_periodic_in_one_dimension_equals_scikit_learn():
    x = POINTS[:, :1]
    reference = sk.ConstantKernel(1.3) * sk.ExpSineSquared(0.8, 0.6)
    np.testing.assert_allclose(Periodic(0.6, 0.8, 1.3).gram(x, x), reference(x), rtol=1e-12)


@settings(max_examples=15)
@given(steps=st.lists(st.integers(0, 10), min_size=16, max_size=16))
@pytest.mark.parametrize("kernel", [c[0] for c in CASES.values()], ids=CASES.keys())
def test_gram_is_symmetric_and_positive_semidefinite(kernel, steps):
    x = np.array(steps).reshape(8, 2) / 10 + 0.01  # a grid: coinciding points are common
    matrix = np.asarray(kernel.gram(x, x))
    np.testing.assert_allclose(matrix, matrix.T, rtol=1e-14)
    eigenvalues = np.linalg.eigvalsh(matrix)
    assert eigenvalues[0] >= -1e-13 * len(x) * eigenvalues[-1]


@pytest.mark.parametrize("name", [name for name in CASES if name != "custom"])  # no parameters
def test_gradient_is_finite_at_coinciding_points_and_equals_differences(name):
    flat, unravel = ravel_pytree(CASES[name][0])
    weights = np.random.default_rng(1).standard_normal((len(POINTS), len(POINTS)))

    @jax.jit
    def total(log_parameters):
        return jnp.sum(weights * unravel(jnp.exp(log_parameters)).gram(POINTS, POINTS))

    at = np.log(flat)
    expected = central_differences(total, at)
    np.testing.assert_allclose(jax.grad(total)(at), expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("kernel", [c[0] for c in CASES.values()], ids=CASES.keys())
def test_repr_is_the_expression_that_makes_the_kernel(kernel):
    again = eval(repr(kernel), vars(kernels) | globals())
    assert repr(again) == repr(kernel)
    np.testing.assert_array_equal(again.gram(POINTS, POINTS), kernel.gram(POINTS, POINTS))


def test_repr_keeps_brackets_that_matter():
    a, b, c = SquaredExponential(0.2), Linear(0.5), Constant(0.1)
    assert repr(a * (b + c)) == f"{a!r} * ({b!r} + {c!r})"
    assert repr(a * b + c) == f"{a!r} * {b!r} + {c!r}"


def test_numbers_and_functions_compose_on_either_side():
    kernel = SquaredExponential(0.5)
    plain = np.asarray(kernel.gram(POINTS, POINTS))
    custom = gram(brownian, POINTS, POINTS)
    for combined, expected in [
        (kernel + 2, plain + 2),
        (2 + kernel, plain + 2),
        (kernel * 3.0, plain * 3),
        (np.float64(3.0) * kernel, plain * 3),
        (np.int64(3) + kernel, plain + 3),
        (kernel + brownian, plain + custom),
        (brownian * kernel, plain * custom),
    ]:
        assert isinstance(combined, Sum | Product)
        np.testing.assert_allclose(combined.gram(POINTS, POINTS), expected, rtol=1e-12)


def test_any_subclass_with_a_call_is_a_kernel():
    class Triangle(Kernel):
        def __call__(self, x1, x2):
            return jnp.maximum(0.0, 1.0 - jnp.abs(x1[0] - x2[0]))

    expected = np.maximum(0, 1 - np.abs(POINTS[:, None, 0] - POINTS[None, :, 0]))
    np.testing.assert_allclose(Triangle().gram(POINTS, POINTS), expected, rtol=1e-12)
    with pytest.raises(TypeError, match="Kernel does not define"):
        Kernel()(POINTS[0], POINTS[1])


@pytest.mark.parametrize("name", ["squared-exponential", "linear", "periodic", "sum", "product"])
def test_expansion_gives_each_feature_a_parameter_and_changes_no_covariance(name):
    kernel = CASES[name][0]
    expanded = kernel.expanded(2)
    np.testing.assert_allclose(
        expanded.gram(POINTS, POINTS), kernel.gram(POINTS, POINTS), rtol=1e-13
    )
    assert ravel_pytree(expanded)[0].size > ravel_pytree(kernel)[0].size - (name == "sum")
    assert jax.tree.map(np.shape, expanded.expanded(2)) == jax.tree.map(np.shape, expanded)


def test_expansion_leaves_alone_what_has_no_features():
    kernel = Constant(2.0) + White(0.1) + Custom(brownian)
    assert repr(kernel.expanded(3)) == repr(kernel)


@pytest.mark.parametrize(
    "kernel", [Matern32(SCALES), Linear(SCALES), Periodic(1.0, SCALES), 2.0 + Matern32(SCALES)]
)
def test_expansion_refuses_another_number_of_features(kernel):
    with pytest.raises(InputError, match="has 2 entries; expected one number, or one for"):
        kernel.expanded(3)


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf, "0.2", None, [], [[0.2]], [0.1, 0]])
def test_lengthscale_must_be_positive_numbers(bad):
    with pytest.raises(InputError, match=r"lengthscale is .*; expected a positive finite number"):
        SquaredExponential(lengthscale=bad)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SquaredExponential(0.2, [1.0, 2.0]), "variance is"),
        (lambda: Periodic(period=-1), "period is -1"),
        (lambda: RationalQuadratic(alpha=0), "alpha is 0"),
        (lambda: White(jnp.asarray(-1.0)), "variance is"),
        (lambda: Custom(cosine_similarity, {"height": -2.0}), "height is -2.0"),
        (lambda: MainEffects(Linear()), "expected one of the distance, such as Matern52"),
        (lambda: MainEffects(Matern52(), -1.0), "effect is -1.0"),
        (lambda: Custom(3), "kernel is 3; expected a function"),
        (lambda: as_kernel("rbf"), "kernel is 'rbf'; expected"),
        (lambda: as_kernel(SquaredExponential), "expected a windfall kernel"),
        (lambda: SquaredExponential() + -1.0, "variance is -1.0"),
        (lambda: SquaredExponential() * None, "kernel is None"),
        (lambda: as_kernel(lambda a, b: a * b).gram(POINTS, POINTS), "returned an array of shape"),
    ],
)
def test_bad_kernels_are_refused_in_one_line(make, message):
    with pytest.raises(InputError, match=message) as error:
        make()
    assert "\n" not in str(error.value)


def test_kernels_can_be_made_inside_compiled_code():
    @jax.jit
    def build(scale):
        return SquaredExponential(scale, 2.0).gram(POINTS, POINTS)

    np.testing.assert_allclose(
        build(0.4), SquaredExponential(0.4, 2.0).gram(POINTS, POINTS), rtol=1e-14
    )


@pytest.mark.parametrize("columns", [4, 150])
def test_derivatives_of_the_squared_distance_equal_those_of_its_definition(columns):
    """By JAX from the n×m×d differences, which the library never makes."""
    rng = np.random.default_rng(0)
    weights = rng.uniform(0.1, 9.0, columns)
    x1, x2 = rng.random((5, columns)), rng.random((6, columns))
    x2[0] = x1[0]
    cotangent = rng.standard_normal((5, 6))

    def naive(weights, x1, x2):
        return jnp.sum(weights * (x1[:, None] - x2[None]) ** 2, axis=-1)

    def pulled(function):
        value, pull = jax.vjp(function, weights, x1, x2)
        return value, *pull(cotangent)

    for mine, definition in zip(pulled(squared_distance), pulled(naive), strict=True):
        # Sums of at most 6 products of numbers below 10 each: a hundred roundings of 10. The value
        # is a sum over the columns, and every one of its roundings is of at most 10 for each.
        most = max(1e3, 10.0 * columns**2) * np.finfo(float).eps
        np.testing.assert_allclose(mine, definition, rtol=0, atol=most)
    assert squared_distance(weights, x1, x2)[0, 0] == 0.0


@pytest.mark.parametrize("kernel", [SquaredExponential, Matern12, Matern52, RationalQuadratic])
def test_along_one_feature_a_correlation_is_the_same_function(kernel):
    r, one = np.array([0.0, 1e-9, 0.1, 1.0, 7.0, 1e5]), kernel(1.0)
    # √r² below 10⁻¹⁸ counts as that: by no more than this they differ at 0.
    np.testing.assert_allclose(one.along(r), one.profile(r**2), rtol=1e-12, atol=1e-17)


def test_slopes_of_the_matern_function_are_finite_and_those_of_its_formula():
    """By the product rule from the formula of r, and −5/6 at 0, where that is 0/0 for r²."""
    one, r = Matern52(1.0), np.array([1e-3, 0.1, 1.0, 7.0])
    s = np.sqrt(5.0) * r
    by_s = (1.0 + 2.0 * s / 3.0) * np.exp(-s) - (1.0 + s + s**2 / 3.0) * np.exp(-s)
    slope = jax.vmap(jax.grad(one.along))
    # By the product rule nearly equal numbers are subtracted: s³ of them is left.
    np.testing.assert_allclose(slope(r), np.sqrt(5.0) * by_s, rtol=1e-9)
    by_square = jax.vmap(jax.grad(one.profile))
    np.testing.assert_allclose(by_square(r**2), np.sqrt(5.0) * by_s / (2.0 * r), rtol=1e-9)
    ends = np.array([0.0, 1e12])
    np.testing.assert_allclose(by_square(ends), [-5.0 / 6.0, 0.0], rtol=1e-12)
    np.testing.assert_array_equal(slope(ends), [0.0, 0.0])
