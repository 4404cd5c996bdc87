"""The final model, worked out again: the same ratio as a bandit's that was told the same."""

import numpy as np
from by_chance import by_chance
from made_up import made_up

import windfall as wf
from windfall.paper.plan import paper
from windfall.paper.replay import final_ratio, representative


def test_trials_are_spread_over_the_ranking():
    regret = np.random.default_rng(0).permutation(100)[:, None].astype(float)
    result = made_up(regret)
    assert [regret[i, 0] for i in representative(result, 2)] == [25, 75]
    assert [regret[i, 0] for i in representative(result, 4)] == [12, 37, 62, 87]
    assert sorted(representative(made_up(regret[:2]), 6)) == [0, 1]  # no trial twice


def test_ratio_at_the_arms_is_a_bandit_s(data_dir):
    (rooms,) = paper(only="temperature", data_dir=str(data_dir), trials=2, rounds=6)
    run, problem = rooms.runs[0], rooms.problem
    result = by_chance(run, problem)
    ratio = final_ratio(run, problem, result, 1, problem.arms)
    bandit = wf.Bandit(problem.arms, run.policy, seed=run.seed)
    for arm in result.initial[1]:
        bandit.tell(int(arm), problem.payoffs(1)[arm])
    for arm, reward in zip(result.arms[1, 1:], result.rewards[1, 1:], strict=True):
        bandit.tell(int(arm), float(reward))
    explained = bandit.explain()["ratio"]
    # Both fit the same mixture to the same model from different random starts.
    np.testing.assert_allclose(ratio, explained, rtol=0.3)
    assert np.ptp(explained) > 0.1
    elsewhere = final_ratio(run, problem, result, 1, problem.arms[:2] + 1e-9)
    np.testing.assert_allclose(elsewhere, ratio[:2], rtol=1e-5)
