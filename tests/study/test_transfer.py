"""A study that moves: to another store, to a file and back, is the same study."""

import json

import pytest
from bandit_study import ARMS
from store_kinds import emptied, opened
from study_in import simple

import windfall as wf
from windfall.errors import InputError
from windfall.study.stores import Conflict, MemoryStore
from windfall.study.stores.http import HTTPStore

BOX = wf.Parameters({"reward": wf.Real(0, 10), "kind": wf.Categorical(["a", "b"])})


def eventful(store) -> wf.Study:
    """A study to which all kinds of things happened."""
    study = simple(store, seed=3)
    study.ask(2, worker="a", request="r-1")
    study.tell(study.pending[0], 0.1 + 0.2, noise=1e-320, request="r-2")
    study.tell(7, 2.0, count=3, deviation=0.5)
    study.fail(9, why="burnt, badly")
    study.note("größer")
    study.ask(worker="b", lease=1e12)
    return study


def same(one: wf.Study, other: wf.Study) -> None:
    """Everything but the times at which a store took the events."""
    assert other.history() == one.history()
    assert other.ask() == one.ask()
    assert [(c, c.id) for c in other.pending] == [(c, c.id) for c in one.pending]
    assert (other.seed, other.initial, other.names) == (one.seed, one.initial, one.names)
    for mine, theirs in zip(one._journal.events, other._journal.events, strict=True):
        assert (mine.worker, mine.request) == (theirs.worker, theirs.request)


@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgres"])
def test_a_copy_in_another_store_goes_on_alike(store, tmp_path, kind, clock):
    study = eventful(store)
    clock.now += 1000  # when it happened is kept, not when it was copied
    (tmp_path / "elsewhere").mkdir()
    other = store if kind == "postgres" else opened(emptied(kind), tmp_path / "elsewhere")
    if isinstance(other, HTTPStore):
        with pytest.raises(InputError, match=r"^store is a server, which makes its choices"):
            study.copy(name="copy")
        assert wf.studies(store) == [study.name]
        return
    study.copy(None if other is store else other, "copy")
    copied = wf.Study("copy", store=other)
    same(study, copied)
    assert copied.ask(2, worker="a", request="r-1") == study.ask(2, worker="a", request="r-1")
    copied.tell(study.choice(0), 0.1 + 0.2, noise=1e-320, request="r-2")  # it knows of that
    assert copied.rewards == study.rewards
    study.tell(3, 1.0)
    assert len(copied.rewards) == len(study.rewards) - 1
    with pytest.raises(InputError, match="name is 'copy'; expected one that no other study has"):
        study.copy(other, "copy")
    if other is not store:
        other.close()


def test_a_copy_of_a_copy_and_a_file_by_its_name(store, tmp_path):
    study = eventful(store)
    study.copy(tmp_path / "new.db")
    with wf.Study("alloy", store=tmp_path / "new.db") as copied:
        copied.copy(tmp_path / "newer.db", "steel")
    with wf.Study("steel", store=tmp_path / "newer.db") as again:
        same(study, again)


def test_a_copy_that_breaks_off_leaves_nothing(monkeypatch):
    study, other = eventful(MemoryStore()), MemoryStore()
    append, calls = other.append, []

    def breaks(*arguments, **options):
        calls.append(wf.studies(other))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return append(*arguments, **options)

    monkeypatch.setattr(other, "append", breaks)
    with pytest.raises(KeyboardInterrupt):
        study.copy(other)
    assert "alloy (incomplete, " in calls[-1][0]
    assert wf.studies(other) == []

    def taken(key, name):
        raise Conflict

    monkeypatch.undo()
    monkeypatch.setattr(other, "rename", taken)
    with pytest.raises(InputError, match="expected one that no other study has"):
        study.copy(other)
    assert wf.studies(other) == []


def test_json_lines_are_a_study_again(store, tmp_path):
    study = eventful(store)
    study.export(tmp_path / "alloy.jsonl")
    with wf.Study.restore(tmp_path / "alloy.jsonl", "steel", store=tmp_path / "lab.jsonl.db") as s:
        s.export(tmp_path / "steel.jsonl")
        same(study, s)
        assert s.name == "steel"
    assert (tmp_path / "steel.jsonl").read_text() == (tmp_path / "alloy.jsonl").read_text()


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda lines: [], "alloy.jsonl:1: no study begins here; expected what export wrote"),
        (lambda lines: lines[1:], "alloy.jsonl:1: event number is 1; expected 0"),
        (lambda lines: [lines[0], lines[2]], "alloy.jsonl:2: event number is 2; expected 1"),
        (lambda lines: [lines[0], "{"], "alloy.jsonl:2: Expecting property name"),
        (lambda lines: [lines[0], "[]"], "alloy.jsonl:2: event 1 is []; expected a number"),
        (lambda lines: [lines[0].replace("T", "?", 1)], "alloy.jsonl:1: Invalid isoformat"),
    ],
)
def test_a_file_that_is_no_study(tmp_path, change, complaint):
    study = simple(MemoryStore())
    study.tell(3, 1.0)
    study.tell(4, 1.0)
    study.export(tmp_path / "alloy.jsonl")
    lines = (tmp_path / "alloy.jsonl").read_text().splitlines()
    if "isoformat" in complaint:  # the T of the first time, not that of a type
        lines[0] = json.dumps(json.loads(lines[0]) | {"time": "yesTerday"})
    (tmp_path / "alloy.jsonl").write_text("\n".join(change(lines)))
    other = MemoryStore()
    with pytest.raises(InputError) as error:
        wf.Study.restore(tmp_path / "alloy.jsonl", "steel", store=other)
    assert complaint in str(error.value)
    assert "\n" not in str(error.value)
    assert wf.studies(other) == []


