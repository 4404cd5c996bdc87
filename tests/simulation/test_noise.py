"""Noise as a function of a key and an arm: what is drawn, how often, and in a whole simulation."""

import jax
import numpy as np
import pytest
from scipy import stats

import windfall as wf
from windfall.runtime.execution import float64
from windfall.simulation.noise import Gaussian, Replicates, noise_of

MEASURED = [[1.0, 2.0, 6.0], [5.0], [0.0, 4.0], [7.0, 7.0, 7.0]]


def measured(**extra) -> wf.Problem:
    return wf.Problem(arms=[[0.0], [0.3], [0.6], [1.0]], replicates=MEASURED, **extra)


@float64
def drawn(noise, arm: int, draws: int) -> np.ndarray:
    keys = jax.random.split(jax.random.key(3), draws)
    return np.asarray(jax.vmap(lambda key: noise.draw(key, np.int32(arm)))(keys))


def test_gaussian_noise_is_the_normal_number_of_its_key():
    noise = noise_of(wf.Problem(arms=[[0.0], [1.0]], payoff=[0.0, 1.0], noise=0.3))
    assert isinstance(noise, Gaussian)

    @float64
    def pairs():
        key = jax.random.key(8)
        arms = np.array([0, 1, 1], np.int32)
        return noise.draw(key, arms), jax.random.normal(key, (3,))

    got, normal = pairs()
    np.testing.assert_array_equal(got, 0.3 * np.asarray(normal))


@pytest.mark.parametrize("arm", range(4))
def test_every_own_replicate_is_as_likely_as_the_others(arm):
    noise, own = noise_of(measured()), MEASURED[arm]
    assert isinstance(noise, Replicates)
    values = np.mean(own) + drawn(noise, arm, 3000)
    distinct, counts = np.unique(values.round(9), return_counts=True)
    np.testing.assert_allclose(distinct, np.unique(own), atol=1e-9)
    if len(distinct) > 1:  # a fixed key: it either passes always or never; by chance 1 in 1,000
        assert stats.chisquare(counts).pvalue > 1e-3


def test_equal_keys_and_arms_are_equally_lucky():
    noise = noise_of(measured())

    @float64
    def twice():
        key = jax.random.key(1)
        return [np.asarray(noise.draw(key, np.array([0, 2, 0], np.int32))) for _ in range(2)]

    first, second = twice()
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("batch", [0, 2])
def test_rewards_of_a_simulation_are_the_arms_own_measurements(batch):
    result = wf.simulate(measured(), "v-ucb", rounds=12, trials=8, seed=2, workers=1, batch=batch)
    seen: dict[int, set[float]] = {}
    arms = np.concatenate([result.arms.ravel(), result.initial.ravel()])
    rewards = np.concatenate([result.rewards.ravel(), result.first.ravel()])
    for arm, reward in zip(arms, rewards, strict=True):
        seen.setdefault(int(arm), set()).add(round(float(reward), 9))
    for arm, rewards in seen.items():
        assert rewards <= set(MEASURED[arm])
    assert any(len(rewards) > 1 for rewards in seen.values())  # it is noise, not always the first
    payoff = [np.mean(own) for own in MEASURED]
    np.testing.assert_allclose(result.regret, 7.0 - np.array(payoff)[result.arms], atol=1e-12)
