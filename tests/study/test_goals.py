"""What a user wants of a study: a goal, a budget, nothing twice, similarities for features."""

import numpy as np
import pytest
from bandit_study import ARMS, PAYOFF
from box_study import BOX
from policies import FEW, small
from refusals import refused
from rounding import relative_distance, solving

import windfall as wf
from windfall.acquisition.maximise import APART
from windfall.errors import InputError
from windfall.models.gp.usual import similarity_model
from windfall.policy import as_policy
from windfall.registry import GOALS
from windfall.space.similarity import similar_arms
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


#: Arms in a row, the more alike the nearer.
ROW = np.arange(12.0)
SIMILAR = 3.0 * np.exp(-np.abs(ROW[:, None] - ROW[None]) / 4.0)
TOLD = {0: 0.3, 4: 1.9, 7: 0.8, 11: -0.6, 5: 1.5}
#: What 1 in the matrix is for the kernel that is linear in the features made of it.
UNIT = float(np.sum((similar_arms(SIMILAR).points[0] - 0.5) ** 2) / SIMILAR[0, 0])


@pytest.fixture(scope="module")
def similar() -> wf.Bandit:
    bandit = wf.Bandit(kernel_matrix=SIMILAR, goal="best", seed=0)
    for arm, reward in TOLD.items():
        bandit.tell(arm, reward)
    bandit.ask()
    return bandit


def test_similarities_are_the_covariance_of_the_payoffs(similar):
    slope, noise = similar._record.belief["hyper"]
    height = slope * UNIT
    arms, y = np.array(list(TOLD)), np.array(list(TOLD.values()))
    gram = height * SIMILAR
    precise = gram[np.ix_(arms, arms)] + noise * np.eye(len(y))
    weights = np.linalg.solve(precise, (y - y.mean()) / y.std())
    variance = np.diag(gram - gram[:, arms] @ np.linalg.solve(precise, gram[arms]))
    mean, deviation = similar.posterior()
    assert relative_distance(mean, y.mean() + y.std() * gram[:, arms] @ weights) < solving(precise)
    # A variance is a difference of numbers as large as the prior's.
    rounding = solving(precise) * y.std() ** 2 * gram.max()
    np.testing.assert_allclose(deviation**2, y.std() ** 2 * variance, atol=rounding)


def row_kernel(a, b, slope):
    import jax.numpy as jnp

    return slope * UNIT * 3.0 * jnp.exp(-jnp.abs(a[0] - b[0]) * 11.0 / 4.0)


def test_a_bandit_on_features_with_the_same_kernel_chooses_the_same(similar):
    model = wf.GP(kernel=wf.kernels.Custom(row_kernel, slope=1.0), fit=similarity_model().fit)
    featured = wf.Bandit(ROW[:, None], wf.Policy(wf.Prospect(), model), seed=0)
    for arm, reward in TOLD.items():
        featured.tell(arm, reward)
    assert featured.ask().arm == similar.ask().arm
    # Both searches follow the same path, up to what rounding makes of it in fifty steps.
    np.testing.assert_allclose(featured.posterior(), similar.posterior(), rtol=1e-4)


def test_a_study_with_wishes_is_saved_and_goes_on(similar):
    again = wf.Bandit(kernel_matrix=SIMILAR, goal="best", seed=9)
    again.load_state_dict(similar.state_dict())
    assert again.ask() == similar.ask()
    for other in ({"goal": "best", "budget": 20}, {"goal": "best", "repeats": True}, {}):
        with pytest.raises(InputError, match="policy"):
            wf.Bandit(kernel_matrix=SIMILAR, **other).load_state_dict(similar.state_dict())


def test_a_study_is_created_with_wishes_and_opened_with_the_same(store):
    wishes = {"goal": "best", "budget": 30, "repeats": True, "kernel_matrix": SIMILAR}
    first = wf.Study("alloy", store=store, **wishes)
    first.tell(4, 1.0)
    for given in ({}, {"kernel_matrix": SIMILAR}, {"budget": 30}, {"repeats": True}, wishes):
        again = wf.Study("alloy", store=store, **given)
        assert repr(again.policy) == repr(first.policy)
        assert again.pulls[4] == 1
    for given, difference in [
        ({"budget": 31}, "policy.budget: 31 here, 30 saved"),
        ({"repeats": False}, "policy.repeats: nothing here, True saved"),
        ({"kernel_matrix": np.eye(11)}, "space.features: 11 entries here, 12 saved"),
        ({**wishes, "goal": "reward"}, "policy.acquisition: Windfall here, Prospect saved"),
    ]:
        with pytest.raises(InputError, match="was created otherwise") as error:
            wf.Study("alloy", store=store, **given)
        assert difference in str(error.value)
