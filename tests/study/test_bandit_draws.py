"""What a choice rests on besides the model: the draw, the round, what is pending."""

import numpy as np
import pytest
from bandit_study import ARMS, PAYOFF

import windfall as wf

FEW = ARMS[::5]  # twelve


def test_each_of_a_batch_has_a_draw_of_its_own():
    """On arms that say nothing of each other one draw for all would pick its best arms in turn.

    The others of a batch are then among the best four of the draw that explains the first. With
    draws of their own each is there with probability 4/60: of 12, more than 6 come in fewer than
    one case in 10⁴.
    """
    apart = wf.LogNormalPrior(lengthscale=(0.005, 0.01))
    policy = wf.Policy(wf.TS(features=64), wf.GP(fit=wf.Fit(prior=apart, restarts=0)))
    repeated = 0
    for seed in range(4):
        bandit = wf.Bandit(ARMS, policy, seed=seed)
        for arm in (0, 20, 40):
            bandit.tell(arm, float(arm % 3))
        best = np.argsort(bandit.explain()["acquisition"])[-4:]
        first, *others = bandit.ask(4)
        assert first.arm == best[-1]
        repeated += sum(choice.arm in best for choice in others)
    assert repeated <= 6


@pytest.mark.parametrize("initial", [1, 3])
def test_gp_ucb_counts_rounds_after_the_initial_arms(initial):
    bandit = wf.Bandit(ARMS, "gp-ucb", seed=0, initial=initial)
    for told in range(1, 6):
        choice = bandit.ask()
        bandit.tell(choice, PAYOFF[choice.arm])
        table = bandit.explain()
        t = max(told - initial + 1, 1)
        beta = 2.0 * np.log(len(ARMS) * t**2 * np.pi**2 / (6.0 * 0.1))
        expected = table["mean"] + np.sqrt(beta) * table["std"]
        np.testing.assert_allclose(table["acquisition"], expected, rtol=1e-8)


def test_where_every_arm_is_pending_the_best_comes_again():
    bandit = wf.Bandit(FEW, "mean", seed=0)
    for arm in (0, 5, 8, 11):
        bandit.tell(arm, PAYOFF[5 * arm])
    best = bandit.ask().arm
    assert best != 0
    assert sorted(choice.arm for choice in bandit.ask(12)) == list(range(12))
    assert bandit.ask().arm == best
