"""Studies that last: the same choices as in memory, for one worker and for many."""

import copy
import csv
import json
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from bandit_study import ARMS, PAYOFF, play

import windfall as wf
from windfall.errors import InputError
from windfall.study.stores import MemoryStore, SQLiteStore

BOX = wf.Box([0, 20], [10, 90], names=["dose", "reward"])


class Clock:
    """A time that passes when a test says so."""

    now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture(params=["memory", "sqlite"])
def store(request, tmp_path, clock):
    """Each kind of store."""
    if request.param == "memory":
        yield MemoryStore(clock)
    else:
        opened = SQLiteStore(tmp_path / "lab.db", clock=clock)
        yield opened
        opened.close()


def simple(store, name="alloy", **options) -> wf.Study:
    """A study whose choices need no model: none of them comes after the initial ones."""
    return wf.Study(name, ARMS, "mean", store=store, initial=50, **options)


def test_one_worker_chooses_as_in_memory(store):
    bandit = wf.Bandit(ARMS, "v-ucb", seed=7)
    study = wf.Study("alloy", ARMS, "v-ucb", store=store, seed=7)
    assert play(study, 5, noise=0.1) == play(bandit, 5, noise=0.1)
    again = wf.Study("alloy", store=store)  # as on another machine, next week
    assert play(again, 3, noise=0.1) == play(bandit, 3, noise=0.1)
    batches = [s.ask(3) for s in (again, bandit)]
    assert batches[0] == batches[1]
    assert [c.id for c in batches[0]] == [c.id for c in batches[1]]
    for s, batch in zip((again, bandit), batches, strict=True):
        s.fail(batch[1])
        s.tell(batch[2], -1.0)
    assert again.ask() == bandit.ask() == study.ask() == study.ask()
    for mine, theirs in zip(again.posterior(), bandit.posterior(), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert study.best == bandit.best
    assert study.explain().keys() == bandit.explain().keys()
    # What happened, too, is the same, so that what is opened decides on the same.
    kept = [{"number": e.number, "kind": e.kind, **e.contents} for e in study._journal.events]
    assert kept[1:] == json.loads(json.dumps(bandit.state_dict()["events"][1:]))


def test_a_study_is_opened_with_what_it_was_created_with(store):
    simple(store, seed=3)
    for given in ({}, {"space": ARMS}, {"seed": 3}, {"policy": "mean"}, {"initial": 50}):
        assert wf.Study("alloy", store=store, **given).seed == 3
    for given, difference in [
        ({"space": ARMS[:-1]}, "space.features: 59 entries here, 60 saved"),
        ({"space": BOX}, "space: Box here, Arms saved"),
        ({"policy": "ei"}, "policy.acquisition: EI here, Mean saved"),
        ({"seed": 4}, "seed: 4 here, 3 saved"),
        ({"initial": 5}, "initial: 5 here, 50 saved"),
    ]:
        with pytest.raises(InputError) as error:
            wf.Study("alloy", store=store, **given)
        assert str(error.value) == (
            f"study 'alloy' was created otherwise ({difference}); give the same, or another name"
        )
    assert wf.studies(store) == ["alloy"]


def test_a_study_that_is_not_there(store):
    expected = r"study is 'aloy'; expected a study of the store, which has none, or a space"
    with pytest.raises(InputError, match=expected):
        wf.Study("aloy", store=store)
    simple(store)
    with pytest.raises(InputError, match=r"'aloy' \(did you mean 'alloy'\?\); expected one of al"):
        wf.Study("aloy", store=store)


def test_what_cannot_be_kept_is_refused_and_leaves_nothing(store):
    with pytest.raises(InputError, match="expected a function that can be imported"):
        wf.Study("alloy", wf.Box([0], [1], constraints=[lambda p: p["x1"]]), store=store)
    with pytest.raises(InputError, match="policy is 'men'"):
        wf.Study("alloy", ARMS, "men", store=store)
    with pytest.raises(InputError, match="name is ''; expected text"):
        wf.Study("", ARMS, store=store)
    assert wf.studies(store) == []


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


def test_what_cannot_happen_is_not_written(store):
    study = simple(store)
    for call in (
        lambda: study.forget(3),
        lambda: study.tell(3, np.nan),
        lambda: study.tell(99, 1.0),
        lambda: study.fail(-1),
        lambda: study.ask(0),
        lambda: study.ask(worker=""),
        lambda: study.ask(worker=3),
        lambda: study.ask(lease=0),
        lambda: study.ask(lease=np.inf),
        lambda: study.note("  "),
        lambda: study.tell(3, 1.0, request=7),
        lambda: study.best,
        lambda: study.posterior(),
    ):
        with pytest.raises(InputError):
            call()
    assert study.history()["number"] == []


def test_a_remark_changes_no_choice(store):
    study = simple(store)
    choice = study.ask()
    study.note("changed the nozzle")
    assert study.ask() is choice
    assert study.history()["text"][-1] == "changed the nozzle"


def test_the_history_is_a_table(store, tmp_path):
    study = wf.Study("box", BOX, "mean", store=store, initial=9)
    choice = study.ask(worker="a")
    study.tell(choice, 2.5, noise=0.5)
    study.fail({"dose": 1, "reward": 30})
    study.note("hot, dry")
    table = pd.DataFrame(study.history())
    assert list(table.columns) == [
        "number", "time", "kind", "worker", "id", "dose", "reward (parameter)",
        "reward", "noise", "count", "deviation", "text",
    ]  # fmt: skip
    assert table["number"].tolist() == [1, 2, 3, 4]
    assert table["reward"].tolist()[1] == 2.5
    assert table["dose"][:3].tolist() == [choice.features[0], choice.features[0], 1.0]
    assert table["time"].tolist()[0] == "1970-01-01T00:16:40.000000+00:00"
    study.export(tmp_path / "box.csv")
    with open(tmp_path / "box.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["reward"] for row in rows] == ["", "2.5", "", ""]
    assert rows[3]["text"] == "hot, dry"
    study.export(tmp_path / "box.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "box.jsonl").read_text().splitlines()]
    assert [line["kind"] for line in lines] == ["created", "asked", "told", "failed", "noted"]
    assert lines[0]["seed"] == 0
    assert lines[1]["worker"] == "a"
    for name in ("box.xls", "nowhere/box.csv"):
        with pytest.raises(InputError, match="path"):
            study.export(tmp_path / name)


def test_renamed_and_deleted(store):
    study = simple(store)
    simple(store, "glass")
    with pytest.raises(InputError, match="name is 'glass'; expected one that no other study has"):
        study.rename("glass")
    study.rename("steel")
    study.tell(3, 1.0)
    assert study.name == "steel"
    assert wf.studies(store) == ["steel", "glass"]
    with pytest.raises(InputError, match="name is 'alloy'; expected 'steel', to be sure"):
        study.delete("alloy")
    study.delete("steel")
    assert wf.studies(store) == ["glass"]
    simple(store, "steel")
    with pytest.raises(InputError):  # the new one is not the old one
        study.tell(3, 1.0)
    assert wf.Study("steel", store=store).rewards == []


def test_a_study_travels_by_its_name(tmp_path):
    with simple(tmp_path / "lab.db") as study:
        study.tell(3, 1.0)
        with pickle.loads(pickle.dumps(study)) as other, copy.copy(study) as third:
            other.tell(4, 2.0)
            assert third.rewards == study.rewards == [(3, 1.0), (4, 2.0)]


def test_opening_makes_no_file(tmp_path):
    for call in (lambda p: wf.Study("alloy", store=p), wf.studies):
        with pytest.raises(InputError, match="does not exist"):
            call(tmp_path / "typo.db")
    assert not list(tmp_path.iterdir())


WORKER = """
import sys
import windfall as wf
import windfall.study, windfall.testing
path = sys.argv[1]
assert wf.studies(path) == ["alloy"]
with wf.Study("alloy", store=path) as study:
    choice = study.ask(worker="small machine")
    study.tell(choice, 1.5)
    study.fail(7)
    study.note("no JAX here")
    study.export(sys.argv[2])
    assert study.best.arm == choice.arm
assert "jax" not in sys.modules and "equinox" not in sys.modules
"""


def test_a_worker_needs_no_jax(tmp_path):
    path = tmp_path / "lab.db"
    simple(path).close()
    command = [sys.executable, "-c", WORKER, str(path), str(tmp_path / "alloy.csv")]
    subprocess.run(command, check=True, timeout=120)
    with wf.Study("alloy", store=path) as study:
        assert [reward for _, reward in study.rewards] == [1.5]


def test_a_long_study_opens_quickly_and_exactly(tmp_path):
    """Ten thousand events; two seconds on an idle machine are promised, more on a busy one."""
    import time

    with simple(tmp_path / "lab.db") as study:
        told = [("told", study._paid(i % 60, float(PAYOFF[i % 60]), None, None, None))
                for i in range(10_000)]  # fmt: skip
        study._store.append(study._journal.key, told)
        started = time.process_time()
        with wf.Study("alloy", store=tmp_path / "lab.db") as again:
            seconds = time.process_time() - started
            assert again.rewards == study.rewards
            assert len(again.rewards) == 10_000
    assert seconds < 10  # under the type checks of tests it takes several times as long
