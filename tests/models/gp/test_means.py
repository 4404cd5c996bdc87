"""Mean functions against scikit-learn, universal kriging and plain algebra on every reward."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import sklearn.gaussian_process.kernels as sk
from models.gp import naive
from models.gp.believing import learned
from models.gp.naive import observed, pulls
from models.gp.test_sampling import assert_mean
from scipy.stats import multivariate_normal
from sklearn.gaussian_process import GaussianProcessRegressor

from windfall.errors import InputError
from windfall.models.gp.evidence import Hyper, log_evidence
from windfall.models.gp.kernels import SquaredExponential
from windfall.models.gp.means import Constant, Function, Linear, Mean, Zero, as_mean
from windfall.models.gp.model import GP
from windfall.models.gp.observations import Scale
from windfall.models.gp.posterior import condition
from windfall.space import Arms, Categorical, Integer, Parameters, Real

NOISE = np.float64(0.05)
HYPER = Hyper(SquaredExponential([0.3, 0.7], 1.5), NOISE)
UNIT = Scale(np.float64(0.0), np.float64(1.0))
AT = np.random.default_rng(9).uniform(size=(7, 2))
REFERENCE = {
    "zero": (Zero(), 1.5 * sk.RBF([0.3, 0.7])),
    "constant": (Constant(), 1.5 * sk.RBF([0.3, 0.7]) + sk.ConstantKernel(100.0)),
    "linear": (
        Linear(deviation=3.0),
        1.5 * sk.RBF([0.3, 0.7]) + 9.0 * sk.DotProduct(1.0),  # 9 (1 + x·x')
    ),
}
each_mean = pytest.mark.parametrize(("mean", "reference"), REFERENCE.values(), ids=REFERENCE.keys())


def known(features):
    return 4.0 - 3.0 * features[:, 0] * features[:, 1]


@jax.jit
def predict(hyper, observations, scale, trend, x):
    return condition(hyper, observations, scale, trend).moments(x)


@each_mean
@pytest.mark.parametrize("repeats", [False, True], ids=["distinct", "repeats"])
def test_moments_and_evidence_equal_scikit_learn(mean, reference, repeats):
    x, y = pulls(repeats)
    regressor = GaussianProcessRegressor(reference, alpha=float(NOISE), optimizer=None).fit(x, y)
    expected, deviations = regressor.predict(AT, return_std=True)
    ours = predict(HYPER, observed(x, y), UNIT, mean, AT)
    np.testing.assert_allclose(ours[0], expected, rtol=1e-8)
    np.testing.assert_allclose(ours[1], deviations, rtol=1e-6)
    evidence = log_evidence(HYPER, observed(x, y), mean)
    np.testing.assert_allclose(evidence, regressor.log_marginal_likelihood_value_, rtol=1e-9)


@pytest.mark.parametrize("mean", [Constant(1e4), Linear(1e4)], ids=["ordinary", "universal"])
def test_a_wide_prior_is_kriging_by_generalised_least_squares(mean):
    x, y = pulls(repeats=True)
    basis = (
        (lambda p: np.ones((len(p), 1)))
        if isinstance(mean, Constant)
        else (lambda p: np.column_stack([np.ones(len(p)), p]))
    )
    k = lambda a, b: np.asarray(HYPER.kernel.gram(a, b))  # noqa: E731
    precision = np.linalg.inv(k(x, x) + NOISE * np.eye(len(x)))
    h, cross = basis(x), k(AT, x)
    information = h.T @ precision @ h
    beta = np.linalg.solve(information, h.T @ precision @ y)
    expected = basis(AT) @ beta + cross @ precision @ (y - h @ beta)
    gap = basis(AT) - cross @ precision @ h
    variance = np.diag(k(AT, AT) - cross @ precision @ cross.T)
    variance = variance + np.sum(gap @ np.linalg.inv(information) * gap, axis=1)
    ours = predict(HYPER, observed(x, y), UNIT, mean, AT)
    np.testing.assert_allclose(ours[0], expected, atol=1e-5)
    np.testing.assert_allclose(ours[1], np.sqrt(variance), atol=1e-5)


def test_far_away_linear_follows_the_trend_and_the_others_revert():
    x = np.linspace(0.0, 1.0, 11)[:, None]
    y = 5.0 + 4.0 * x[:, 0] + 0.3 * np.sin(20.0 * x[:, 0])
    hyper = Hyper(SquaredExponential([0.1], 0.1), np.float64(1e-4))
    far = np.array([[-2.0], [3.0]])
    answers = [
        np.asarray(predict(hyper, observed(x, y), None, mean, far))
        for mean in (Zero(), Constant(), Linear())
    ]
    zero, constant, linear = (mean for mean, _ in answers)
    np.testing.assert_allclose(zero, y.mean(), atol=1e-9)
    np.testing.assert_allclose(constant[0], constant[1], rtol=1e-9)
    np.testing.assert_allclose(linear, [-3.0, 17.0], atol=1.0)
    deviations = [np.min(deviation) for _, deviation in answers]
    assert deviations[0] < deviations[1] < deviations[2]  # unknown coefficients are admitted


@pytest.mark.parametrize("repeats", [False, True], ids=["distinct", "repeats"])
def test_a_function_is_subtracted_and_added_back(repeats):
    x, y = pulls(repeats)
    rest = y - known(x)
    location, spread = naive.scale(x, rest)
    mean, matrix = naive.posterior(
        lambda a, b: np.asarray(HYPER.kernel.gram(a, b)), NOISE, x, (rest - location) / spread, AT
    )
    ours = predict(HYPER, observed(x, y), None, Function(known), AT)
    np.testing.assert_allclose(ours[0], known(AT) + location + spread * mean, rtol=1e-9)
    np.testing.assert_allclose(ours[1], spread * np.sqrt(np.diag(matrix)), rtol=1e-7)


def test_a_function_that_knows_everything_is_the_prediction():
    x, _ = pulls(repeats=False)
    mean, _ = predict(HYPER, observed(x, known(x)), None, Function(known), AT)
    np.testing.assert_allclose(mean, known(AT), atol=1e-12)


def test_a_function_sees_the_features_of_the_arms_in_their_own_units():
    arms = np.array([[10.0, -1.0, 7.0], [30.0, 3.0, 7.0], [20.0, 0.0, 7.0]])
    space = Arms(arms)
    bound = Function(lambda f: f @ jnp.array([1.0, 10.0, 100.0])).bound(space)
    np.testing.assert_allclose(bound.offset(space.points), arms @ [1.0, 10.0, 100.0], rtol=1e-14)


def test_a_function_sees_the_parameters_of_a_box_in_their_own_units():
    kind = Categorical(("a", "b", "c"))
    space = Parameters({"rate": Real(1e-3, 1e1, log=True), "layers": Integer(1, 8), "kind": kind})
    points = [{"rate": 0.1, "layers": 3, "kind": "c"}, {"rate": 2.0, "layers": 8, "kind": "a"}]
    x = np.array([space.encode(p) for p in points])
    bound = Function(lambda f: f[:, 0] + 10.0 * f[:, 1] + 100.0 * f[:, 2]).bound(space)
    np.testing.assert_allclose(jax.jit(bound.offset)(x), [230.1, 82.0], rtol=1e-12)


@pytest.mark.parametrize("mean", [Constant(), Linear(3.0), Function(known)], ids=repr)
def test_extending_equals_conditioning(mean):
    x, y = pulls(repeats=True)

    @jax.jit
    def both(before):
        again = before.add(x[-1], y[-1])
        new = again.add(AT[0], np.float64(2.0))
        extended = condition(HYPER, before, UNIT, mean).extend(again).extend(new)
        return extended.moments(AT), condition(HYPER, new, UNIT, mean).moments(AT)

    extended, expected = both(observed(x[:-1], y[:-1]))
    np.testing.assert_allclose(extended, expected, rtol=1e-8)


@pytest.mark.parametrize("mean", [Constant(), Linear(3.0), Function(known)], ids=repr)
def test_draws_have_the_mean_and_covariance_of_the_posterior(mean):
    x, y = pulls(repeats=True)
    at = AT[:4]

    @jax.jit
    def draw(keys):
        posterior = condition(HYPER, observed(x, y), UNIT, mean)
        return jax.vmap(lambda key: posterior.sample(key, x, features=16)(at))(keys)

    draws = np.asarray(draw(jax.random.split(jax.random.key(1), 8_000)))
    offset = known(x), known(at)
    rest = y - offset[0] if isinstance(mean, Function) else y
    kernel = mean.over(HYPER.kernel)
    expected, matrix = naive.posterior(
        lambda a, b: np.asarray(kernel.gram(a, b)), NOISE, x, rest, at
    )
    expected = expected + offset[1] if isinstance(mean, Function) else expected
    assert_mean(draws, expected)
    assert_mean(np.einsum("ni,nj->nij", draws - expected, draws - expected), matrix)


@pytest.mark.parametrize("mean", [Zero(), Constant(), Linear(), Function(known)], ids=repr)
def test_the_model_learns_with_every_mean_and_no_fit_touches_it(mean):
    x, y = pulls(repeats=True)
    gp = GP(mean=mean)
    prior = gp.begin(Arms(x), 16).posterior
    belief, info = learned(gp, Arms(x), observed(x, y))
    posterior = belief.posterior
    assert jax.tree.structure(posterior.hyper) == jax.tree.structure(prior.hyper)
    assert eqx.tree_equal(posterior.trend, prior.trend)
    scaled, k = posterior.observations, posterior.kernel
    n = int(scaled.used)
    features = np.asarray(scaled.features)[:n]
    matrix = np.asarray(k.gram(features, features))
    matrix = matrix + np.diag(np.asarray(posterior.hyper.noise / scaled.count[:n]))
    expected = multivariate_normal(np.zeros(n), matrix).logpdf(np.asarray(scaled.mean)[:n])
    spare = np.asarray(scaled.count)[:n]
    noise = float(posterior.hyper.noise)
    expected -= 0.5 * np.sum((spare - 1) * np.log(2 * np.pi * noise) + np.log(spare))
    expected -= 0.5 * float(np.sum(scaled.squares)) / noise
    np.testing.assert_allclose(-info.objective, expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("mean", "text"),
    [
        (Zero(), "Zero()"),
        (Constant(), "Constant(deviation=10.0)"),
        (Linear(deviation=2), "Linear(deviation=2.0)"),
        (as_mean(known), "known"),
    ],
)
def test_means_print_as_they_are_written(mean, text):
    assert isinstance(mean, Mean)
    assert repr(mean) == text
    assert repr(as_mean(eval(text))) == text
    expected = "" if text == "Zero()" else f"mean={text}, "
    assert f"noise=0.0001, {expected}fit=Fit(" in repr(GP(mean=mean))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GP(mean=3.0), "mean is 3.0; expected means.Zero"),
        (lambda: GP(mean=Linear), "mean is <class .*; expected"),
        (lambda: Function(3.0), "mean is 3.0; expected a function"),
        (lambda: Constant(0.0), "deviation is 0.0; expected a finite number, above 0"),
        (
            lambda: as_mean(lambda f: 1.0).offset(AT),
            r"returned an array of shape \(\) for 7 points",
        ),
        (lambda: as_mean(lambda f: f).offset(AT), r"returned an array of shape \(7, 2\)"),
    ],
)
def test_bad_means_are_refused_in_one_line(make, message):
    with pytest.raises(InputError, match=message) as error:
        make()
    assert "\n" not in str(error.value)
