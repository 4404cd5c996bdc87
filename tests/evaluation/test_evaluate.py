"""wf.evaluate: logs, models that have not seen what they predict, policies as targets, refusals."""

import warnings

import numpy as np
import pandas as pd
import pytest
from refusals import refused
from rounding import relative_distance

import windfall as wf
from windfall.errors import InputError
from windfall.evaluation import crossfit
from windfall.evaluation.evaluate import probable_and_predicted
from windfall.evaluation.log import as_log
from windfall.study.stores import MemoryStore

LINEAR = wf.BayesianLinear()
ARMS = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
EVEN = np.full(4, 0.25)


def columns(n: int = 60, seed: int = 0) -> dict[str, np.ndarray]:
    """Arms at random, rewards linear in features and context."""
    rng = np.random.default_rng(seed)
    arm, context = rng.integers(0, 4, n), rng.random((n, 1))
    reward = ARMS[arm] @ [1.0, 2.0] - context[:, 0] + 0.1 * rng.normal(size=n)
    return {"arm": arm, "reward": reward, "propensity": np.full(n, 0.25), "context": context}


def without_context(log):
    return {name: log[name] for name in ("arm", "reward", "propensity")}


def test_what_predicts_a_row_has_not_seen_it():
    """Another reward in a row changes no prediction and no decision for it, and some for others."""
    before, after = columns(), columns()
    after["reward"][7] += 100.0
    policy = wf.Policy(wf.VUCB(), LINEAR)
    said = []
    for log in map(without_context, (before, after)):
        learning = crossfit.Learning(LINEAR, most=256, seed=0)
        said.append(probable_and_predicted(learning, as_log(log, ARMS, None), policy, 5, 8))
    for first, second in zip(*said, strict=True):
        np.testing.assert_array_equal(first[7], second[7])
    same_fold = crossfit.dealt(60, 5, 0) == crossfit.dealt(60, 5, 0)[7]
    changed = np.any(said[0][1] != said[1][1], axis=1)
    np.testing.assert_array_equal(changed, ~same_fold)


def test_it_predicts_and_decides_as_a_study_does_that_was_told_the_other_rows():
    """In the context of each row, and among the arms that were there."""
    given = {name: column[:20] for name, column in columns().items()}
    mask = np.random.default_rng(0).random((20, 4)) < 0.5
    mask[np.arange(20), given["arm"]] = True
    log = as_log(given | {"available": mask}, ARMS, None)
    policy = wf.Policy(wf.VUCB(3.0), LINEAR)
    inside, outside = np.arange(6), np.arange(6, 20)
    belief = crossfit.learned(crossfit.Learning(LINEAR, 256, 0), log, outside)
    predicted = crossfit.predictions(belief, log, inside)
    probable = crossfit.policy_chances(policy, belief, log, inside, 0, 1)
    assert len(np.unique(probable, axis=0)) > 1

    bounds = {"load": (given["context"].min(), given["context"].max())}
    bandit = wf.Bandit(ARMS, policy, context=bounds, seed=0, initial=1)
    for row in outside:
        bandit.tell(int(log.arm[row]), log.reward[row], context=given["context"][row])
    for row in inside:
        context = given["context"][row]
        # The same programs on the same numbers, but for the number of points predicted at once.
        mean, _ = bandit.posterior(context=context)
        assert relative_distance(predicted[row], mean) < 1e-12
        choice = bandit.ask(context=context, among=mask[row])
        np.testing.assert_array_equal(probable[row], np.arange(4) == choice.arm)


def test_a_study_with_contexts_and_masks_is_its_own_log():
    policy = wf.Policy(wf.VUCB(), LINEAR, explore=0.5)
    bandit = wf.Bandit(ARMS, policy, context=["load"], seed=0)
    rng = np.random.default_rng(0)
    kept = []
    for t in range(12):
        context, mask = rng.random(1), np.arange(4) != t % 4
        choice = bandit.ask(context=context, among=mask)
        bandit.tell(choice, float(choice.features @ [1.0, 2.0] - context[0]))
        kept.append((choice.arm, context[0], mask))
    log = as_log(bandit, None, None)
    arm, load, mask = map(np.array, zip(*kept[3:], strict=True))
    np.testing.assert_array_equal(log.arm, arm)
    np.testing.assert_array_equal(log.available, mask)
    np.testing.assert_allclose(log.context[:, 0], (load - load.min()) / np.ptp(load), rtol=1e-12)
    assert all(p in (0.5 / 3, 0.5 + 0.5 / 3) for p in log.propensity)  # of three that are there


