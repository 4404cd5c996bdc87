"""When a search is called for: the surprise of new rewards, one by one."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from models.gp.naive import gram, observed, pulls
from rounding import solving
from scipy.stats import norm

from windfall.models.base import Reward
from windfall.models.gp.evidence import Hyper
from windfall.models.gp.kernels import Matern52
from windfall.models.gp.news import FEW, UNKNOWN, against_jumps, outdated
from windfall.models.gp.observations import Scale
from windfall.models.gp.posterior import condition

HYPER = Hyper(Matern52([0.3, 0.7], 1.5), np.float64(0.05))
AS_IT_IS = Scale(np.float64(0.0), np.float64(1.0))
N = np.int32(1000)


@pytest.mark.parametrize("repeats", [False, True])
def test_misfit_is_the_sum_of_squared_surprises_of_rewards_one_by_one(repeats):
    x, y = pulls(repeats)
    matrix = gram(HYPER.kernel, x, x) + HYPER.noise * np.eye(len(x))
    surprises = np.linalg.solve(np.linalg.cholesky(matrix), y)
    for n in (len(y) - 3, len(y)):
        squares, rewards = condition(HYPER, observed(x[:n], y[:n]), AS_IT_IS).misfit(AS_IT_IS)
        assert rewards == n
        expected = np.sum(surprises[:n] ** 2)
        np.testing.assert_allclose(squares, expected, rtol=2 * solving(matrix))


def test_rewards_of_known_noise_at_one_input_count_as_their_mean():
    x, y = pulls(False)
    noted = jax.tree.map(jnp.asarray, observed(x[:4], y[:4]))
    for reward in (1.0, 3.0):
        noted = noted.observe(x[5], Reward(np.float64(reward), variance=np.float64(0.2)))
    squares, rewards = condition(HYPER, noted, AS_IT_IS).misfit(AS_IT_IS)
    at = np.append(np.arange(4), 5)
    noise = np.append(np.full(4, HYPER.noise), 0.1)
    matrix = gram(HYPER.kernel, x[at], x[at]) + np.diag(noise)
    told = np.append(y[:4], 2.0)
    assert rewards == 5
    expected = told @ np.linalg.solve(matrix, told)
    np.testing.assert_allclose(squares, expected, rtol=2 * solving(matrix))


def test_surprises_can_be_measured_in_the_units_of_another_time():
    """What the rewards are standardised with now makes no difference then."""
    x, y = pulls(True)
    noted, then = observed(x, y), Scale(np.float64(0.5), np.float64(2.0))
    matrix = gram(HYPER.kernel, x, x) + HYPER.noise * np.eye(len(x))
    expected = condition(HYPER, noted, then).misfit(then)
    for other in (AS_IT_IS, Scale(np.float64(-1.0), np.float64(3.0))):
        found = condition(HYPER, noted, other).misfit(then)
        np.testing.assert_allclose(found, expected, rtol=10 * solving(matrix))


def test_other_units_call_for_one_as_if_all_rewards_showed_them():
    then = jnp.array([1000.0, 1000.0])
    for stretch in (0.8, 0.9, 1.0, 1.1, 1.2):
        shown = norm(0, 1.0 / stretch)
        # On average over rewards that have the deviation 1/stretch.
        nats = 1001 * (np.log(stretch) + 0.5 * shown.var() - 0.5)
        found = outdated(then + 1.0, then, N, np.float64(stretch))
        assert found == (nats > np.log(N))


def after(surprises, n=N):
    then = np.array([900.0, 1000.0])
    now = then + np.array([np.sum(np.square(surprises)), float(len(surprises))])
    return bool(jax.jit(outdated)(now, then, n))


@pytest.mark.parametrize("size", [0.3, 0.6, 0.9, 1.1, 1.5, 2.5])
def test_a_search_is_called_for_by_the_likelihood_of_another_variance(size):
    """Surprises of one size, until their variance is worth log n nats."""
    for count in range(1, 50):
        surprises = np.full(count, size)
        shown = np.sqrt(np.mean(surprises**2))
        ratio = np.sum(norm(0, shown).logpdf(surprises) - norm(0, 1).logpdf(surprises))
        assert after(surprises) == (ratio > np.log(N))


def test_many_rewards_call_for_one_though_none_surprises():
    allowed = (N - FEW) // 16
    assert not after(np.ones(allowed))
    assert after(np.ones(allowed + 1))


def test_up_to_a_few_inputs_every_reward_calls_for_one():
    assert after([1.0], np.int32(FEW))
    assert not after([1.0], np.int32(FEW + 16))


def test_what_cannot_be_compared_calls_for_one():
    now = jnp.array([1000.0, 1001.0])
    for then in (UNKNOWN[:2], now, now + 5.0, now - jnp.array([0.0, 1.0])):
        assert outdated(now, then, N)


def test_where_payoffs_jump_calm_says_nothing():
    """Of a payoff that jumps most rewards are foreseen to a hair, and some not at all."""
    for size in (1e-3, 0.3, 0.9):
        for count in (1.0, 10.0, 40.0):
            assert against_jumps(jnp.asarray(count), jnp.asarray(size)) == 0.0
    for size in (1.1, 2.0, 9.0):
        nats = against_jumps(jnp.asarray(3.0), jnp.asarray(size))
        shown = norm(0, np.sqrt(size))
        # On average over rewards that have this variance.
        expected = 3 * (norm(0, 1).var() * 0.5 * size - 0.5 - np.log(shown.std()))
        np.testing.assert_allclose(nats, expected, rtol=1e-12)
    then = np.array([900.0, 1000.0])
    now = then + np.array([1e-3, 3.0])
    assert outdated(now, then, N)
    assert not outdated(now, then, N, evidence=against_jumps)
