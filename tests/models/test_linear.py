"""Bayesian linear regression against inverses, SciPy's multivariate t, scikit-learn and duality."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.linear_model import BayesianRidge, Ridge

from windfall.errors import InputError
from windfall.models.base import Reward
from windfall.models.linear import BayesianLinear
from windfall.space import Arms

EPS = np.finfo(float).eps
# Other seeds than those of rewards: these inputs are new to every study here.
X = np.random.default_rng(2**20).uniform(size=(40, 2))
SPACE = Arms(X, None, (np.zeros(2), np.ones(2)))
NEW = np.random.default_rng(2**20 + 1).uniform(size=(9, 2))
MODELS = {
    "linear": BayesianLinear(),
    "polynomial": BayesianLinear("polynomial"),
    "fourier": BayesianLinear("fourier", size=12, seed=2),
    "own": BayesianLinear(lambda x: jnp.stack([x[:, 0], jnp.exp(x[:, 1])], axis=1)),
}
seeds = st.integers(0, 2**16)


_imagine = eqx.filter_jit(lambda belief, x: belief.imagine(x))
_features = eqx.filter_jit(lambda belief, x: belief.features(x))
_moments = eqx.filter_jit(lambda belief, x: belief.moments(x))


@jax.jit
def _observed(belief, x, numbers, n):
    return jax.lax.fori_loop(0, n, lambda i, b: b.observe(x[i], Reward(*numbers[:, i])), belief)


def _all(belief, x, y, n):
    numbers = np.stack([y, np.ones_like(y), np.zeros_like(y), np.zeros_like(y)])
    return _observed(jax.tree.map(jnp.asarray, belief), x, numbers, n)


condition = eqx.filter_jit(lambda model, belief: model.condition(belief))
search = eqx.filter_jit(lambda model, belief: model.search(jax.random.key(0), belief))


def told(model, x, y, count=None, squares=None, variance=None, precision=None):
    """A belief that is conditioned on rewards, with the precision given or searched."""
    given = zip((count, squares, variance), (1.0, 0.0, 0.0), strict=True)
    columns = [y, *(np.full(len(y), usual) if c is None else c for c, usual in given)]
    begun = jax.tree.map(jnp.asarray, model.begin(SPACE, 16))
    belief = _observed(begun, padded(x), padded(np.transpose(columns)).T, len(y))
    if precision is None:
        return condition(model, search(model, belief)[0])
    return condition(model, belief.load({"precision": precision}))


def padded(rows):
    """Few rows filled up to one number of them, so that they share compiled programs."""
    return np.concatenate([rows, np.zeros((max(16 - len(rows), 0), rows.shape[1]))])


def phi(belief, x):
    return np.column_stack([np.ones(len(x)), _features(belief, padded(x))[: len(x)]])


def rewards(seed, n, noise=0.3):
    random = np.random.default_rng(seed)
    x = random.uniform(size=(n, 2))
    return x, 5.0 + 3.0 * x[:, 0] - x[:, 1] ** 2 + noise * random.normal(size=n)


def moments(belief, x=NEW):
    return tuple(np.asarray(a)[: len(x)] for a in _moments(belief, padded(x)))


def close(belief, other, condition_number=1e4):
    """Predictions that agree to the rounding of solving with such a matrix."""
    scale = float(np.sqrt(belief.sums.variance))
    for a, b in zip(moments(belief), other, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e2 * EPS * condition_number, atol=scale * 1e-9)


@pytest.mark.parametrize("name", MODELS)
@given(seeds, st.integers(2, 12), st.floats(-2.0, 1.0))
def test_posterior_and_evidence_are_the_textbooks(name, seed, n, decade):
    model, precision = MODELS[name], 10.0**decade
    x, y = rewards(seed, n)
    belief = told(model, x, y, precision=precision)
    P, Q, r = phi(belief, x), phi(belief, NEW), y - y.mean()
    a0, b0 = 3.0, 2.0 * 0.01 * y.var()
    inverse = np.linalg.inv(precision * np.eye(P.shape[1]) + P.T @ P)
    m = inverse @ P.T @ r
    b = b0 + 0.5 * (r - P @ m) @ r
    variance = b / (a0 + n / 2 - 1.0) * np.sum(Q @ inverse * Q, axis=1)
    close(belief, (y.mean() + Q @ m, np.sqrt(variance)))
    scale = b0 / a0 * (np.eye(n) + P @ P.T / precision)
    expected = stats.multivariate_t(np.zeros(n), scale, df=2 * a0).logpdf(r)
    np.testing.assert_allclose(belief.posterior.evidence, expected, rtol=1e-8, atol=1e-8)


def dual(belief, x, y, noise):
    """The same predictions as those of a Gaussian process with kernel s² φᵀφ'/λ."""
    P, Q = phi(belief, x), phi(belief, NEW)
    prior = float(belief.posterior.noise / belief.precision)
    solved = np.linalg.solve(prior * P @ P.T + np.diag(noise), prior * P @ Q.T)
    mean = y.mean() + solved.T @ (y - y.mean())
    return mean, np.sqrt(prior * np.sum(Q * Q, axis=1) - np.sum(solved * (prior * P @ Q.T), axis=0))


