"""Input densities: a Gaussian, a function, weights; and what is not one."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import norm

from windfall.attention.domain_prior import (
    check_traceable,
    check_weights,
    prior_over,
    prior_values,
)
from windfall.attention.prior import LogDensity, as_prior, gaussian, independent
from windfall.errors import InputError

X = np.array([[0.0, 1.0], [0.5, -2.0], [3.0, 0.0]])


def same(x):
    """The user's units where they are those of the unit box."""
    return x


def test_a_gaussian_is_proportional_to_scipys():
    found = gaussian([0.5, 0.0], [1.0, 2.0])(X)
    wanted = norm(0.5, 1.0).pdf(X[:, 0]) * norm(0.0, 2.0).pdf(X[:, 1])
    np.testing.assert_allclose(found / wanted, found[0] / wanted[0])
    assert np.ptp(found) > 0.1


def test_one_deviation_serves_all_features_and_equal_priors_are_equal():
    assert gaussian([0, 1], 2) == gaussian([0.0, 1.0], [2.0, 2.0])
    assert hash(gaussian([0, 1], 2)) == hash(gaussian([0.0, 1.0], [2.0, 2.0]))
    assert repr(gaussian([0, 1], 2)) == "Gaussian(mean=(0.0, 1.0), deviation=(2.0, 2.0))"


@pytest.mark.parametrize(
    ("mean", "deviation"),
    [
        ([0.0], [0.0]),
        ([0.0], [-1.0]),
        ([np.nan], [1.0]),
        ([0.0], [np.inf]),
        ([0, 0, 0], [1, 1]),
        ("a", 1),
    ],
)
def test_an_impossible_gaussian_is_refused(mean, deviation):
    with pytest.raises(InputError, match=r"^prior has mean .*deviation .*one per feature$"):
        gaussian(mean, deviation)


def test_a_gaussian_over_other_features_is_refused():
    with pytest.raises(
        InputError,
        match=r"over 3 features; .*, and the arms have 2$",
    ):
        prior_values(gaussian([0, 0, 0], 1.0), X, X)


def test_no_prior_is_uniform():
    at_points, at_arms = prior_values(None, X, X[:2])
    np.testing.assert_array_equal(at_points, np.ones(3))
    np.testing.assert_array_equal(at_arms, np.ones(2))


def test_points_and_arms_share_one_scale():
    prior = gaussian([0.0, 0.0], 1.0)
    at_points, at_arms = prior_values(prior, X, X[1:])
    assert at_points.mean() == pytest.approx(1.0)
    np.testing.assert_allclose(at_arms, at_points[1:])
    np.testing.assert_allclose(at_points / at_points[0], prior(X) / prior(X)[0])


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        (lambda x: np.ones(2), r"prior returned shape \(2,\) for 3 points; expected one density"),
        (lambda x: 1.0, r"prior returned shape \(\) for 3 points"),
        (lambda x: np.array([1.0, -1.0, 1.0]), r"prior is -1\.0 at point 1; expected finite"),
        (lambda x: np.array([1.0, 1.0, np.nan]), "prior is nan at point 2; expected finite"),
        (lambda x: np.zeros(3), "prior is 0 everywhere; expected some positive density"),
    ],
)
def test_a_function_that_is_no_density_is_refused(prior, message):
    with pytest.raises(InputError, match=f"^{message}"):
        prior_values(prior, X, X)


def test_weights_are_scaled_to_mean_one():
    np.testing.assert_allclose(check_weights([1, 2, 3], 3), [0.5, 1.0, 1.5])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 2], r"prior has shape \(2,\); expected one weight for each of 3 arms"),
        ([[1], [2], [3]], r"prior has shape \(3, 1\)"),
        ([1, np.inf, 1], "prior is inf at point 1"),
        ([0, 0, 0], "prior is 0 everywhere"),
    ],
)
def test_weights_that_do_not_fit_are_refused(weights, message):
    with pytest.raises(InputError, match=f"^{message}"):
        check_weights(weights, 3)


def test_what_users_write():
    assert as_prior(None) is None
    assert as_prior(np.sum) is np.sum
    np.testing.assert_array_equal(as_prior((1, 2)), [1.0, 2.0])
    for wrong in ("uniform", [[1, 2], [3]], {"a": 1}):
        with pytest.raises(InputError, match=r"^prior is .*; expected None, a function"):
            as_prior(wrong)


