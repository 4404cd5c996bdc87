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
from study_in import simple

import windfall as wf
from windfall.errors import InputError

BOX = wf.Box([0, 20], [10, 90], names=["dose", "reward"])


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
    assert (study.ask(), study.ask().id) == (choice, choice.id)
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
        "reward", "noise", "count", "deviation", "at", "propensity", "among", "text",
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
