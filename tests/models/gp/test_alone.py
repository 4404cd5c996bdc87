"""Whether the best reward stands alone, against the same worked out reward by reward."""

import equinox as eqx
import numpy as np
import pytest
from models.gp import naive
from models.gp.naive import observed
from scipy.linalg import helmert
from scipy.special import expit, logsumexp
from scipy.stats import multivariate_normal, norm

from windfall.models.gp.alone import standing_alone
from windfall.models.gp.evidence import Hyper
from windfall.models.gp.kernels import Matern52
from windfall.models.gp.posterior import condition

ARMS = np.random.default_rng(0).random((12, 2))
doubts = eqx.filter_jit(standing_alone)


def doubt(posterior):
    return max(map(float, doubts(posterior)))


def believed(x, y, lengthscale=0.3, noise=1e-4):
    return condition(Hyper(Matern52([lengthscale] * 2), np.float64(noise)), observed(x, y))


def beyond(share, boundary):
    return expit(20.0 * (share - boundary))


def expected(x, y, lengthscale=0.3, noise=1e-4):
    """The same from every single reward: explicit densities, contrasts, neighbours left out."""
    points = list(dict.fromkeys(map(tuple, x)))
    groups = [y[(x == p).all(axis=1)] for p in points]
    location, spread = naive.scale(x, y)
    groups = [(g - location) / spread for g in groups]
    mean, count = np.array([g.mean() for g in groups]), np.array([len(g) for g in groups])
    gram = naive.gram(Matern52([lengthscale] * 2), np.array(points), np.array(points))

    def left(variance):
        return max(1.0 - np.mean(variance / count), 0.0)

    matrix = gram + np.diag(noise / count)
    apart = norm.logpdf(mean, scale=np.sqrt(left(noise) + noise / count)).sum()
    structured = expit(multivariate_normal(cov=matrix).logpdf(mean) - apart - 5.0)
    top = int(np.argmax(mean))
    rest = np.delete(np.arange(len(mean)), top)
    said = gram[top, rest] @ np.linalg.solve(matrix[np.ix_(rest, rest)], mean[rest])
    crowd = max(np.sum(np.abs(mean - m) < 0.1) - 1 for m in mean) / (len(mean) - 1)
    windfall = beyond(crowd, 0.6) * (1.0 - structured * beyond(said / mean[top], 0.5))
    # Contrasts of repeated pulls are independent, and free of what the arm pays.
    contrasts = np.concatenate([helmert(len(g)) @ g if len(g) > 1 else [] for g in groups])
    levels = np.geomspace(1e-8, 1.0, 65) * max(np.sum(contrasts**2) / max(len(contrasts), 1), 1.0)
    weights = np.array([norm.logpdf(contrasts, scale=np.sqrt(v)).sum() for v in levels])
    weights = np.exp(weights - logsumexp(weights))

    def share(variance):
        own = variance / count[top]
        return own / (own + left(variance))

    noisy = max(weights @ [share(v) for v in levels], share(noise))
    return windfall, beyond(noisy, 0.5) * (1.0 - structured)


RNG = np.random.default_rng(1)
WAVE = np.sin(5.0 * ARMS[:, 0]) + ARMS[:, 1]
NOISE = RNG.normal(size=12)
LONE = np.where(np.arange(12) == 7, 1.0, 0.0)
#: Another payer beside the best, which it foretells a little of.
PAIR = np.where(np.arange(12) == np.argsort(np.sum((ARMS - ARMS[7]) ** 2, axis=1))[1], 0.7, LONE)
TWICE = (np.concatenate([ARMS, ARMS[:3]]), np.concatenate([NOISE, RNG.normal(size=3)]))
CASES = {
    "one among equals": ((ARMS, LONE), {}, True),
    "two that happen to be neighbours": ((ARMS, PAIR), {"lengthscale": 0.1}, True),
    "a wave": ((ARMS, WAVE), {}, False),
    "rugged, for all one knows": ((ARMS, NOISE), {"lengthscale": 0.05}, False),
    "noise, as repeated pulls show": (TWICE, {"lengthscale": 0.05}, True),
    "noise, as the model says": ((ARMS, NOISE), {"noise": 100.0}, True),
    "a noisy wave": (
        (np.concatenate([ARMS] * 2), np.concatenate([WAVE + 0.3 * NOISE, WAVE - 0.3 * NOISE])),
        {"noise": 0.2},
        False,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_doubt_is_what_the_formula_says(case):
    rewards, how, in_doubt = CASES[case]
    found = doubts(believed(*rewards, **how))
    # Shares and logarithms of densities lose no more than six digits to a matrix of condition 1e6.
    np.testing.assert_allclose(found, expected(*rewards, **how), atol=1e-7)
    assert max(found) > 0.9 if in_doubt else max(found) < 0.1


def test_a_hill_among_equals_is_believed_once_there_is_enough_of_it():
    """A block of arms that pay, close together, in flat land."""
    near = ARMS * 0.05
    x = np.concatenate([near[:6], 0.2 + 0.8 * ARMS[:10]])
    y = np.where(np.arange(16) < 6, 1.0, 0.0)
    assert doubt(believed(x[5:], y[5:])) > 0.9
    assert doubt(believed(x, y)) < 0.1


def test_equal_rewards_leave_no_doubt_about_the_best():
    """There is none: nothing leads."""
    assert doubt(believed(ARMS, np.full(12, 3.0))) == 0.0
