"""Decision quality on the paper's first problem, with margins that thirty trials allow."""

import numpy as np

import windfall as wf


def test_v_ucb_and_lw_ucb_on_cosine():
    problem = wf.problems.load("cosine")
    plain = wf.simulate(problem, "v-ucb", trials=30, seed=0)
    weighted = wf.simulate(problem, wf.LWUCB(kappa=2.0, components=2), trials=30, seed=0)
    assert np.median(plain.mean_regret[:, -1]) <= 0.33
    assert np.median(weighted.mean_regret[:, -1]) < np.median(plain.mean_regret[:, -1])
