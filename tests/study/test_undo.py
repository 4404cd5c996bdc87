"""The last entry can be taken back, and what follows is as if it had never been."""

import numpy as np
import pytest

import windfall as wf
from windfall.errors import InputError

ARMS = np.linspace(0.0, 1.0, 21)[:, None]


@pytest.fixture
def study(store):
    return wf.Study("alloy", ARMS, "v-ucb", store=store, seed=0)


def opened(study) -> wf.Study:
    return wf.Study(study.name, store=study._store)


def test_a_reward_is_taken_back_and_its_choice_waits_again(study):
    choice = study.ask(worker="oven-3", lease=3600)
    study.tell(choice, 7.0)
    study.undo()
    assert study.rewards == []
    assert study.pending == [choice]
    assert study.ask(worker="oven-3").id == choice.id  # it is still this worker's
    study.tell(choice, 0.7)
    assert study.rewards == [(choice.arm, 0.7)]
    assert study.pending == []
    assert study.history()["text"][2] == "takes back entry 2"


def test_a_choice_with_another_reward_does_not_wait_again(study):
    (choice,) = study.ask(1)
    study.tell(choice, 0.5)
    study.tell(choice, 5.0)
    study.undo()
    assert study.rewards == [(choice.arm, 0.5)]
    assert study.pending == []


def test_what_only_was_looked_at_does_not_wait_afterwards(study):
    study.tell(study.ask(), 0.5)
    study.undo()
    assert study.pending == []


def test_a_failure_is_taken_back(study):
    study.fail(4)
    study.undo()
    assert study.failed == []


def test_entries_are_taken_back_one_after_another(study):
    study.tell(3, 0.1)
    study.fail(4)
    study.tell(5, 0.2)
    study.note("what a day")
    for expected in ([(3, 0.1)], [(3, 0.1)], []):
        study.undo()
        assert study.rewards == expected
    with pytest.raises(InputError, match=r"^there is no entry to undo"):
        study.undo()


def test_only_the_last_entry_can_be_taken_back_and_a_repeated_call_does_it_once(study):
    study.tell(3, 0.1)
    study.tell(4, 0.2)
    with pytest.raises(InputError, match=r"^event is 1; expected 2, the last entry$"):
        study.undo(1)
    study.undo(2, request="once")
    study.undo(2, request="once")
    assert study.rewards == [(3, 0.1)]


def test_the_model_forgets_what_was_taken_back(study):
    """Also one that has learned from it, and then from another reward in its place."""
    for arm, reward in ((0, 0.0), (10, 0.3), (20, 0.1), (5, 0.2)):
        study.tell(arm, reward)
    study.ask()
    study.tell(12, 0.3)
    study.tell(15, 9.0)
    wrong = study.posterior()[0]
    study.undo()
    study.tell(15, 0.4)
    mean, deviation = study.posterior()
    afresh = opened(study).posterior()
    assert np.abs(mean - wrong).max() > 1.0
    np.testing.assert_array_equal([mean, deviation], afresh)
    assert study.ask() == opened(study).ask()


@pytest.mark.parametrize("store", ["http"], indirect=True)
def test_a_client_does_not_say_which_choice_waits_again(store):
    study = wf.Study("alloy", ARMS, "v-ucb", store=store, seed=0)
    study.tell(3, 1.0)
    forged = {"event": 1, "id": 0, "point": 7, "why": "I say so"}
    with pytest.raises(InputError, match=r"undone is .*; expected {'event': 1}"):
        store.append(study._journal.key, [("undone", forged)], after=1)
    study.undo(1)
    assert study.rewards == study.pending == []
