"""Input densities: a Gaussian, a function, weights; and what is not one."""

import numpy as np
import pytest
from scipy.stats import norm

from windfall.attention.prior import as_prior, check_weights, gaussian, prior_values
from windfall.errors import InputError

X = np.array([[0.0, 1.0], [0.5, -2.0], [3.0, 0.0]])


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
    [([0.0], [0.0]), ([0.0], [-1.0]), ([np.nan], [1.0]), ([0.0], [np.inf]), ([0, 0, 0], [1, 1])],
)
def test_an_impossible_gaussian_is_refused(mean, deviation):
    with pytest.raises(InputError, match=r"^prior mean .*deviation .*one per feature$"):
        gaussian(mean, deviation)


def test_a_gaussian_over_other_features_is_refused():
    with pytest.raises(InputError, match="over 3 features and the arms have 2"):
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
