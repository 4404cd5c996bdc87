"""Contexts and available arms: what a Bandit makes of them."""

import json

import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from bandit_study import ARMS, PAYOFF
from policies import ALL, small
from refusals import refused
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

import windfall as wf
from windfall.errors import InputError
from windfall.space import Arms
from windfall.study.available import available
from windfall.study.stores import MemoryStore

#: Cheap to compile, and the same for all tests here: one set of programs.
POLICY = wf.Policy(wf.VUCB(1.0), wf.GP(fit=wf.Fit(restarts=0, iterations=10)))
HEATS = [20.0, 22.0, 21.0, 24.0, 20.5, 23.0, 21.0]


def payoff(arm: int, heat: float) -> float:
    """The best arm moves with the heat."""
    return -((ARMS[arm, 0] - 2.0 + 0.5 * (heat - 22.0)) ** 2)


def play(bandit, heats=HEATS, **how):
    chosen = []
    for heat in heats:
        choice = bandit.ask(context={"heat": heat}, **how)
        assert choice.context == {"heat": heat}
        bandit.tell(choice, payoff(choice.arm, heat))
        chosen.append((choice.arm, choice.why))
    return chosen


def plain(bandit, rounds, **how):
    chosen = []
    for _ in range(rounds):
        choice = bandit.ask(**how)
        bandit.tell(choice, PAYOFF[choice.arm])
        chosen.append((choice.arm, choice.why))
    return chosen


@pytest.fixture(scope="module")
def bandit():
    bandit = wf.Bandit(ARMS, POLICY, context=["heat"], seed=3)
    play(bandit)
    return bandit


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("arms", [ARMS, np.random.default_rng(0).random((20, 2))])
def test_a_constant_context_equals_none_and_an_all_true_mask_no_mask(name, arms):
    """Bit for bit, for every policy, in dense lists and in scarce ones."""
    policy = wf.Policy(small(name))
    expected = plain(wf.Bandit(arms, policy, seed=1), 6)
    still = wf.Bandit(arms, policy, context=["heat", "load"], seed=1)
    assert plain(still, 6, context={"heat": 21.5, "load": -3}) == expected
    assert plain(wf.Bandit(arms, policy, seed=1), 6, among=np.ones(len(arms), bool)) == expected


def test_the_posterior_is_that_of_a_gaussian_process_over_arms_and_contexts(bandit):
    """By scikit-learn, with the hyper-parameters that the last choice rests on."""
    told = bandit._record.told
    bandit.ask(context=[22.0])
    saved = [e for e in bandit.state_dict()["events"] if e.get("belief")][-1]
    scales, variance, noise = saved["belief"]["hyper"]
    low, high = (np.array(ends) for ends in saved["within"])
    assert (low, high) == (20.0, 24.0)

    def joint(arms, heat):
        return np.c_[(arms + 3.0) / 8.0, (np.broadcast_to(heat, len(arms)) - low) / (high - low)]

    x = joint(ARMS[[p.point for p in told]], [p.context[0] for p in told])
    y = np.array([p.reward for p in told])
    oracle = GaussianProcessRegressor(
        ConstantKernel(variance) * RBF(scales), alpha=noise, optimizer=None
    )
    oracle.fit(x, (y - y.mean()) / y.std())
    mean, deviation = oracle.predict(joint(ARMS, 23.5), return_std=True)
    mine = bandit.posterior(context={"heat": 23.5})
    # Rounding of 1e-16 grows by the condition number, which is at most n·variance/noise.
    condition = len(y) * variance / noise
    np.testing.assert_allclose(mine[0], y.mean() + y.std() * mean, atol=1e-14 * condition * y.std())
    np.testing.assert_allclose(mine[1], y.std() * deviation, atol=1e-7 * condition**0.5 * y.std())
    table = bandit.explain(context=[23.5])
    np.testing.assert_allclose(table["acquisition"], mine[0] + mine[1], rtol=1e-9)
    best = bandit.best_at([23.5])
    tried = sorted({p.point for p in told})
    assert best.arm == tried[np.argmax(mine[0][tried])]
    assert best.context == {"heat": 23.5}
    assert bandit.best.context is None


def test_asking_in_a_wider_context_changes_no_belief_and_an_older_reward_no_meaning():
    bandit = wf.Bandit(ARMS, POLICY, context=["heat"], seed=3)
    play(bandit)
    bandit.ask(context=[22.0])
    before = np.array(bandit.posterior(context=[23.5]))
    bandit.ask(context=[36.0])  # four times as wide: a power of two, so that scaling is exact
    np.testing.assert_allclose(bandit.posterior(context=[23.5]), before, rtol=0, atol=1e-9)
    again = wf.Bandit.from_state_dict(json.loads(json.dumps(bandit.state_dict())))
    np.testing.assert_array_equal(again.posterior(context=[23.5]), bandit.posterior(context=[23.5]))
    assert again.ask(context=[28.0]) == bandit.ask(context=[28.0])


