"""Noise larger than the differences between arms, and rewards that say nothing."""

import numpy as np

import windfall as wf

ARMS = np.linspace(0.0, 1.0, 8)[:, None]


def test_means_of_many_clicks_are_as_uncertain_as_they_are():
    """Eight arms, 300 draws each of about 6 %: the standard error is 0.0137."""
    inside = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        payoff = 0.06 + 0.01 * np.sin(5.0 * ARMS[:, 0] + seed)
        bandit = wf.Bandit(ARMS, seed=seed)
        for arm in range(8):
            clicks = rng.random(300) < payoff[arm]
            bandit.tell(arm, clicks.mean(), count=300, deviation=clicks.std(ddof=1))
        mean, deviation = bandit.posterior()
        assert np.all(deviation > 0.002)
        assert np.all(deviation < 0.03)
        inside.append(np.abs(mean - payoff) <= 1.645 * deviation)
    # 40 dependent intervals of 90 %: five independent levels would miss three with 1 %.
    assert np.mean(inside) > 0.6


def test_a_reward_of_huge_known_noise_changes_next_to_nothing():
    payoff = np.sin(6.0 * ARMS[:6, 0])
    bandits = [wf.Bandit(ARMS, seed=0) for _ in range(2)]
    for bandit in bandits:
        for arm in range(6):
            bandit.tell(arm, payoff[arm], noise=0.0)
    bandits[1].tell(6, 1000.0, noise=1000.0)
    means = [bandit.posterior()[0][:6] for bandit in bandits]
    np.testing.assert_allclose(means[1], means[0], atol=1e-3)
