"""Studies with other models: full Bayes, mean functions, a kernel of the user's own."""

import jax.numpy as jnp
import numpy as np
import pytest

import windfall as wf
from windfall.models.gp.ensemble import Ensemble

ARMS = np.linspace(-2.0, 3.0, 21)[:, None]
BAYES = wf.GP(fit=wf.Bayes(samples=3, warmup=20, thinning=1))


def payoff(x):
    return float(np.exp(-8.0 * (x[0] - 1.5) ** 2) + 0.1 * x[0])


def played(policy, space, pulls, seed=0):
    bandit = wf.Bandit(space, policy, seed=seed, initial=4)
    for _ in range(pulls):
        choice = bandit.ask()
        bandit.tell(choice, payoff(choice.features))
    return bandit


def test_a_study_under_full_bayes_finds_the_best_arm_and_resumes():
    policy = wf.Policy(wf.LWUCB(components=2, points=64), BAYES)
    bandit = played(policy, ARMS, 12)
    np.testing.assert_allclose(bandit.best.features, 1.5)
    table = bandit.explain()
    assert all(np.all(np.isfinite(column)) for column in table.values())
    mean, deviation = bandit.posterior()
    np.testing.assert_array_equal(table["mean"], mean)
    again = wf.Bandit(ARMS, policy)
    again.load_state_dict(bandit.state_dict())
    assert again.ask() == bandit.ask()
    np.testing.assert_array_equal(again.posterior()[1], deviation)
    assert [c.arm for c in bandit.ask(3)] == [c.arm for c in again.ask(3)]
    assert len({c.arm for c in bandit.pending}) == 3


def test_a_study_under_full_bayes_outgrows_its_first_capacity():
    bandit = wf.Bandit(ARMS, wf.Policy(wf.EI(), BAYES), initial=3)
    for arm in range(18):
        bandit.tell(arm, payoff(ARMS[arm]))
    mean, _ = bandit.posterior()
    posterior = bandit._decider._believe(bandit._decider._learn(bandit._record), 0).posterior
    assert posterior.whitener.shape == (3, 32, 32)
    assert isinstance(posterior, Ensemble)
    np.testing.assert_allclose(mean[:18], [payoff(x) for x in ARMS[:18]], atol=0.2)


def test_a_study_under_full_bayes_runs_on_a_box():
    bandit = played(wf.Policy(wf.VUCB(), BAYES), wf.Box([-2.0], [3.0]), 6)
    choice = bandit.ask()
    assert -2.0 <= choice.features[0] <= 3.0
    assert np.isfinite(choice.search.value)


def test_full_bayes_can_be_simulated():
    problem = wf.Problem(arms=ARMS, payoff=[payoff(x) for x in ARMS], noise=1e-3)
    result = wf.simulate(
        problem, wf.Policy(wf.VUCB(), BAYES), rounds=3, trials=2, seed=0, workers=1
    )
    assert result.regret.shape == (2, 3)
    assert np.all(np.isfinite(result.rewards))


def slope(features):
    return 100.0 * features[:, 0]


@pytest.mark.parametrize("mean", [wf.means.Linear(), slope], ids=["linear", "known"])
def test_a_mean_function_carries_beyond_the_rewards(mean):
    """Rewards follow 100·x in the user's units, and so do predictions where none was told."""
    gp = wf.GP(wf.kernels.SquaredExponential(0.05), mean=mean)
    bandit = wf.Bandit(ARMS, wf.Policy(wf.VUCB(), gp), initial=4)
    for arm in range(0, 9, 2):
        bandit.tell(arm, 100.0 * ARMS[arm, 0] + np.sin(arm))
    mean, _ = bandit.posterior([[3.0]])
    np.testing.assert_allclose(mean, 300.0, rtol=0.05)
    resumed = wf.Bandit(ARMS, wf.Policy(wf.VUCB(), gp))
    resumed.load_state_dict(bandit.state_dict())
    np.testing.assert_array_equal(resumed.posterior([[3.0]])[0], mean)


def test_a_kernel_of_the_users_is_saved_with_its_parameters():
    def triangle(a, b, width):
        return jnp.maximum(0.0, 1.0 - jnp.abs(a[0] - b[0]) / width)

    gp = wf.GP(wf.kernels.Custom(triangle, width=0.4) + wf.kernels.White(0.01))
    bandit = played(wf.Policy(wf.VUCB(), gp), ARMS, 7)
    state = bandit.state_dict()
    assert "triangle" in str(state["events"][0]["policy"])
    resumed = wf.Bandit(ARMS, wf.Policy(wf.VUCB(), gp))
    resumed.load_state_dict(state)
    assert resumed.ask() == bandit.ask()
