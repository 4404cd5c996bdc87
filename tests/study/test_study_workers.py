"""Many workers on one study: leases, requests that are repeated, decisions made anew."""

import random
from contextlib import nullcontext

import pytest
from study_in import simple

import windfall as wf
from windfall.errors import InputError
from windfall.study.journal import Journal
from windfall.study.stores import Locked, MemoryStore


def test_a_worker_who_asks_again_is_given_back_what_he_has(store):
    one, other = simple(store), wf.Study("alloy", store=store)
    first, second = one.ask(worker="a"), other.ask(worker="b")
    assert first.arm != second.arm
    assert (first.id, second.id) == (0, 1)
    assert other.ask(worker="a") == one.ask(worker="a") == first
    batch = other.ask(3, worker="a")
    assert batch[0] == first
    assert [choice.id for choice in batch] == [0, 2, 3]
    assert one.ask(2, worker="a") == batch[:2]
    one.tell(first, 1.0)
    assert other.ask(worker="a") == batch[1]
    assert {choice.arm for choice in one.pending} == {second.arm, *(c.arm for c in batch[1:])}


def test_a_lease_that_runs_out_frees_the_choice(store, clock):
    study = simple(store)
    late = study.ask(worker="a", lease=60)
    clock.now += 59.9
    assert study.ask(worker="a") == late
    kept = study.ask(worker="b")
    clock.now += 0.1
    freed = study.ask(worker="c")
    assert freed.arm == late.arm  # the next initial arm is the one that nobody has
    assert freed.id != late.id
    assert study.history()["kind"] == ["asked", "asked", "expired", "asked"]
    # A late reward counts once, and leaves alone who has the arm now.
    study.tell(late, 2.0)
    assert study.rewards == [(late.arm, 2.0)]
    assert study.pending == [kept, freed]
    study.tell(freed, 4.0)
    assert study.rewards == [(late.arm, 2.0), (late.arm, 4.0)]
    assert study.pending == [kept]
    with pytest.raises(InputError, match="expected one of the pending ones"):
        study.forget(late)


def test_a_lease_without_a_worker(store, clock):
    study = simple(store)
    choice = study.ask(lease=5)
    assert study.pending == [choice]
    assert study.ask(lease=5).arm != choice.arm
    clock.now += 5
    assert study.ask().arm == choice.arm
    assert study.pending == []


def test_a_repeated_request_changes_nothing(store):
    study = simple(store)
    batch = study.ask(2, request="ask-1")
    study.tell(batch[0], 1.0, request="tell-1")
    other = wf.Study("alloy", store=store)
    for s in (study, other):
        again = s.ask(2, request="ask-1")
        assert again == batch
        assert [choice.id for choice in again] == [0, 1]
        s.tell(batch[0], 1.0, request="tell-1")
        s.note("hot", request="note-1")
        for call in (
            lambda s=s: s.tell(batch[0], 2.0, request="tell-1"),
            lambda s=s: s.fail(batch[0], request="tell-1"),
            lambda s=s: s.ask(request="tell-1"),
        ):
            with pytest.raises(InputError, match="request is 'tell-1'; expected one that no other"):
                call()
    assert study.history()["kind"] == ["asked", "asked", "told", "noted"]
    more = study.ask(2, worker="a", request="ask-2")
    study.tell(more[0], 0.5)
    both = study.ask(2, worker="a", request="ask-3")  # one of them he had
    study.tell(both[0], 0.5)
    assert study.ask(2, worker="a", request="ask-3") == both


def test_a_choice_by_its_lasting_id(store):
    study = simple(store)
    choice = study.ask(2)[1]
    other = wf.Study("alloy", store=store)
    other.tell(other.choice(1), 3.0)
    assert study.rewards == [(choice.arm, 3.0)]
    assert study.choice(1) == choice
    with pytest.raises(InputError, match="id is 9; expected that of a choice of this study"):
        study.choice(9)


# On a server nothing can happen meanwhile.
@pytest.mark.parametrize("store", ["memory", "sqlite"], indirect=True)
def test_decisions_are_made_anew_when_something_happens_meanwhile(store, monkeypatch):
    """Three times: the third decision has the study to itself."""
    study, other = simple(store), wf.Study("alloy", store=store)
    made, taken = type(study)._made, []

    def disturbed(self, n, *, held):
        drafts = made(self, n, held=held)
        taken.append(drafts[0][0]["point"])
        if len(taken) <= 2:
            other.tell(taken[-1], 1.0)
        else:
            assert not store.lock(study._journal.key, "somebody else", 1.0)
        return drafts

    monkeypatch.setattr(type(study), "_made", disturbed)
    choice = study.ask(worker="a")
    assert len(set(taken)) == 3
    assert choice.arm == taken[-1]
    assert store.lock(study._journal.key, "somebody else", 1.0)  # it was given back


def test_a_reward_that_another_comes_before(store, monkeypatch):
    study, other = simple(store), wf.Study("alloy", store=store)
    append = study._journal.append

    def late(*arguments, **options):
        monkeypatch.undo()
        other.tell(5, 2.0)
        return append(*arguments, **options)

    monkeypatch.setattr(study._journal, "append", late)
    study.tell(3, 1.0)
    assert study.rewards == other.rewards == [(5, 2.0), (3, 1.0)]


def test_telling_waits_for_who_has_the_study_to_himself(store, monkeypatch):
    study = simple(store)
    assert store.lock(study._journal.key, "somebody", 1.0)
    waits = []

    def sleep(seconds):
        waits.append(seconds)
        if len(waits) == 3:
            store.unlock(study._journal.key, "somebody")

    monkeypatch.setattr("windfall.study.journal.time.sleep", sleep)
    study.tell(3, 1.0)
    assert len(waits) == 3
    assert study.rewards == [(3, 1.0)]


def test_waiting_for_a_crowd_leaves_a_user_s_random_numbers_alone():
    journal = Journal(MemoryStore(), 0)
    state, refusals = random.getstate(), iter([Locked, Locked])

    def attempt(_):
        for refusal in refusals:
            raise refusal
        return "done"

    assert journal.insist(attempt) == "done"
    assert random.getstate() == state


class Lined(MemoryStore):
    """A store that says whether there is a line, and whose first user finds the study taken."""

    def __init__(self, crowds):
        super().__init__()
        self.crowds, self.stood = crowds, 0

    def line(self, key, seconds):
        self.stood += 1
        self.unlock(key, "another")
        return nullcontext(self.crowds.pop(0))


def test_who_found_a_crowd_lines_up_at_once_until_there_is_none(monkeypatch):
    """A decision that others come before is work in vain."""
    store, made = Lined([True, True, False]), []
    monkeypatch.setattr("windfall.study.journal.time.sleep", lambda _: pytest.fail("no line"))
    study = simple(store)
    store.lock(study._journal.key, "another", 60.0)
    decide = type(study)._made
    monkeypatch.setattr(type(study), "_made", lambda *a, **k: (made.append(1), decide(*a, **k))[1])
    for stood, decided in ((1, 2), (2, 3), (3, 4), (3, 5)):
        study.tell(study.ask(worker="a"), 1.0)  # a reward may come at any time: it tries first
        assert (store.stood, len(made)) == (stood, decided)