def test_arms_that_come_and_go_count_where_they_were_there():
    bandit = wf.Bandit(ARMS, wf.Policy(wf.VUCB(), LINEAR, explore=0.5), seed=0)

    def play():
        choice = bandit.ask()
        bandit.tell(choice, float(choice.features @ [1.0, 2.0]))

    for _ in range(5):
        play()
    bandit.retire(2)
    play()
    bandit.add_arms([[0.5, 0.5]])
    play()
    log = as_log(bandit, None, None)
    assert log.space.size == 5
    yes = [True, True]
    expected = [[*yes, True, True, False]] * 2 + [[*yes, False, True, False], [*yes, False, *yes]]
    assert log.available.tolist() == expected
    counts = np.array(expected).sum(axis=1)
    assert all(
        min(abs(p - 0.5 / n), abs(p - 0.5 - 0.5 / n)) < 1e-12
        for p, n in zip(log.propensity, counts, strict=True)
    )


def test_a_model_learns_from_no_more_inputs_than_it_may():
    """Every row has a context of its own here: as many rewards as inputs."""
    log = as_log(columns(), ARMS, None)
    for most, expected in ((10, 10), (99, 60)):
        belief = crossfit.learned(crossfit.Learning(LINEAR, most, 0), log, np.arange(60))
        assert int(belief.tried.distinct) == expected


def test_the_right_model_halves_the_error_and_all_estimates_agree():
    target = np.array([0.1, 0.2, 0.3, 0.4])
    found = wf.evaluate(columns(400), target, arms=ARMS, model=LINEAR)
    truth = float(target @ ARMS @ [1.0, 2.0]) - 0.5
    for name in ("ips", "snips", "doubly_robust"):
        estimate = getattr(found, name)
        assert abs(estimate.value - truth) < 4 * estimate.error, name
    assert found.doubly_robust.error < 0.5 * found.ips.error
    # A linear model of linear payoffs: wrong by noise and by the contexts that happened to come.
    assert abs(found.direct.value - truth) < 4 * found.doubly_robust.error
    assert found.logged.value == pytest.approx(columns(400)["reward"].mean())
    assert "doubly_robust" in str(found)
    assert "400 rows" in str(found)


def test_the_log_of_the_target_itself_has_weight_one():
    """Then IPS is the mean of the rewards."""
    found = wf.evaluate(without_context(columns()), EVEN, model=LINEAR)
    assert found.effective == pytest.approx(60.0)
    assert found.mean_weight == 1.0
    assert found.ips == found.logged


def test_the_forms_of_a_log_and_of_a_target():
    log = without_context(columns())
    found = wf.evaluate(log, EVEN, arms=ARMS, model=LINEAR)
    assert wf.evaluate(pd.DataFrame(log), np.tile(EVEN, (60, 1)), arms=ARMS, model=LINEAR) == found
    assert wf.evaluate(log, EVEN, arms=ARMS, model=LINEAR, interval="bootstrap").ips != found.ips