@given(seeds, st.integers(1, 8), st.integers(1, 8))
def test_known_noise_is_weighted_regression(seed, n, more):
    """With some noise unknown, s² is what the rewards of unknown noise say, about the same mean."""
    x, y = rewards(seed, n + more)
    variance = np.where(np.arange(n + more) < n, 0.0, np.geomspace(0.01, 4.0, n + more))
    for known in (variance, np.geomspace(0.01, 4.0, n + more)):
        belief = told(MODELS["polynomial"], x, y, variance=known, precision=0.3)
        P, r = phi(belief, x)[known == 0], (y - y.mean())[known == 0]
        misfit = r @ np.linalg.solve(np.eye(len(r)) + P @ P.T / 0.3, r)
        noise = (2.0 * 0.01 * y.var() + 0.5 * misfit) / (2.0 + len(r) / 2)
        np.testing.assert_allclose(belief.posterior.noise, noise, rtol=1e-9)
        close(belief, dual(belief, x, y, np.where(known > 0, known, noise)))


def test_the_evidence_of_known_noise_is_a_normal_density():
    """But for a constant: differences between two precisions are compared."""
    x, y = rewards(1, 9)
    variance = np.geomspace(0.01, 4.0, 9)

    def both(precision):
        belief = told(MODELS["polynomial"], x, y, variance=variance, precision=precision)
        P, prior = phi(belief, x), float(belief.posterior.noise) / precision
        expected = stats.multivariate_normal(np.zeros(9), prior * P @ P.T + np.diag(variance))
        return float(belief.posterior.evidence), expected.logpdf(y - y.mean())

    (a, expected_a), (b, expected_b) = both(0.05), both(5.0)
    np.testing.assert_allclose(a - b, expected_a - expected_b, rtol=1e-8)


def test_exact_rewards_are_met_whatever_their_units():
    for scale, shift in ((1.0, 0.0), (1e-6, 0.0), (1e6, 1e6)):
        x = X[:3]
        y = shift + scale * np.array([0.0, 2.0, 1.0])
        belief = told(MODELS["polynomial"], x, y, variance=np.full(3, 1e-300))
        mean, deviation = moments(belief, x)
        np.testing.assert_allclose(mean, y, atol=1e-3 * scale)
        assert np.all(deviation < 2e-4 * scale)