def test_a_proposal_is_for_its_context_and_its_arms(bandit):
    here = bandit.ask(context=[20.0])
    assert bandit.ask(context=[20.0]) is here
    elsewhere = bandit.ask(context=[24.0])
    assert elsewhere.context != here.context
    masked = bandit.ask(context=[24.0], among=[3, 4])
    assert masked.arm in (3, 4)
    assert bandit.ask(context=[24.0], among=np.isin(np.arange(60), [3, 4])) is masked
    asked = bandit.state_dict()["events"][-1]
    assert (asked["among"], asked["context"]) == ([3, 4], [24.0])


def test_only_available_arms_are_chosen_and_the_best_of_them():
    bandit = wf.Bandit(ARMS, POLICY, context=["heat"], seed=3)
    free = np.arange(60) % 7 == 0
    play(bandit, HEATS[:5], among=free)
    assert all(free[arm] for arm, _ in bandit.rewards)
    choice = bandit.ask(context=[22.0], among=free)
    scores = bandit.explain(context=[22.0])["acquisition"]
    assert choice.arm == np.flatnonzero(free)[np.argmax(scores[free])]
    assert choice.arm != np.argmax(scores)
    only = bandit.ask(context=[22.0], among=[59])
    assert only.arm == 59


def test_choices_of_a_batch_have_one_context_or_one_each(bandit):
    pending = bandit.ask(4, context=[[20.0], [20.0], [24.0], [24.0]])
    assert [c.context["heat"] for c in pending] == [20.0, 20.0, 24.0, 24.0]
    assert pending[0].arm != pending[1].arm
    assert pending[2].arm != pending[3].arm
    alike = bandit.ask(2, context=[22.0])
    assert [c.context for c in alike] == [{"heat": 22.0}] * 2
    for choice in (*pending, *alike):
        bandit.forget(choice)
    assert bandit.pending == []


def test_what_failed_in_a_context_is_avoided_there():
    bandit = wf.Bandit(ARMS, POLICY, context=["heat"], seed=3)
    play(bandit)
    choice = bandit.ask(context=[21.0])
    bandit.fail(choice)
    assert bandit.ask(context=[21.0]).arm != choice.arm
    assert bandit.failed[0].context == {"heat": 21.0}
    bandit.forget(choice.arm, context=[21.0])
    assert bandit.failed == []


def test_nothing_is_tried_twice_in_the_same_context():
    few = ARMS[::12]
    once = wf.Policy(POLICY.acquisition, POLICY.model, repeats=False)
    bandit = wf.Bandit(few, once, context={"kind": wf.Categorical(["a", "b"])}, seed=0)
    tried = {"a": [], "b": []}
    for i in range(10):
        choice = bandit.ask(context={"kind": "ab"[i % 2]})
        bandit.tell(choice, float(choice.features[0]))
        tried["ab"[i % 2]].append(choice.arm)
    # Initial arms know of no context; all others were new where they were chosen.
    assert all(len(set(arms)) >= 4 for arms in tried.values())
    assert {arm for arm, _ in bandit.rewards} == set(range(5))


@pytest.mark.parametrize("name", ALL)
def test_every_policy_learns_that_the_best_arm_depends_on_the_context(name):
    policy = wf.Policy(small(name), POLICY.model)
    bandit = wf.Bandit(ARMS, policy, context={"heat": (20, 24)}, seed=0)
    for i in range(12):
        heat = (20.0, 24.0)[i % 2]
        choice = bandit.ask(context=[heat])
        bandit.tell(choice, payoff(choice.arm, heat))
    assert bandit.best_at([20.0]).features[0] > bandit.best_at([24.0]).features[0]


def test_a_region_is_searched_in_a_context():
    box = wf.Box([0.0], [1.0], names=["dose"])
    bandit = wf.Bandit(box, POLICY, context={"load": (0, 1)}, seed=0)
    for i in range(8):
        choice = bandit.ask(context=[i % 2])
        bandit.tell(choice, -((choice.features[0] - 0.2 - 0.6 * (i % 2)) ** 2))
    low, high = (bandit.best_at([load]).features[0] for load in (0, 1))
    assert abs(low - 0.2) < abs(high - 0.2)
    assert abs(high - 0.8) < abs(low - 0.8)


