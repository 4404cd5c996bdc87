"""Rounds that differ: contexts, payoffs that move, arms that come and go."""

import numpy as np
import pytest
from refusals import refused
from small_problems import line

import windfall as wf
from windfall.problems.changing import Rounds
from windfall.problems.problem import Protocol
from windfall.runtime.threads import wedge_possible
from windfall.simulation import work
from windfall.simulation.rollout import Table

ARMS = np.random.default_rng(8).uniform(size=(12, 1))
#: Cheap, and one set of programs for all tests.
POLICY = wf.Policy(wf.VUCB(1.0), wf.GP(fit=wf.Fit(restarts=0, iterations=10)))
ROUNDS, SEED = 12, 5


def draw(trial: int, pulls: int) -> Rounds:
    """The best arm follows the load, and every third arm is missing at random."""
    rng = np.random.default_rng(trial)
    contexts = np.stack([rng.uniform(0, 10, pulls), rng.integers(2, size=pulls)], axis=1)
    payoffs = -((ARMS[:, 0] - contexts[:, :1] / 10.0) ** 2) + contexts[:, 1:]
    return Rounds(payoffs, contexts, rng.random((pulls, 12)) < 0.7)


CONTEXT = wf.Parameters({"load": wf.Real(0, 10), "kind": wf.Categorical(["a", "b"])})
PROBLEM = wf.Problem(arms=ARMS, rounds=draw, context=CONTEXT, noise=0.05)


@pytest.fixture(scope="module")
def result():
    return wf.simulate(PROBLEM, POLICY, rounds=ROUNDS, trials=2, seed=SEED, workers=1)


def test_a_bandit_chooses_the_arms_of_the_trial_whose_rewards_it_is_told(result):
    rounds = PROBLEM.drawn(0, ROUNDS + 2)
    bandit = wf.Bandit(ARMS, POLICY, context=CONTEXT, seed=SEED, initial=3)
    arms = [*result.initial[0], *result.arms[0, 1:]]
    rewards = [*result.first[0], *result.rewards[0, 1:]]
    chosen = []
    for i, reward in enumerate(rewards):
        choice = bandit.ask(context=rounds.contexts[i], among=rounds.available[i])
        bandit.tell(choice, reward)
        chosen.append(choice.arm)
    assert chosen == [int(arm) for arm in arms]
    assert len(set(chosen[3:])) > 2


def test_regret_is_that_against_the_best_available_arm_of_each_round(result):
    """By loops; trial after trial."""
    for trial in range(2):
        rounds = PROBLEM.drawn(trial, ROUNDS + 2)
        gaps = []
        for i, arm in enumerate([*result.initial[trial], *result.arms[trial, 1:]]):
            assert rounds.available[i, arm]
            best = max(
                p for p, free in zip(rounds.payoffs[i], rounds.available[i], strict=True) if free
            )
            gaps.append(best - rounds.payoffs[i, arm])
        expected = [min(gaps[:3]), *gaps[3:]]
        np.testing.assert_allclose(result.regret[trial], expected, rtol=0, atol=1e-15)
        first = int(np.argmin(gaps[:3]))
        assert result.arms[trial, 0] == result.initial[trial, first]
        assert result.rewards[trial, 0] == result.first[trial, first]


def test_trials_side_by_side_are_those_one_after_another(result):
    if wedge_possible():
        pytest.skip("batched linear algebra could hang this process")
    together = wf.simulate(PROBLEM, POLICY, rounds=ROUNDS, trials=2, seed=SEED, batch=2)
    np.testing.assert_array_equal(together.arms, result.arms)
    np.testing.assert_array_equal(together.regret, result.regret)


def test_payoffs_may_move_without_any_context():
    def moving(trial, pulls):
        return Rounds(np.roll(np.eye(12)[:pulls] if pulls <= 12 else np.eye(12), trial, axis=1))

    problem = wf.Problem(arms=ARMS, rounds=moving, protocol=Protocol(rounds=8))
    assert problem.payoffs(0).tolist() == np.eye(12)[:8].mean(axis=0).tolist()
    result = wf.simulate(problem, "mean", rounds=8, trials=1, workers=1)
    hits = [arm == i + 2 for i, arm in enumerate(result.arms[0, 1:], 1)]
    np.testing.assert_array_equal(result.regret[0, 1:] == 0.0, hits)


def _problem(**given):
    return lambda: wf.Problem(arms=ARMS, protocol=Protocol(rounds=4), **given)


BAD = {
    "growing bounds": (_problem(rounds=draw, context=["load"]), r"context is \['load'\]; expected"),
    "payoff, too": (_problem(rounds=draw, payoff=np.ones(12)), "rounds are given beside payoff"),
    "no bounds": (_problem(rounds=draw), "contexts and a context's bounds go together"),
    "shape": (
        _problem(rounds=lambda trial, pulls: Rounds(np.zeros((pulls, 3)))),
        r"payoffs has shape \(4, 3\); expected \(4, 12\), a row per pull",
    ),
    "no function": (_problem(rounds=3), "rounds is 3; expected a function of a trial's number and"),
    "a tuple": (
        _problem(rounds=lambda trial, pulls: (np.zeros((pulls, 12)), None)),
        r"rounds\(0, 4\) is \(array.*; expected Rounds of windfall\.problems\.changing",
    ),
    "an array": (
        _problem(rounds=lambda trial, pulls: np.zeros((pulls, 12))),
        r"rounds\(0, 4\) is array.*; expected Rounds of windfall\.problems\.changing",
    ),
    "no rounds": (
        _problem(payoff=np.ones(12), context={"load": (0, 1)}),
        r"context is \['load'\]; expected none without rounds",
    ),
    "ragged": (
        _problem(rounds=lambda t, p: Rounds(np.zeros((p, 12)), None, [[True], [True, False]])),
        "available is ragged or mixed; expected",
    ),
    "outside": (_problem(rounds=draw, context={"load": (0, 1), "kind": (0, 1)}), "context load is"),
    "nothing there": (
        _problem(
            rounds=lambda t, p: Rounds(
                np.zeros((p, 12)), None, np.tile(np.arange(p)[:, None] != 2, 12)
            )
        ),
        r"available\[2\] has no arm; expected",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_rounds_are_refused_in_one_line(case):
    make, message = BAD[case]
    with refused(message):
        make()


def test_initial_arms_are_repeated_only_where_nothing_else_is_available():
    job = work.Job(wf.Policy(wf.VUCB()), line(), rounds=3, seed=0)
    count = job.problem.protocol.initial
    assert count == 3

    def begun(*free: list[int]) -> list[int]:
        available = np.zeros((count, 24), bool)
        for row, arms in zip(available, free, strict=True):
            row[arms] = True
        return work._initial(job, 0, Table(job.problem.payoffs(0), None, available)).tolist()

    order = begun([*range(24)], [*range(24)], [*range(24)])
    assert len(set(order)) == 3
    assert begun([5], [5], [5]) == [5, 5, 5]
    assert begun([5], [5, 9], [5, 9])[:2] == [5, 9]
    assert begun([5], [5, 9], [5, 9, 11]) == [5, 9, 11]
