"""The final model, worked out again: the same ratio as a bandit's that was told the same."""

import jax
import numpy as np
from by_chance import by_chance
from made_up import made_up

import windfall as wf
from windfall.attention.ratio import mixture_ratio
from windfall.paper.plan import paper
from windfall.paper.replay import final_ratio, representative
from windfall.policy import study_key
from windfall.policy.state import SELECT
from windfall.space import Arms


def test_trials_are_spread_over_the_ranking():
    regret = np.random.default_rng(0).permutation(100)[:, None].astype(float)
    result = made_up(regret)
    assert [regret[i, 0] for i in representative(result, 2)] == [25, 75]
    assert [regret[i, 0] for i in representative(result, 4)] == [12, 37, 62, 87]
    assert sorted(representative(made_up(regret[:2]), 6)) == [0, 1]  # no trial twice


def test_the_ratio_is_that_of_a_bandit_that_was_told_the_same(data_dir):
    """A mixture depends on its random start: the same one, fitted here to the bandit's mean."""
    (rooms,) = paper(only="temperature", data_dir=str(data_dir), trials=2, rounds=6)
    run, problem = rooms.runs[0], rooms.problem
    result = by_chance(run, problem)
    ratio = final_ratio(run, problem, result, 1, problem.arms)
    bandit = wf.Bandit(problem.arms, run.policy, seed=run.seed)
    for arm in result.initial[1]:
        bandit.tell(int(arm), problem.payoffs(1)[arm])
    for arm, reward in zip(result.arms[1, 1:], result.rewards[1, 1:], strict=True):
        bandit.tell(int(arm), float(reward))
    space = Arms(problem.arms, box=problem.box)
    acquisition = run.policy.acquisition
    domain = acquisition.setup(space).domain
    mean, _ = bandit.posterior(space.natural(domain.points))
    at_arms, _ = bandit.posterior(problem.arms)
    with jax.enable_x64(True):

        @jax.jit
        def fitted(key):
            return mixture_ratio(key, mean, domain, np.std(mean), acquisition.components)

        w = fitted(_key(bandit))
        expected = np.asarray(w(space.points, at_arms, np.ones(space.size)))
    # Both maximise the same likelihood; the two programs differ by rounding.
    np.testing.assert_allclose(ratio, expected, rtol=1e-6)
    assert np.ptp(expected) > 0.1
    elsewhere = final_ratio(run, problem, result, 1, problem.arms[:2] + 1e-9)
    np.testing.assert_allclose(elsewhere, ratio[:2], rtol=1e-5)


def _key(bandit: wf.Bandit):
    """The randomness of the bandit's next choice."""
    key = jax.random.fold_in(study_key(bandit.seed), SELECT)
    return jax.random.fold_in(jax.random.fold_in(key, len(bandit.rewards)), 0)
