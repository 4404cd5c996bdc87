"""What one opener of a study does between two calls of another, or in the midst of one."""

import numpy as np
import pytest
from refusals import refused

import windfall as wf
from windfall.errors import InputError
from windfall.study.stores import MemoryStore
from windfall.study.stores.base import DecidingStore

ARMS = np.linspace(0.0, 1.0, 6)[:, None]


def opened(store, **options):
    """A study, opened twice; every arm told once but the last two."""
    one = wf.Study("shared", ARMS, "v-ucb", store=store, initial=2, **options)
    for arm in range(4):
        one.tell(arm, -((ARMS[arm, 0] - 0.6) ** 2))
    return one, wf.Study("shared", store=store)


def meanwhile(study, act):
    """Let something happen once, after this study has looked and before it writes."""
    append = study._journal.append

    def late(*drafts, **options):
        study._journal.append = append
        act()
        return append(*drafts, **options)

    study._journal.append = late


def times(study):
    return [pull.at for pull in study._now().told]


def test_a_reward_takes_its_time_from_all_that_others_told(store):
    one, other = opened(store, drift="auto")
    one.tell(0, 1.0, at=100.0)
    other.tell(1, 1.0)
    meanwhile(one, lambda: other.tell(2, 1.0, at=200.0))
    one.tell(3, 1.0)
    assert times(one)[4:] == [100.0, 101.0, 200.0, 201.0]
    assert times(wf.Study("shared", store=store)) == times(one)


def test_times_that_run_backwards_because_of_others_are_refused_and_not_written(store):
    one, other = opened(store, drift="auto")
    meanwhile(other, lambda: one.tell(1, 1.0, at=200.0))
    with refused(r"at is 150.0; expected 200 or more"):
        other.tell(2, 1.0, at=150.0)
    again = wf.Study("shared", store=store)
    again.tell(2, 1.0, at=250.0)
    assert times(one)[4:] == [200.0, 250.0]


def test_what_was_written_out_of_order_opens_all_the_same(store):
    one, _ = opened(store, drift="auto")
    told = {"point": 0, "id": None, "reward": 1.0, "noise": None, "count": None, "deviation": None}
    drafts = [("told", told | {"at": at}) for at in (50.0, 40.0, 60.0)]
    if isinstance(store, DecidingStore):  # it takes no such thing
        with refused("at is 40.0; expected 50 or more"):
            store.append(one._journal.key, drafts)
    else:
        store.append(one._journal.key, drafts)
        assert times(wf.Study("shared", store=store))[4:] == [50.0, 50.0, 60.0]


def test_a_repeated_request_finds_its_reward_whatever_the_time_is_by_now(store):
    one, other = opened(store, drift="auto")
    for study in (one, other, one):
        study.tell(0, 1.0, request="r1")
    other.tell(1, 1.0, at=50.0)
    one.tell(0, 1.0, request="r1")
    assert times(one)[4:] == [4.0, 50.0]
    with refused("request is 'r1'"):
        one.tell(0, 1.0, at=60.0, request="r1")


def test_an_arm_that_somebody_retired_is_not_chosen(store):
    one, other = opened(store)
    other.ask()
    best = one.ask().arm
    one.retire(best)
    assert other.ask().arm != best
    assert {choice.arm for choice in other.ask(5)} == {*range(6)} - {best}
    one.retire(0)
    with refused("among has arm 0, which is retired"):
        other.ask(among=[0, 1])


def test_a_mask_counts_arms_that_somebody_has_added(store):
    one, other = opened(store)
    assert one.add_arms([[0.61]]) == [6]
    assert other.ask(among=[6]).arm == 6
    one.add_arms([[0.62]])
    assert other.arms.shape == (8, 1)
    one.add_arms([[0.63]])
    assert other.ask(among=[False] * 8 + [True]).arm == 8


def test_a_plain_ask_after_the_changes_of_others_is_among_all_that_are_there(store):
    one, other = opened(store)
    one.retire(5)
    other.ask()
    one.retire(4)
    one.retire(3)
    (added,) = one.add_arms([[0.65]])
    asked = {choice.arm for choice in other.ask(4)}
    assert asked == {0, 1, 2, added}


def test_the_last_arm_stays_whoever_retires_at_once(store):
    one, other = opened(store)
    for arm in range(4):
        one.retire(arm)
    meanwhile(other, lambda: one.retire(4))
    with pytest.raises(InputError, match="the last one; expected to keep at least one"):
        other.retire(5)
    meanwhile(other, lambda: one.add_arms([[0.3]]))
    with pytest.raises(InputError, match="retired already"):
        other.retire(4)
    assert one.ask(among=[5]).arm == 5


def test_a_blank_name_that_is_on_record_opens_all_the_same():
    """It is refused where it is new."""
    store = MemoryStore()
    one, _ = opened(store)
    with refused("names is ''"):
        one.add_arms([[0.3]], names="")
    store.append(one._journal.key, [("added", {"features": [[0.3]], "names": [""]})])
    assert wf.Study("shared", store=store).arms.shape == (7, 1)