def test_an_additive_context_moves_all_payoffs_alike():
    bandit = wf.Bandit(ARMS, POLICY, context=wf.Context({"load": (0, 1)}, additive=True), seed=0)
    for i in range(8):
        bandit.tell(7 * i, PAYOFF[7 * i] + 3.0 * (i % 2), context=[i % 2])
    (mean, _), (other, _) = (bandit.posterior(context=[load]) for load in (0.0, 1.0))
    # A sum of two functions, but for rounding that grows by the condition number, 1e8 at most.
    np.testing.assert_allclose(other - mean, (other - mean)[0], atol=1e-8 * np.ptp(PAYOFF))
    assert 1.0 < (other - mean)[0] < 5.0


def test_contexts_masks_and_their_bounds_compile_nothing_anew(bandit):
    import jax

    compiled = []

    def listen(event: str, duration: float, **_) -> None:
        if event == "/jax/core/compile/jaxpr_to_mlir_module_duration":
            compiled.append(event)

    def look(heat):
        bandit.ask(context=[heat])
        bandit.ask(context=[heat], among=[int(heat)])
        bandit.posterior(context=[heat + 1])

    look(21.7)
    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        for heat in (20.1, 23.9, 40.0):
            look(heat)
    finally:
        jax.monitoring.unregister_event_duration_listener(listen)
    assert compiled == []