def test_a_table_of_rewards_is_told(store, tmp_path):
    study = eventful(store)
    study.export(tmp_path / "alloy.csv")
    fresh = simple(store, "fresh")
    assert fresh.add(tmp_path / "alloy.csv") == 3
    assert fresh.rewards == study.rewards
    assert fresh.failed == study.failed
    table, again = study.history(), fresh.history()
    told = [n for n, kind in enumerate(table["kind"]) if kind == "told"]
    for name in ("reward", "noise", "count", "deviation"):
        assert again[name][:2] == [table[name][n] for n in told]


def test_a_table_says_which_arms_there_were():
    study = wf.Bandit(ARMS[:6], "mean", initial=9)
    for among in ([4, 1], [True] * 5 + [False], None):
        study.tell(study.ask(among=among), 1.0)
    assert study.history()["among"] == ["1 4", None, "all but 5", None, None, None]


@pytest.mark.parametrize("name", ["at", "propensity", "among"])
def test_a_table_is_read_whatever_the_parameters_are_called(tmp_path, name):
    kinds = wf.Parameters({name: wf.Categorical(["1", "2"]), "dose": wf.Real(0, 1)})
    study = wf.Study("first", kinds, "mean", store=MemoryStore())
    study.tell({name: "2", "dose": 0.5}, 1.0)
    study.export(tmp_path / "first.csv")
    again = wf.Study("again", kinds, "mean", store=MemoryStore())
    again.add(tmp_path / "first.csv")
    assert again.rewards == study.rewards


def test_a_table_of_ones_own(tmp_path):
    study = wf.Study("box", BOX, "mean", store=MemoryStore())
    file = tmp_path / "measured.csv"
    file.write_text("kind (parameter),reward (parameter),reward\na,3,1.5\nb,2.5,-1\n")
    assert study.add(file) == 2
    points = [{"reward": 3.0, "kind": "a"}, {"reward": 2.5, "kind": "b"}]
    assert study.rewards == [(points[0], 1.5), (points[1], -1.0)]
    arms = wf.Study("arms", ARMS, "mean", store=MemoryStore())
    file.write_text(f"x1,reward\n{float(ARMS[5, 0])!r},2\n")
    arms.add(file)
    assert arms.rewards == [(5, 2.0)]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("arm,payoff\n3,1\n", "alloy.csv:1: there is no column 'reward'; expected one"),
        ("x2,reward\n3,1\n", "alloy.csv:1: there is no column 'x1'; expected one"),
        ("arm,reward\n3,1\n60,1\n", "alloy.csv:3: "),
        ("arm,reward\n3,1\n4,much\n", "reward is 'much'; expected a finite number"),
        ("arm,reward\n3,1\n4,\n", "reward is None; expected a finite number"),
    ],
)
def test_a_table_with_a_mistake_is_not_told_at_all(tmp_path, content, complaint):
    study = simple(MemoryStore())
    (tmp_path / "alloy.csv").write_text(content)
    with pytest.raises(InputError) as error:
        study.add(tmp_path / "alloy.csv")
    assert complaint in str(error.value)
    assert study.history()["number"] == []


def test_files_that_cannot_be_read(tmp_path):
    study = simple(MemoryStore())
    (tmp_path / "photo.csv").write_bytes(b"\xff\xfe\x00\x80")
    for name, words in [
        ("no.csv", "cannot be read (No such file"),
        ("photo.csv", "cannot be read (it is no text"),
        ("a.xls", "ends in .csv"),
    ]:
        with pytest.raises(InputError) as error:
            study.add(tmp_path / name)
        assert words in str(error.value)
    with pytest.raises(InputError, match=r"ends in \.jsonl"):
        wf.Study.restore(tmp_path / "a.csv", "x", store=MemoryStore())


def test_what_a_study_is_about_is_compared(store):
    simple(store, about={"function": "lab:run", "minimize": False})
    assert wf.Study("alloy", store=store, about={"function": "lab:run", "minimize": False})
    with pytest.raises(InputError, match=r"about.minimize: True here, False saved"):
        wf.Study("alloy", store=store, about={"function": "lab:run", "minimize": True})