@given(seeds, st.floats(-6.0, 6.0), st.floats(-1e3, 1e3))
def test_other_units_of_rewards_are_other_units_of_predictions(seed, decade, shift):
    """The shift may cost as many digits as it is larger than the spread."""
    x, y = rewards(seed, 7)
    scale = 10.0**decade
    variance = np.where(np.arange(7) < 4, 0.0, 0.09)
    mean, deviation = moments(told(MODELS["linear"], x, y, variance=variance))
    other = told(MODELS["linear"], x, scale * (y + shift), variance=scale**2 * variance)
    other_mean, other_deviation = moments(other)
    np.testing.assert_allclose(other_mean / scale - shift, mean, atol=1e-8)
    np.testing.assert_allclose(other_deviation / scale, deviation, rtol=1e-8)


@given(seeds)
def test_order_and_replicates_make_no_difference(seed):
    random = np.random.default_rng(seed)
    x, y = rewards(seed, 12)
    x = x[random.integers(0, 4, 12)]  # several rewards at each of four inputs
    expected = told(MODELS["polynomial"], x, y, precision=0.1)
    order = random.permutation(12)
    shuffled = told(MODELS["polynomial"], x[order], y[order], precision=0.1)
    places = np.unique(x, axis=0)
    groups = [y[np.all(x == place, axis=1)] for place in places]
    merged = told(
        MODELS["polynomial"],
        places,
        np.array([g.mean() for g in groups]),
        count=np.array([float(len(g)) for g in groups]),
        squares=np.array([np.sum((g - g.mean()) ** 2) for g in groups]),
        precision=0.1,
    )
    for other in (shuffled, merged):
        close(other, moments(expected))
        np.testing.assert_allclose(other.posterior.noise, expected.posterior.noise, rtol=1e-9)
        assert int(other.tried.distinct) == len(places)
        assert float(other.tried.best) == pytest.approx(max(g.mean() for g in groups))


def test_scikit_learn_finds_the_same_coefficients_and_precision():
    model = BayesianLinear()
    random = np.random.default_rng(0)
    x = random.uniform(size=(400, 12))
    y = (2 * x - 1) @ random.normal(size=12) + 0.5 * random.normal(size=400)
    belief = model.begin(Arms(x, None, (np.zeros(12), np.ones(12))), 16)
    belief = _all(belief, x, y, 400)
    belief = condition(model, search(model, belief)[0])
    ridge = Ridge(alpha=float(belief.precision), fit_intercept=False).fit(
        phi(belief, x), y - y.mean()
    )
    np.testing.assert_allclose(belief.posterior.weights, ridge.coef_, rtol=1e-9, atol=1e-12)
    bayes = BayesianRidge().fit(2 * x - 1, y)
    # Twelve coefficients tell λ to a factor of about 1.5; the grid has steps of a factor of 3.2.
    assert abs(np.log10(float(belief.precision) / (bayes.lambda_ / bayes.alpha_))) < 0.5
    assert float(belief.posterior.noise) == pytest.approx(1.0 / bayes.alpha_, rel=0.05)


def test_a_hundred_thousand_rewards_take_no_more_room_and_lose_no_digits():
    model, n = MODELS["linear"], 100_000
    x, y = rewards(0, n)
    x[:, 0] = np.round(x[:, 0], 2)
    begun = model.begin(SPACE, 16)

    belief = condition(model, _all(begun, x, y + 1e4, n))
    assert jax.tree.map(np.shape, belief) == jax.tree.map(np.shape, begun)
    P, r = phi(belief, x), y - y.mean()
    weights = np.linalg.solve(float(belief.precision) * np.eye(3) + P.T @ P, P.T @ r)
    np.testing.assert_allclose(belief.posterior.weights, weights, atol=1e-8)
    np.testing.assert_allclose(moments(belief)[0], 1e4 + y.mean() + phi(belief, NEW) @ weights)
    np.testing.assert_allclose(belief.posterior.noise, np.mean((r - P @ weights) ** 2), rtol=1e-3)


