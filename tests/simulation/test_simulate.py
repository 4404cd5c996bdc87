import numpy as np
import pytest
from policies import ALL, small
from small_problems import line, snapshots

import windfall as wf
from windfall.policy import as_policy
from windfall.runtime.compilation import CompileClock
from windfall.simulation import stretches
from windfall.simulation.work import Job, play, prepare

#: One length of trials, so that tests of the same policy share its compiled programs.
ROUNDS = 30


@pytest.fixture(scope="module")
def together():
    return wf.simulate(line(), small("lw-ucb"), rounds=ROUNDS, trials=4, seed=4, batch=4)


def test_trials_together_or_apart_choose_the_same_arms(together):
    apart = wf.simulate(line(), small("lw-ucb"), rounds=ROUNDS, trials=4, seed=4, workers=1)
    np.testing.assert_array_equal(apart.initial, together.initial)
    # Rounding differs between the programs and may turn a tie between arms: regret may not.
    np.testing.assert_allclose(apart.mean_regret, together.mean_regret, atol=0.02)


def test_processes_choose_exactly_what_one_process_chooses():
    one = wf.simulate(line(), "v-ucb", rounds=ROUNDS, trials=3, seed=4, workers=1)
    two = wf.simulate(line(), "v-ucb", rounds=ROUNDS, trials=3, seed=4, workers=2)
    np.testing.assert_array_equal(one.arms, two.arms)
    np.testing.assert_array_equal(one.rewards, two.rewards)


def test_batches_of_any_size_give_the_same_trials(together):
    # As many rounds as fit the first capacity: a shorter trial is the beginning of a longer one.
    split = wf.simulate(line(), small("lw-ucb"), rounds=13, trials=4, seed=4, batch=2)
    np.testing.assert_allclose(split.mean_regret, together.mean_regret[:, :13], atol=0.02)


def test_regret_is_the_noise_free_gap_and_starts_with_the_best_initial_arm(together):
    payoff = line().payoffs(0)
    np.testing.assert_allclose(together.regret, payoff.max() - payoff[together.arms], atol=1e-12)
    best = payoff[together.initial].max(axis=1)
    np.testing.assert_allclose(together.regret[:, 0], payoff.max() - best)
    np.testing.assert_array_equal(together.gap[:, 0], together.regret[:, 0])
    assert all(len(set(row)) == 3 for row in together.initial)


def test_the_best_initial_arm_is_that_of_the_highest_payoff_not_of_the_luckiest_reward():
    """With noise far above the payoffs the luckiest of three is the best one time in three."""
    problem = line(noise=5.0)
    result = wf.simulate(problem, "mean", rounds=ROUNDS, trials=8, seed=3, workers=1)
    payoff = problem.payoffs(0)
    best = np.argmax(payoff[result.initial], axis=1)
    np.testing.assert_array_equal(result.arms[:, 0], result.initial[np.arange(8), best])


def test_rewards_are_payoffs_with_the_problems_noise():
    problem = line(noise=0.05)
    result = wf.simulate(problem, "mean", rounds=ROUNDS, trials=8, seed=1, workers=1)
    errors = (result.rewards - problem.payoffs(0)[result.arms]).ravel() / 0.05
    # 240 standard normal numbers: mean within 5/√240, variance within 5·√(2/240) of 1.
    assert abs(errors.mean()) < 5 / np.sqrt(errors.size)
    assert abs(errors.var() - 1) < 5 * np.sqrt(2 / errors.size)


def test_policies_meet_equal_luck():
    problem = line(noise=0.05)
    first, second = (
        wf.simulate(problem, small(name), rounds=ROUNDS, trials=2, seed=9, workers=1)
        for name in ("ei", "ts")
    )
    np.testing.assert_array_equal(first.initial, second.initial)
    payoff = problem.payoffs(0)
    noise = [r.rewards - payoff[r.arms] for r in (first, second)]
    np.testing.assert_allclose(noise[0][:, 1:], noise[1][:, 1:], atol=1e-12)