BAD = {
    "missing": (lambda b: b.ask(), "context is missing; expected heat"),
    "unknown": (lambda b: b.ask(context={"cold": 1}), r"context is \{'cold': 1\}; expected heat"),
    "nan": (lambda b: b.ask(context=[np.nan]), "context heat is nan; expected a finite number"),
    "told without": (lambda b: b.tell(3, 1.0), "context is missing; expected heat"),
    "told nan": (lambda b: b.tell(3, 1.0, context=[np.nan]), "context heat is nan"),
    "told with another": (
        lambda b: b.tell(b.pending[0], 1.0, context=[3]),
        r"context is \[3\]; expected none: a choice has its own",
    ),
    "read without": (lambda b: b.posterior(), "context is missing; expected heat"),
    "empty mask": (
        lambda b: b.ask(context=[1], among=np.zeros(60, bool)),
        "among is .*; expected at least one arm that is available",
    ),
    "empty list": (lambda b: b.ask(context=[1], among=[]), r"among is \[\]; expected at least one"),
    "short mask": (lambda b: b.ask(context=[1], among=[True]), "among has 1 entries; expected 60"),
    "a column for a mask": (
        lambda b: b.ask(context=[1], among=np.ones((60, 1), bool)),
        r"among has shape \(60, 1\); expected \(60,\), one for each arm",
    ),
    "a nested mask": (
        lambda b: b.ask(context=[1], among=[[True]] * 60),
        r"among has shape \(60, 1\); expected \(60,\), one for each arm",
    ),
    "a mask of numbers": (
        lambda b: b.ask(context=[1], among=np.arange(60) // 58),
        "among has arm 0 more than once; expected every arm once, or booleans for a mask",
    ),
    "an arm by its number and its features": (
        lambda b: b.ask(context=[1], among=[7, 3, ARMS[7]]),
        "among has arm 7 more than once",
    ),
    "a truth without axes": (
        lambda b: b.ask(context=[1], among=np.array(True)),
        "among is True; expected a mask, or a list of arms",
    ),
    "no axes": (lambda b: b.ask(context=np.array(5.0)), "context is 5.0; expected values of heat"),
    "told without axes": (
        lambda b: b.tell(3, 1.0, context=np.array(5.0)),
        "context is 5.0; expected values of heat",
    ),
    "unknown arm": (lambda b: b.ask(context=[1], among=[60]), "arm is 60; expected"),
    "unknown name": (lambda b: b.ask(context=[1], among=["x"]), "arm is 'x'; expected the name"),
    "text": (lambda b: b.ask(context=[1], among="x"), "among is 'x'; expected a mask"),
    "too many": (lambda b: b.ask(3, context=[[1], [2]]), "context has 2 entries; expected 3"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_in_one_line_and_changes_nothing(case):
    bandit = wf.Bandit(ARMS, POLICY, context=["heat"], seed=3)
    bandit.tell(bandit.ask(context=[21.0]), 1.0)
    bandit.ask(1, context=[22.0])
    before = bandit.state_dict()
    call, message = BAD[case]
    with refused(message):
        call(bandit)
    assert bandit.state_dict() == before


@pytest.mark.parametrize("make", [list, np.array, jnp.array, pd.Series, lambda m: map(np.array, m)])
def test_a_mask_may_come_in_whatever_holds_truths(make):
    free = [i % 7 == 0 for i in range(60)]
    mask, event = available(Arms(ARMS), make(free))
    assert mask.tolist() == free
    assert event == ("among", tuple(range(0, 60, 7)))


def test_a_study_without_contexts_takes_none_and_one_without_a_list_no_mask():
    bandit = wf.Bandit(ARMS, POLICY)
    with pytest.raises(InputError, match=r"^context is \[1\]; expected none"):
        bandit.ask(context=[1])
    with pytest.raises(InputError, match=r"^among is \[0\]; expected none: there is no list"):
        wf.Bandit(wf.Box([0.0], [1.0]), POLICY).ask(among=[0])


def test_a_study_keeps_contexts_and_available_arms_in_every_store(store, tmp_path):
    study = wf.Study("oven", ARMS, POLICY, context=["heat", "x1"], store=store, initial=9)
    first = study.ask(worker="a", context={"heat": 20, "x1": 1})
    assert study.ask(worker="a", context=[20, 1]).id == first.id
    other = study.ask(worker="a", context=[21, 1], among=[4, 5])  # another situation
    assert (first.id, other.id, other.arm in (4, 5)) == (0, 1, True)
    study.tell(first, 1.5)
    study.tell(7, 2.5, context=[25, 2])
    study.fail(other)
    study.forget(other)
    looked = study.ask(context=[22, 2])
    again = wf.Study("oven", store=store)
    assert again.context == wf.Context(["heat", "x1"])
    assert again.ask(context=[22, 2]) == looked
    table = again.history()
    assert table["heat"] == [20.0, 21.0, 20.0, 25.0, 21.0, 21.0, 22.0]
    assert table["x1 (context)"][0] == 1.0
    assert "x1" in table
    assert again.pending == []
    with pytest.raises(InputError, match=r"was created otherwise .*context"):
        wf.Study("oven", context=["heat"], store=store)
    for suffix in (".csv", ".jsonl"):
        again.export(tmp_path / f"oven{suffix}")
    with wf.Study("other", ARMS, POLICY, context=["heat", "x1"], store=tmp_path / "o.db") as other:
        assert other.add(tmp_path / "oven.csv") == 3
        assert [pull.context for pull in other._record.told] == [(20.0, 1.0), (25.0, 2.0)]
    with wf.Study.restore(tmp_path / "oven.jsonl", "copy", store=tmp_path / "o.db") as copy:
        assert copy.ask(context=[22, 2]) == looked


def test_an_entry_that_is_taken_back_waits_again_in_its_context():
    study = wf.Study("oven", ARMS, POLICY, context=["heat"], store=MemoryStore(), initial=9)
    choice = study.ask(1, context=[20])[0]
    study.tell(choice, 1.0)
    study.undo()
    assert study.pending == [choice]
    study.fail(choice)
    study.undo()
    assert (study.failed, study.rewards) == ([], [])


def test_contexts_from_a_shell(windfall, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make = ["study", "create", "oven", "--box", "x=0:1", "--policy", "mean"]
    done = windfall(*make, "--context", "load=0:10", "--context", "kind=a,b")
    assert done.exit_code == 0, done.stderr
    known = ["--context", "load=3", "--context", "kind=b"]
    asked = windfall("study", "ask", "oven", "-n", 1, *known, "--json")
    (choice,) = json.loads(asked.stdout)["choices"]
    assert choice["context"] == {"load": 3.0, "kind": "b"}
    assert windfall("study", "tell", "oven", 1, "--id", 0).exit_code == 0
    assert windfall("study", "tell", "oven", 2, "--at", "x=0.5", *known).exit_code == 0
    assert "context is missing" in windfall("study", "ask", "oven").stderr
    mixed = windfall(*make, "--context", "load", "--context", "kind=a,b")
    assert "expected bounds for all of them, or for none" in mixed.stderr
    for twice in ("load=4", "load =3"):
        done = windfall("study", "ask", "oven", *known, "--context", twice)
        assert "--context has 'load' more than once; expected every name once" in done.stderr
    with wf.Study("oven") as study:
        assert [pull.context for pull in study._record.told] == [(3.0, 1.0), (3.0, 1.0)]


def test_choices_that_look_like_numbers_from_a_shell(windfall, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    space = wf.Parameters({"size": wf.Categorical(["1", "2"]), "lid": wf.Categorical([None, 2])})
    known = wf.Parameters({"kind": wf.Categorical(["1", "2"]), "load": wf.Real(0, 10)})
    wf.Study("oven", space, POLICY, context=known).close()
    here = ["--context", "kind=2", "--context", "load=1"]
    asked = windfall("study", "ask", "oven", *here, "--json")
    assert json.loads(asked.stdout)["choices"][0]["context"] == {"kind": "2", "load": 1.0}
    told = windfall("study", "tell", "oven", 1, "--at", "size=1", "--at", "lid=None", *here)
    assert told.exit_code == 0, told.stderr
    with wf.Study("oven") as study:
        assert study.rewards == [({"size": "1", "lid": None}, 1.0)]
    other = windfall("study", "ask", "oven", "--context", "kind=3", "--context", "load=1")
    assert "context kind is 3; expected one of '1', '2'" in other.stderr