@given(seeds, st.integers(1, 150))
def test_the_best_inputs_are_remembered(seed, n):
    """Without noise: the highest of all, each once; up to 64 inputs are counted exactly."""
    random = np.random.default_rng(seed)
    payoff = random.permutation(100) * 1.0
    arms = random.integers(0, 100, n)
    belief = MODELS["linear"].begin(SPACE, 16)
    points = np.column_stack([np.arange(100) / 100, np.zeros(100)])
    told = arms[np.minimum(np.arange(150), n - 1)]  # one length, one compilation
    tried = _all(belief, points[told], payoff[told], n).tried
    distinct = np.unique(payoff[arms])
    live = np.asarray(tried.live)
    np.testing.assert_array_equal(np.sort(np.asarray(tried.reward)[live]), distinct[-64:])
    np.testing.assert_array_equal(
        payoff[np.round(np.asarray(tried.x)[live, 0] * 100).astype(int)], tried.reward[live]
    )
    if len(distinct) <= 64:
        assert int(tried.distinct) == len(distinct)
    else:
        assert len(distinct) <= int(tried.distinct) <= n


def test_before_any_reward_the_prior_speaks():
    for model in MODELS.values():
        begun = model.begin(SPACE, 16)
        again = condition(model, begun)
        close(again, moments(begun))
        mean, deviation = moments(begun, X)
        np.testing.assert_array_equal(mean, 0.0)
        np.testing.assert_allclose(deviation, begun.prior_deviation(X))
        # Payoffs are expected to vary as much as rewards do, whose deviation counts as 1.
        assert np.mean(deviation**2) == pytest.approx(1.0)


@given(seeds, st.integers(1, 12))
def test_imagining_keeps_the_mean_and_shrinks_the_deviation(seed, n):
    x, y = rewards(seed, n)
    belief = told(MODELS["polynomial"], x, y)
    (mean, before), at = moments(belief), phi(belief, X[:1])[0]
    imagined = _imagine(_imagine(belief, X[0]), X[1])
    after = moments(imagined)
    P = phi(belief, np.concatenate([x, X[:2]]))
    inverse = np.linalg.inv(float(belief.precision) * np.eye(len(at)) + P.T @ P)
    Q = phi(belief, NEW)
    expected = np.sqrt(float(belief.posterior.noise) * np.sum(Q @ inverse * Q, axis=1))
    np.testing.assert_allclose(after[0], mean)
    np.testing.assert_allclose(after[1], expected, rtol=1e-6)
    assert np.all(after[1] < before)
    assert int(imagined.tried.distinct) == n + 2


def test_draws_are_functions_that_follow_the_posterior():
    belief = told(MODELS["polynomial"], *rewards(5, 6))
    draw = eqx.filter_jit(jax.vmap(lambda key: belief.sample(key, NEW)(jnp.asarray(NEW))))
    values = np.asarray(draw(jax.random.split(jax.random.key(1), 4000)))
    mean, deviation = moments(belief)
    shape = float(belief.posterior.shape)
    assert shape == 3.0 + 6 / 2
    # Student's t with 2a degrees of freedom has the variance a/(a − 1).
    z = (values - mean) / deviation * np.sqrt(shape / (shape - 1.0))
    assert min(stats.kstest(column, stats.t(2 * shape).cdf).pvalue for column in z.T) > 1e-3
    joint = np.cov(values.T)
    P = phi(belief, NEW) @ np.asarray(belief.posterior.root).T
    expected = float(belief.posterior.noise) * P @ P.T
    # Five standard errors of a covariance, with the kurtosis 3(2a − 2)/(2a − 4) = 3.75 of this t.
    error = 5 * np.sqrt(3.75 / 4000) * np.outer(deviation, deviation)
    assert np.all(np.abs(joint - expected) < error)


def test_hyper_parameters_are_saved_and_misfits_refused():
    belief = told(MODELS["linear"], *rewards(0, 9))
    fresh = MODELS["linear"].begin(SPACE, 16)
    assert fresh.load(belief.dump()).precision == belief.precision != fresh.precision
    for wrong in ({"precision": -1.0}, {"precision": None}, {}, 3):
        with pytest.raises(InputError, match=r"state .* expected"):
            fresh.load(wrong)
