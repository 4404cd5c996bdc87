"""Payoffs that may change with time: noticed where they do, and nothing lost where they do not."""

import json

import numpy as np
import pytest
from bandit_study import ARMS
from refusals import refused

import windfall as wf
from windfall.errors import InputError
from windfall.policy import as_policy
from windfall.study.stores import MemoryStore

MODEL = wf.GP(fit=wf.Fit(restarts=0, iterations=10))
POLICY = wf.Policy(wf.VUCB(1.0), MODEL)


def play(bandit, rounds, payoff):
    chosen = []
    for i in range(rounds):
        choice = bandit.ask()
        bandit.tell(choice, payoff(choice.features[0], i))
        chosen.append((choice.arm, choice.why))
    return chosen


def hill(x, i):
    return -((x - 2.0) ** 2)


def moved_hill(x, i):
    """From the twelfth round on another one, and a higher one."""
    return hill(x, i) if i < 12 else 20.0 - (x + 2.0) ** 2


@pytest.fixture(scope="module")
def drifted():
    bandit = wf.Bandit(ARMS, POLICY, seed=1, drift="auto")
    play(bandit, 22, moved_hill)
    return bandit


def test_where_nothing_drifts_the_choices_are_those_without_drift():
    expected = play(wf.Bandit(ARMS, POLICY, seed=1), 10, hill)
    assert play(wf.Bandit(ARMS, POLICY, seed=1, drift="auto"), 10, hill) == expected


def test_a_mean_function_sees_the_features_and_not_the_time():
    model = wf.GP(mean=lambda features: -((features[:, 0] - 1.0) ** 2), fit=MODEL.fit)
    policy = wf.Policy(wf.VUCB(1.0), model)
    expected = play(wf.Bandit(ARMS, policy, seed=1), 5, hill)
    assert play(wf.Bandit(ARMS, policy, seed=1, drift="auto"), 5, hill) == expected


def test_a_change_is_noticed_and_said(drifted):
    assert "rewards age" in drifted.ask().why or "rewards count since" in drifted.ask().why
    since = drifted.explain()["since"]
    assert since.shape == (60,)
    assert 6.0 < since[0] < 22.0
    still = wf.Bandit(ARMS, POLICY, seed=1, drift="auto")
    play(still, 6, hill)
    assert still.explain()["since"][0] == -np.inf


def test_a_drift_survives_saving_to_the_last_bit(drifted):
    drifted.ask()
    again = wf.Bandit.from_state_dict(json.loads(json.dumps(drifted.state_dict())))
    assert again.timed
    np.testing.assert_array_equal(again.posterior(), drifted.posterior())
    assert again.ask() == drifted.ask()


BAD = {
    "backwards": (lambda s: s.tell(3, 1.0, at=4.0), "at is 4.0; expected 5 or more: times do not"),
    "nan": (lambda s: s.tell(3, 1.0, at=np.nan), "at is nan; expected a finite number"),
    "text": (lambda s: s.tell(3, 1.0, at="now"), "at is 'now'; expected"),
}


@pytest.mark.parametrize("case", BAD)
def test_times_that_run_backwards_are_refused_and_nothing_is_lost(case):
    store = MemoryStore()
    study = wf.Study("oven", ARMS, POLICY, store=store, drift="auto")
    study.tell(2, 1.0, at=5)
    call, message = BAD[case]
    with refused(message):
        call(study)
    again = wf.Study("oven", store=store)
    assert again.timed
    assert again.rewards == [(2, 1.0)]
    again.tell(3, 2.0)
    assert [pull.at for pull in again._record.told] == [5.0, 6.0]


def test_times_may_begin_anywhere_and_are_told_in_full():
    bandit = wf.Bandit(ARMS, POLICY, drift="auto")
    bandit.tell(0, 1.0, at=-5.0)
    bandit.tell(1, 1.0)
    bandit.tell(2, 1.0, at=1700123000.25)
    with refused("at is 3.0; expected 1700123000.25 or more"):
        bandit.tell(3, 1.0, at=3.0)
    assert [pull.at for pull in bandit._record.told] == [-5.0, -4.0, 1700123000.25]
    assert bandit.history()["at"] == [-5.0, -4.0, 1700123000.25]


def test_a_table_keeps_the_times_of_its_rewards(tmp_path):
    store = MemoryStore()
    study = wf.Study("oven", ARMS, POLICY, store=store, drift="auto")
    for arm, at in enumerate((5.0, 5.5, 8.0)):
        study.tell(arm, 1.0, at=at)
    study.export(tmp_path / "oven.csv")
    again = wf.Study("again", ARMS, POLICY, store=store, drift="auto")
    assert again.add(tmp_path / "oven.csv") == 3
    assert again.history()["at"] == [5.0, 5.5, 8.0]
    (tmp_path / "own.csv").write_text("arm,reward\n3,1\n4,1\n")
    again.add(tmp_path / "own.csv")
    assert again.history()["at"][3:] == [9.0, 10.0]
    (tmp_path / "own.csv").write_text("arm,reward,at\n3,1,12\n4,1,11\n")
    with refused("at is 11.0; expected 12 or more"):
        again.add(tmp_path / "own.csv")
    assert len(again.rewards) == 5


def test_what_drift_needs():
    with pytest.raises(InputError, match=r"^drift is 'yes'.*expected .*auto"):
        wf.Bandit(ARMS, POLICY, drift="yes")
    with pytest.raises(InputError, match=r"^at is 3; expected none: the study knows of no drift"):
        wf.Bandit(ARMS, POLICY).tell(3, 1.0, at=3)
    with pytest.raises(InputError, match=r"^model is .*; expected a GP"):
        wf.Bandit(ARMS, wf.Policy(wf.VUCB(), wf.BayesianLinear()), drift="auto").policy  # noqa: B018
    with pytest.raises(InputError, match=r"^model is .*; expected for drift a kernel with a len"):
        wf.Drifting(wf.GP(ard=False))
    with pytest.raises(InputError, match=r"^model is .*; expected for drift a kernel with a len"):
        wf.Bandit(kernel_matrix=np.eye(4), drift="auto").policy  # noqa: B018


def test_drift_belongs_to_any_policy():
    expecting = as_policy("ei", drift="auto")
    assert isinstance(expecting.model, wf.Drifting)
    assert repr(as_policy(expecting, drift="auto")) == repr(expecting)
    with pytest.raises(InputError, match="drift is 'slow'"):
        as_policy(drift="slow")