def test_missing_overlap_is_said():
    log = {"arm": np.arange(60) % 2, "reward": np.ones(60), "propensity": np.full(60, 0.5)}
    with pytest.warns(UserWarning, match="50% of its choices among arms that the log never pulled"):
        found = wf.evaluate(log, [0.25, 0.25, 0.5], model=LINEAR)
    assert found.unseen == pytest.approx(0.5)
    rare = {"arm": np.arange(60) // 58, "reward": np.ones(60), "propensity": np.full(60, 0.5)}
    with pytest.warns(UserWarning, match=r"the 60 rows are worth 2\.0: the log seldom does"):
        wf.evaluate(rare, [0.0, 1.0], model=LINEAR)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wf.evaluate(log, [0.4, 0.6], model=LINEAR)


def wrong(**changed):
    return without_context(columns(10)) | changed


@pytest.mark.parametrize(
    ("history", "policy", "given", "message"),
    [
        (3, EVEN, {}, "history is 3; expected a Study, a Bandit, or columns arm"),
        ({"arm": [0]}, EVEN, {}, "history has no column 'reward'; expected arm, reward, prop"),
        (wrong(reward=[1.0]), EVEN, {}, r"reward has shape \(1,\); expected at least 2"),
        (wrong(reward=[np.nan] * 10), EVEN, {}, r"reward\[0\] is nan; expected a finite number"),
        (wrong(arm=[0, 1]), EVEN, {}, r"arm has shape \(2,\); expected \(10,\), one per reward"),
        (wrong(arm=[4] * 10), EVEN, {}, "arm is 4; expected a row number from 0 to 3"),
        (wrong(propensity=[0.0] * 10), EVEN, {}, "propensity is 0; expected a probability, above"),
        (wrong(context=[[1.0]]), EVEN, {}, r"context has shape \(1, 1\); expected \(10, numbers\)"),
        (wrong(available=[[1]]), EVEN, {}, r"available has shape \(1, 1\); expected \(10, 4\), a"),
        (wrong(available=np.zeros((10, 4))), EVEN, {}, r"arm is \d where it is not available; exp"),
        (wrong(), [0.5, 0.1], {}, "policy has probabilities from 0.1 on that sum to 0.6; expected"),
        (wrong(), [1.5, -0.5], {}, "policy has probabilities from -0.5 on that sum to 1; expected"),
        (wrong(), ["a"], {}, "policy is neither a policy nor probabilities; expected"),
        (wrong(), [EVEN] * 3, {}, r"policy has probabilities of shape \(3, 4\); expected \(4,\)"),
        (wrong(), EVEN, {"arms": ARMS[:3]}, "policy has probabilities of 4 arms; expected 3"),
        (wrong(), "tss", {}, "policy is 'tss'"),
        (wrong(), EVEN, {"folds": 11}, "folds is 11; expected a whole number from 2 to 10"),
        (
            wrong(),
            EVEN,
            {"confidence": 0.0},
            "confidence is 0.0; expected a finite number, abo",
        ),
        (wrong(), EVEN, {"interval": "exact"}, "interval is 'exact'; expected 'normal' or 'boot"),
        (wrong(), EVEN, {"model": "gp"}, "model is 'gp'; expected a GP"),
    ],
)
def test_what_cannot_be_evaluated(history, policy, given, message):
    with refused(message):
        wf.evaluate(history, policy, **given)


def test_a_study_without_arms_or_propensities_says_so():
    with pytest.raises(InputError, match="history is a study without arms; expected"):
        wf.evaluate(wf.Bandit(wf.Box([0.0], [1.0])), "ts")
    with pytest.raises(InputError, match="history has 0 choices with a propensity and a reward"):
        wf.evaluate(wf.Bandit(ARMS), "ts")


def test_a_reward_that_was_taken_back_does_not_count():
    """Also where the choice was only looked at, and not handed out."""
    study = wf.Study("log", ARMS, wf.Policy(wf.VUCB(), LINEAR, explore=0.5), store=MemoryStore())
    for reward in (1.0, 2.0, 3.0, 4.0, 5.0, 1000.0):
        study.tell(study.ask(), reward)
    study.undo()
    for log in (study, study.history()):
        assert as_log(log, ARMS if log is not study else None, None).reward.tolist() == [4.0, 5.0]


def test_a_policy_that_expects_drift_is_judged_as_if_nothing_did():
    gp = wf.GP(fit=wf.Fit(restarts=0, iterations=5))
    log = columns(n=20)
    found = [
        wf.evaluate(without_context(log), policy, arms=ARMS, model=model)
        for policy, model in (
            (wf.Policy(wf.VUCB(), gp, explore=0.5), None),
            (wf.Policy(wf.VUCB(), wf.Drifting(gp), explore=0.5), None),
            (wf.Policy(wf.VUCB(), gp, explore=0.5), wf.Drifting(gp)),
        )
    ]
    assert found[1] == found[0] == found[2]


def test_of_events_only_rewards_of_choices_with_a_propensity_count():
    def row(kind, id=None, arm=None, reward=None, propensity=None):
        return locals()

    events = [
        row("asked", 0, 3),  # an initial arm: no propensity
        row("told", 0, 3, 5.0),
        row("asked", 1, 2, propensity=0.5),
        row("asked", 2, 1, propensity=0.1),
        row("asked", 3, 0, propensity=0.2),
        row("told", 2, 1, 7.0),
        row("told", None, 1, 8.0),  # nobody chose this
        row("told", 1, 2, 9.0),
        row("undone", 1, 2),
        row("failed", 3, 0),
        row("told", 1, 2, 4.0),
        row("told", 2, 1, 7.5),  # once more: not chosen again
    ]
    history = pd.DataFrame(events)  # None becomes NaN in columns of numbers
    for form in (history, {name: [e[name] for e in events] for name in history}):
        log = as_log(form, ARMS, None)
        assert log.arm.tolist() == [1, 2]
        assert log.reward.tolist() == [7.0, 4.0]
        assert log.propensity.tolist() == [0.1, 0.5]
