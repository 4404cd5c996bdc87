"""Kernels print as the expression that makes them; a user's own kernels have parameters, too."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from models.gp.naive import observed, pulls, standardised

from windfall.errors import InputError
from windfall.models.gp import kernels
from windfall.models.gp.evidence import Hyper, log_evidence
from windfall.models.gp.fit import Fit, fit
from windfall.models.gp.kernels import (
    Constant,
    Custom,
    Kernel,
    Matern52,
    SquaredExponential,
    parameter,
)
from windfall.models.gp.parameters import BOUNDS


class Triangle(Kernel):
    width: Any = parameter("width", per_feature=True)
    height: Any = parameter("height")

    def __call__(self, x1, x2):
        slopes = jnp.maximum(0.0, 1.0 - jnp.abs(x1 - x2) / self.width)
        return self.height * jnp.prod(slopes)


def triangle(x1, x2, *, width, height=1.0):
    return Triangle(width, height)(x1, x2)


def brownian(a, b):
    return jnp.minimum(a[0], b[0])


positive = st.floats(1e-300, 1e300)
per_feature = st.one_of(positive, st.lists(positive, min_size=1, max_size=3))
leaves = st.one_of(
    st.builds(kernels.SquaredExponential, per_feature, positive),
    st.builds(kernels.Matern12, per_feature, positive),
    st.builds(kernels.Matern32, lengthscale=per_feature),
    st.builds(kernels.Matern52, variance=positive),
    st.builds(kernels.RationalQuadratic, per_feature, positive, positive),
    st.builds(kernels.Periodic, positive, per_feature, positive),
    st.builds(kernels.Linear, per_feature),
    st.builds(kernels.Trend, positive),
    st.builds(kernels.MainEffects, st.builds(kernels.Matern52, per_feature, positive), positive),
    st.builds(kernels.Constant, positive),
    st.builds(kernels.White, positive),
    st.builds(kernels.Own, positive),
    st.builds(Triangle, per_feature, positive),
    st.just(Custom(brownian)),
    st.builds(lambda w, h: Custom(triangle, width=w, height=h), per_feature, positive),
)
expressions = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(lambda a, b: a + b, inner, inner), st.builds(lambda a, b: a * b, inner, inner)
    ),
    max_leaves=8,
)


@given(expressions)
def test_the_text_of_a_kernel_makes_the_same_kernel_again(kernel):
    again = eval(repr(kernel), vars(kernels) | globals())
    assert eqx.tree_equal(again, kernel) is True
    assert again == kernel
    assert repr(again) == repr(kernel)


def test_brackets_are_kept_where_they_matter_and_left_out_where_they_do_not():
    a, b, c = Matern52(0.2), Constant(0.5), Triangle(0.1)
    for kernel, text in [
        (a + b + c, "{a} + {b} + {c}"),
        (a + (b + c), "{a} + ({b} + {c})"),
        (a * b * c, "{a} * {b} * {c}"),
        (a * (b * c), "{a} * ({b} * {c})"),
        ((a + b) * c, "({a} + {b}) * {c}"),
        (a + b * c, "{a} + {b} * {c}"),
        (a * (b + c) + a, "{a} * ({b} + {c}) + {a}"),
    ]:
        assert repr(kernel) == text.format(a=a, b=b, c=c)


def fitted(kernel):
    x, y = pulls(repeats=True)
    observations = observed(x, standardised(y))
    warm = Hyper(kernel, np.float64(0.05))
    hyper, _ = eqx.filter_jit(fit)(
        jax.random.key(0), observations, warm, Fit(restarts=2, iterations=200)
    )
    return hyper, float(log_evidence(hyper, observations)), float(log_evidence(warm, observations))


def test_a_function_and_a_class_with_the_same_parameters_are_fitted_alike():
    _, value, before = fitted(Triangle([1.5, 1.5], 1.0))
    by_name, same, _ = fitted(Custom(triangle, width=[1.5, 1.5], height=1.0))
    by_dictionary, _, _ = fitted(Custom(triangle, {"width": [1.5, 1.5], "height": 1.0}))
    assert value > before + 0.5
    np.testing.assert_allclose(same, value, atol=1e-2)
    assert eqx.tree_equal(by_name, by_dictionary)


def test_parameters_with_a_name_of_windfalls_own_keep_to_its_bounds():
    def smooth(a, b, lengthscale):
        return SquaredExponential(lengthscale)(a, b)

    x, _ = pulls(repeats=False)
    flat = observed(x, np.zeros(12))  # the longer the better
    for kernel, highest in [
        (Custom(smooth, lengthscale=1.0), BOUNDS["lengthscale"][1]),
        (Custom(lambda a, b, reach: SquaredExponential(reach)(a, b), reach=1.0), 1e3),
    ]:
        warm = Hyper(kernel, np.float64(1e-4))
        hyper, _ = fit(jax.random.key(0), flat, warm, Fit(restarts=0, iterations=300))
        (value,) = hyper.kernel.parameters.values()
        assert highest / 50 < value <= highest * (1 + 1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Custom(triangle, width=0.0), "width is 0.0; expected a positive finite number"),
        (lambda: Custom(triangle), r"kernel triangle has parameters \[\].*: missing .* 'width'"),
        (lambda: Custom(triangle, width=1.0, hight=2.0), "unexpected keyword argument 'hight'"),
        (lambda: Custom(lambda a: a[0]), "expected those of its signature"),
        (lambda: Custom(None, width=1.0), "kernel is None; expected a function"),
    ],
)
def test_parameters_must_fit_the_function(make, message):
    with pytest.raises(InputError, match=message) as error:
        make()
    assert "\n" not in str(error.value)


def test_a_callable_without_a_signature_is_taken_as_it_is():
    assert repr(Custom(max)) == "Custom(max)"  # inspect knows no signature of this builtin
