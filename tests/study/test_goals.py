"""What a user wants of a study: a goal, a budget, nothing twice."""

import numpy as np
import pytest
from bandit_study import ARMS, PAYOFF
from box_study import BOX
from policies import FEW, small
from refusals import refused

import windfall as wf
from windfall.acquisition.maximise import APART
from windfall.errors import InputError
from windfall.policy import as_policy
from windfall.registry import GOALS
from windfall.specs import from_spec, to_spec

TWELVE, PAYS = ARMS[::5], PAYOFF[::5]
#: Small settings, so that programs are quick to compile and to run.
QUICK = wf.GP(fit=wf.Fit(restarts=0, iterations=20))


@pytest.mark.parametrize("goal", GOALS)
def test_a_goal_stands_for_a_policy(goal):
    assert repr(wf.Bandit(ARMS, goal=goal).policy) == repr(as_policy(GOALS[goal]))
    assert repr(wf.Bandit(ARMS).policy) == repr(wf.Bandit(ARMS, goal="reward").policy)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"goal": "bset"}, r"goal is 'bset' \(did you mean 'best'\?\); expected one of"),
        ({"goal": "best", "policy": "ei"}, "goal is 'best' and policy is 'ei'; expected one of"),
        (
            {"goal": "best", "policy": wf.EI()},
            r"goal is 'best' and policy is EI.*; expected one of",
        ),
        ({"budget": 0}, "budget is 0; expected a whole number, at least 1"),
    ],
)
def test_wishes_that_make_no_sense(given, message):
    problem = wf.Problem(arms=ARMS, payoff=PAYOFF)
    for make in (
        lambda: wf.Bandit(ARMS, **given),
        lambda: wf.simulate(problem, **given, rounds=1, trials=1, workers=1),
        lambda: as_policy(**given),
    ):
        with refused(message):
            make()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"budget": 2.5}, "budget is 2.5; expected a whole number"),
        ({"repeats": "no"}, "repeats is 'no'; expected True or False"),
    ],
)
def test_what_is_no_budget_and_no_answer(given, message):
    for make in (lambda: wf.Policy(wf.EI(), **given), lambda: as_policy("ei", **given)):
        with pytest.raises(InputError, match=f"^{message}"):
            make()


def test_a_policy_with_wishes_is_written_down_and_read_again():
    for policy, text in [
        (wf.Policy(wf.VUCB(), QUICK, repeats=False, budget=9), ", repeats=False, budget=9)"),
        (wf.Policy(wf.Prospect(), QUICK, repeats=True), ", repeats=True)"),
        (wf.Policy(wf.Prospect(), QUICK, repeats=False), "ard=True))"),  # as it is anyway
    ]:
        assert repr(policy).endswith(text)
        again = from_spec(to_spec(policy))
        assert (again.repeats, again.budget) == (policy.repeats, policy.budget)
        assert repr(again) == repr(policy)


def test_wishes_change_what_they_are_about_and_nothing_else():
    given = wf.Policy(wf.VUCB(kappa=0.7), QUICK, repeats=False)
    asked = wf.Bandit(ARMS, given, budget=30).policy
    assert repr(asked) == repr(wf.Policy(wf.VUCB(kappa=0.7), QUICK, repeats=False, budget=30))
    assert wf.Bandit(ARMS, given, repeats=True).policy.repeats is True


@pytest.mark.parametrize("name", FEW)
def test_nothing_is_tried_twice_while_there_is_something_else(name):
    """Alone and in batches, also with rewards that would be worth another look."""
    bandit = wf.Bandit(TWELVE, wf.Policy(small(name), QUICK), repeats=False, seed=0)
    chosen: list[int | None] = []
    for batch in (3, 1, 1, 4, 3):
        choices = bandit.ask(batch)
        for choice in choices:
            bandit.tell(choice, PAYS[choice.arm])
        chosen += [choice.arm for choice in choices]
    assert set(chosen) == set(range(12))  # twelve pulls
    assert bandit.ask().arm in range(12)  # all were tried: any may come again


def test_nothing_is_tried_twice_on_a_box():
    """The greedy policy stays in the best corner, which is where a plane is highest, if it may."""
    plane = wf.GP(kernel=wf.kernels.Trend(1.0), fit=wf.Fit(restarts=0, iterations=20))
    told = np.array([[3.0, 10.0], [3.0, 16.0], [0.5, 10.0], [1.0, 18.0]])

    def nearest(repeats):
        bandit = wf.Bandit(BOX, wf.Policy(wf.Mean(), plane), repeats=repeats, initial=4)
        for dose, heat in told:
            bandit.tell([dose, heat], dose - heat / 4.0)
        return np.abs(BOX.unit(told) - BOX.unit(bandit.ask().features[None])).max(axis=1).min()

    assert nearest(True) == 0.0
    assert nearest(False) > APART


def test_a_few_points_are_all_tried_before_one_comes_again():
    space = wf.Parameters({"n": wf.Integer(0, 2), "kind": wf.Categorical(["a", "b", "c"])})
    bandit = wf.Bandit(space, wf.Policy(wf.Prospect(), QUICK), seed=0, initial=3)
    tried = set()
    for _ in range(9):
        choice = bandit.ask()
        tried.add(tuple(choice.parameters.values()))
        bandit.tell(choice, float(choice.parameters["n"] == 1))
    assert len(tried) == 9


def test_the_last_pull_of_a_budget_goes_to_the_highest_mean():
    with_end, without = (wf.Bandit(ARMS, seed=4, budget=budget) for budget in (8, None))
    for arm in (3, 17, 30, 44, 51, 12, 58):
        for bandit in (with_end, without):
            bandit.tell(arm, PAYOFF[arm])
    mean, deviation = with_end.posterior()
    assert with_end.ask().arm == np.argmax(mean)
    score = without.explain()["acquisition"]
    assert np.max(score - mean) > 0.1 * deviation.max()  # without an end it is still curious
    with_end.tell(0, PAYOFF[0])  # beyond the budget: as on its last pull
    assert with_end.ask().arm == np.argmax(with_end.posterior()[0])


def test_a_batch_counts_against_the_budget():
    bandit = wf.Bandit(ARMS, seed=4, budget=9)
    for arm in (3, 17, 30, 44, 51, 12, 58):
        bandit.tell(arm, PAYOFF[arm])
    first, last = bandit.ask(2)
    mean, _ = bandit.posterior()
    others = np.delete(np.arange(60), first.arm)  # which is waited for
    assert last.arm == others[np.argmax(mean[others])]


def test_a_budget_ends_with_the_best_that_was_found_also_in_its_first_rounds():
    """Nothing is tried twice so early, but for the last pulls."""
    line = np.linspace(0.0, 1.0, 200)[:, None]
    with_end, without = (wf.Bandit(line, seed=0, budget=budget) for budget in (6, None))
    for arm, reward in ((0, 0.0), (50, 0.0), (100, 0.0), (150, 10.0), (199, 0.0)):
        for bandit in (with_end, without):
            bandit.tell(arm, reward)
    assert with_end.ask().arm == 150
    assert without.ask().arm not in (0, 50, 100, 150, 199)