def test_independent_marginals_multiply():
    x = np.array([[0.2, 5.0, 0.0, 1.0], [0.7, -1.0, 2.0, 0.0], [0.2, 0.0, 1.0, 1.0]])
    prior = independent([gaussian(0.5, 0.2), None, [1.0, 0.0, 3.0], lambda v: 1.0 + v**2])
    weights = np.array([1.0, 0.0, 3.0])[x[:, 2].astype(int)]
    wanted = np.exp(-0.5 * ((x[:, 0] - 0.5) / 0.2) ** 2) * weights * (1.0 + x[:, 3] ** 2)
    np.testing.assert_allclose(prior(x), wanted)
    with jax.enable_x64(True):
        np.testing.assert_allclose(jax.jit(prior)(x), wanted)  # inside compiled code, too
    assert prior == prior
    assert independent([None, [1, 2]]) == independent([None, (1.0, 2.0)])
    assert len({independent([None, [1, 2]]), independent([None, [1, 2]])}) == 1


@pytest.mark.parametrize(
    ("marginals", "message"),
    [
        ([], r"marginals is \[\]; expected a list, one entry for each feature"),
        ("ab", "marginals is 'ab'; expected a list"),
        (3, "marginals is 3; expected a list"),
        ([gaussian([0, 0], 1.0)], "marginal 0 is a Gaussian over 2 features; expected 1"),
        ([None, "x"], "marginal 1 is 'x'; expected None, gaussian"),
        ([[1.0, -1.0]], r"marginal 0 is \[1.0, -1.0\]; expected"),
        ([[0.0, 0.0]], "marginal 0 is .*; expected"),
        ([0.5], "marginal 0 is 0.5; expected"),
    ],
)
def test_impossible_marginals_are_refused(marginals, message):
    with pytest.raises(InputError, match=f"^{message}"):
        independent(marginals)


def test_too_few_weights_for_the_choices_are_refused():
    prior = independent([None, [1.0, 3.0]])
    np.testing.assert_array_equal(prior(np.array([[0.5, 0.0], [0.5, 1.0]])), [1.0, 3.0])
    for value in (2.0, -1.0):
        with pytest.raises(InputError, match=r"^marginal 1 has 2 weights, for choices 0 to 1; "):
            prior(np.array([[0.5, value]]))


def test_a_prior_prints_the_same_in_every_process():
    prior = independent([gaussian(0.5, 0.2), None, [1, 2], np.exp, lambda v: v])
    assert " at 0x" not in repr(prior)
    assert repr(prior) == (
        "Independent((Gaussian(mean=(0.5,), deviation=(0.2,)), None, (1.0, 2.0), exp, "
        "test_a_prior_prints_the_same_in_every_process.<locals>.<lambda>,))"
    )


def test_marginals_for_other_features_are_refused():
    with pytest.raises(InputError, match="marginals over 3 features; expected one for each"):
        prior_values(independent([None] * 3), X, X)


def test_a_log_density_neither_under_nor_overflows():
    plain = gaussian([0.5, 0.0], [1.0, 2.0])

    def log(x):
        return 5000.0 - 0.5 * ((x[:, 0] - 0.5) ** 2 + (x[:, 1] / 2.0) ** 2)

    wanted = prior_values(plain, X, X[:2])
    np.testing.assert_allclose(prior_values(LogDensity(log), X, X[:2])[0], wanted[0])
    np.testing.assert_allclose(prior_values(LogDensity(log), X, X[:2])[1], wanted[1])
    at_points, density = prior_over(LogDensity(log), X, same)
    np.testing.assert_allclose(at_points, wanted[0])
    with jax.enable_x64(True):
        np.testing.assert_allclose(density(jnp.asarray(X)), wanted[0])
    assert "LogDensity(test_a_log" in repr(LogDensity(log))
    for bad in (np.nan, np.inf, -np.inf):
        with pytest.raises(InputError, match=r"^LogDensity.* is NaN, \+inf or -inf everywhere"):
            prior_over(LogDensity(lambda x, bad=bad: np.full(len(x), bad)), X, same)
    with pytest.raises(InputError, match="log density is 3; expected a function"):
        LogDensity(3)


def test_the_density_anywhere_agrees_with_that_over_the_domain():
    for prior in (gaussian([0.5, 0.0], [1.0, 2.0]), lambda x: 1.0 + x[:, 0] ** 2):
        at_points, density = prior_over(prior, X, same)
        assert at_points.mean() == pytest.approx(1.0)
        with jax.enable_x64(True):
            np.testing.assert_allclose(density(jnp.asarray(X)), at_points)


def test_a_prior_that_jax_cannot_trace_says_so():
    _, numpy_only = prior_over(lambda x: np.exp(-np.asarray(x[:, 0])), X, same)
    with pytest.raises(InputError, match=r"^prior .*lambda.* be traced by JAX, which hurts$"):
        check_traceable(numpy_only, [2], "hurts")
    _, fine = prior_over(gaussian([0.5, 0.0], 1.0), X, same)
    check_traceable(fine, [2], "hurts")