def test_seeds_differ_and_repeat():
    results = [
        wf.simulate(line(), "ei", rounds=ROUNDS, trials=2, seed=s, workers=1) for s in (1, 1, 2)
    ]
    np.testing.assert_array_equal(results[0].arms, results[1].arms)
    assert not np.array_equal(results[0].initial, results[2].initial)


def test_every_trial_of_a_network_has_its_own_snapshot():
    problem = snapshots()
    result = wf.simulate(problem, "v-ucb", rounds=5, trials=6, seed=0, workers=1)
    for trial in range(6):
        payoff = problem.payoffs(trial)
        gaps = payoff.max() - payoff[result.arms[trial]]
        np.testing.assert_allclose(result.regret[trial], gaps)


def test_initial_arms_come_from_the_pool():
    problem = line()
    pooled = wf.Problem(
        arms=problem.arms, payoff=problem.payoff, initial_pool=[0, 1, 2, 3], name="pool"
    )
    result = wf.simulate(pooled, "mean", rounds=ROUNDS, trials=5, workers=1)
    assert result.initial.max() <= 3


@pytest.mark.parametrize("name", ALL)
def test_every_policy_finds_the_peak_of_a_line(name):
    result = wf.simulate(line(), small(name), rounds=ROUNDS, trials=2, seed=0, workers=1)
    patient = {"mean": 1.0, "gp-ucb": 0.9}
    settled = np.median(result.regret[:, -7:], axis=1)  # a draw may still look elsewhere
    assert settled.max() <= patient.get(name, 0.1), result.regret[:, -7:]


def test_a_trial_compiles_one_program_per_bucket():
    problem = wf.problems.load("cosine")
    job = Job(as_policy("v-ucb"), problem, 40, 0)
    setting = prepare(job)
    with CompileClock() as first:
        play(job, setting, [0], batch=0)
    with CompileClock() as again:
        play(job, setting, [1], batch=0)
    buckets = len([c for c in setting.capacities if c <= 64])
    assert first.programs <= 1 + buckets
    # Another trial may need one bucket more than the first did, nothing else.
    assert again.programs <= 1


def test_policies_share_the_program_of_the_initial_arms(monkeypatch):
    """No acquisition has a say in them; those that prepare something get it afterwards."""
    made = stretches._begin_one
    monkeypatch.setattr(made, "_traced", {})
    for name in ("v-ucb", "lw-ucb"):
        wf.simulate(line(), small(name), rounds=ROUNDS, trials=2, seed=0, workers=1)
    assert len(made._traced) == 1


def test_keeping_hyper_parameters_between_fits_still_decides():
    policy = wf.Policy(wf.VUCB(2.0), wf.GP(refit_every=5))
    result = wf.simulate(line(), policy, rounds=ROUNDS, trials=2, seed=0, workers=1)
    assert result.gap[:, -1].max() <= 0.1


def test_progress_counts_every_trial_round():
    seen = []
    wf.simulate(line(), "mean", rounds=4, trials=2, batch=2, progress=seen.append)
    assert sum(seen) == 8
    seen.clear()
    wf.simulate(line(), "mean", rounds=ROUNDS, trials=2, workers=1, progress=seen.append)
    assert sum(seen) == 2 * ROUNDS


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rounds": 0}, "rounds is 0; expected a whole number, at least 1"),
        ({"trials": 0}, "trials is 0; expected"),
        ({"trials": True}, "trials is True; expected"),
        ({"seed": -1}, "seed is -1; expected"),
        ({"seed": 2**32}, "seed is 4294967296; expected"),
        ({"workers": 0}, "workers is 0; expected"),
        ({"batch": -1}, "batch is -1; expected"),
        ({"policy": "ucb"}, "policy is 'ucb' (did you mean"),
    ],
)
def test_bad_arguments_say_what_is_expected(arguments, message):
    with pytest.raises(wf.InputError) as error:
        wf.simulate(line(), **arguments)
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_a_kernel_that_is_not_positive_definite_is_an_error_not_a_nan():
    policy = wf.Policy(wf.VUCB(), wf.GP(kernel=lambda a, b: -10.0 * (a[0] - b[0]) ** 2 - 1.0))
    with pytest.raises(wf.NumericalError, match="not positive definite"):
        wf.simulate(line(), policy, rounds=4, trials=1, workers=1)
