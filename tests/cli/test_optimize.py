"""``windfall optimize``: what it prints, writes and refuses."""

import json
import sys
from pathlib import Path

import pytest

import windfall as wf
from windfall.errors import NumericalError

LAB = """
import time

calls = []

def run(x, kind="plain"):
    calls.append(x)
    print("measuring")
    if kind == "broken" or 0.2 < x < 0.3:
        raise RuntimeError("no signal")
    return 5 - (x - 0.7) ** 2

def fails(x):
    raise RuntimeError("unplugged")

def anything(**settings):
    return sum(settings.values())

number = 3
"""


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """The name of a module in the current folder, different in every test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    name = f"lab_{abs(hash(str(tmp_path)))}"
    (tmp_path / f"{name}.py").write_text(LAB)
    yield name
    sys.modules.pop(name, None)


#: Space-filling pulls alone: quick, since nothing is compiled.
FILL = ("--initial", "12", "--pulls", "12")


def test_a_table_of_the_best_so_far(windfall, lab, tmp_path):
    done = windfall("optimize", f"{lab}:run", "--box", "x=0:1", *FILL, "--plot", "figure.png")
    assert done.exit_code == 0, done.stderr
    calls = sys.modules[lab].calls
    assert len(calls) == 12
    failed = sum(0.2 < x < 0.3 for x in calls)
    assert failed > 0
    assert f"{lab}:run: 12 pulls, seed 0, {failed} failed" in done.stdout
    assert f"failed {failed}×: " in done.stdout
    best = max(5 - (x - 0.7) ** 2 for x in calls if not 0.2 < x < 0.3)
    *_, last = [line for line in done.stdout.splitlines() if line.startswith("│")]
    assert f"{best:.6g}" in last
    assert "wrote figure.png" in done.stdout
    assert (tmp_path / "figure.png").stat().st_size > 10_000


def test_json_is_clean_whatever_the_function_prints(windfall, lab):
    done = windfall("optimize", f"{lab}:run", "--box", "x=0:1", *FILL, "--json", "--minimize")
    facts = json.loads(done.stdout)
    assert "measuring" in done.stderr
    calls = sys.modules[lab].calls
    values = {x: 5 - (x - 0.7) ** 2 for x in calls if not 0.2 < x < 0.3}
    worst = min(values, key=values.get)
    assert facts["best"] == {
        "pull": calls.index(worst) + 1,
        "value": values[worst],
        "parameters": {"x": worst},
    }
    assert facts["improvements"][-1] == facts["best"]
    assert facts["pulls"] == 12
    assert facts["failed"] == sum(facts["failures"].values()) == 12 - len(values)
    assert facts["minimize"] is True


def test_parameters_of_every_kind_reach_the_function(windfall, lab, tmp_path):
    (tmp_path / f"{lab}.py").write_text(
        "seen = []\ndef run(**p):\n    seen.append(p)\n    return p['rate'] * p['layers']\n"
    )
    space = ["--box", "rate=1e-4:1e-1:log", "--integer", "layers=1:8", "--choice", "kind=a,b"]
    space += ["--choice", "size=32,64"]
    done = windfall("optimize", f"{lab}:run", *space, "--pulls", "16", "--initial", "16")
    assert done.exit_code == 0, done.stderr
    seen = sys.modules[lab].seen
    assert {type(p["layers"]) for p in seen} == {int}
    assert {p["kind"] for p in seen} == {"a", "b"}
    assert {p["size"] for p in seen} == {32, 64}
    assert all(1e-4 <= p["rate"] <= 1e-1 for p in seen)
    assert sum(p["rate"] < 10**-2.5 for p in seen) == 8  # half of them: equal ratios count alike


def test_the_policy_takes_over_and_finds_the_top(windfall, lab):
    arguments = ["--box", "x=0:1", "--pulls", "12", "--initial", "4", "--policy", "ei", "--json"]
    done = windfall("optimize", f"{lab}:run", *arguments)
    assert done.exit_code == 0, done.stderr
    # Of 12 space-filling points one lies within 0.04 of the top, as good as 5 − 0.0016.
    assert json.loads(done.stdout)["best"]["value"] > 5 - 1e-4


@pytest.mark.parametrize(
    ("wish", "acquisition", "budget"),
    [
        ([], "Prospect(", ""),
        (["--goal", "best"], "Prospect(", ""),
        (["--goal", "reward"], "Windfall(", ", budget=12)"),  # as many as --pulls
        (["--policy", "windfall"], "Windfall(", ""),
    ],
)
def test_the_goal_decides_unless_a_policy_is_named(windfall, lab, wish, acquisition, budget):
    done = windfall("optimize", f"{lab}:run", "--box", "x=0.5:1", *FILL, "--json", *wish)
    assert done.exit_code == 0, done.stderr
    policy = json.loads(done.stdout)["policy"]
    assert policy.startswith(f"Policy({acquisition}")
    assert policy.endswith(budget)
    assert ("budget" in policy) == bool(budget)


def test_workers_side_by_side(windfall, lab):
    arguments = ["--box", "x=0.5:1", *FILL, "--workers", "5", "--json"]
    done = windfall("optimize", f"{lab}:run", *arguments)
    assert json.loads(done.stdout)["pulls"] == 12
    assert len(set(sys.modules[lab].calls)) == 12


def test_a_study_that_is_kept_is_gone_on_from(windfall, lab):
    base = ["optimize", f"{lab}:run", "--box", "x=0:1", "--initial", "20", "--store", "lab.db"]
    assert windfall(*base, "--pulls", "3").exit_code == 0
    done = windfall(*base, "--pulls", "7", "--json", "--workers", "2")
    assert "windfall: 3 of 7 pulls were made before" in done.stderr
    assert json.loads(done.stdout)["pulls"] == 7
    assert len(sys.modules[lab].calls) == 7
    done = windfall(*base, "--pulls", "5", "--json")
    assert json.loads(done.stdout)["pulls"] == 7
    assert len(sys.modules[lab].calls) == 7
    assert wf.studies("lab.db") == [f"{lab}:run"]
    assert windfall(*base, "--pulls", "2", "--study", "other").exit_code == 0
    assert wf.studies("lab.db") == [f"{lab}:run", "other"]


def test_a_log_of_an_earlier_version_is_taken_over(windfall, lab):
    about = {"function": f"{lab}:run", "parameters": {"x": "Real(0.0, 1.0)"}, "minimize": False}
    lines = [
        {"windfall_study": 1, "settings": {**about, "seed": 0, "batch": 1}, "versions": {}},
        {"number": 1, "first": 1, "size": 1, "parameters": {"x": 0.75}, "value": 9.0,
         "failed": None, "seconds": 0.1},
    ]  # fmt: skip
    Path("old.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    base = ["optimize", f"{lab}:run", "--box", "x=0:1", "--initial", "20", "--log", "old.jsonl"]
    assert "without --store; expected where to keep the study" in one_line(windfall(*base))
    for pulls in ("2", "3"):
        done = windfall(*base, "--store", "lab.db", "--pulls", pulls, "--json")
        assert json.loads(done.stdout)["best"]["value"] == 9.0
    assert len(sys.modules[lab].calls) == 2
    line = one_line(windfall(*base, "--store", "lab.db", "--minimize"))
    assert "begun with minimize false, this study has true" in line


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (["--seed", "1"], ["seed: 1 here, 0 saved"]),
        (["--minimize"], ["about.minimize: True here, False saved"]),
        (["--policy", "ei"], ["policy"]),
        (["--goal", "reward"], ["policy"]),
        (["--initial", "3"], ["initial: 3 here, 20 saved"]),
        (["--box", "y=0:1"], ["space"]),
    ],
)
def test_another_study_of_that_name_is_refused(windfall, lab, change, words):
    name = f"{lab}:anything"
    base = ["optimize", name, "--box", "x=0:1", "--pulls", "2", "--store", "lab.db"]
    assert windfall(*base, "--initial", "20").exit_code == 0
    done = windfall(*base, *([] if "--initial" in change else ["--initial", "20"]), *change)
    line = one_line(done)
    for word in ["was created otherwise", *words, "another name"]:
        assert word in line


def one_line(done) -> str:
    assert done.exit_code == 2, done.exception
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("windfall: ")
    return line


BOX = ["--box", "x=0:1"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["LAB", *BOX], ["function is", "expected MODULE:NAME, such as experiment:run"]),
        (["no_such_lab:run", *BOX], ["no module 'no_such_lab'", "PYTHONPATH"]),
        (["no_such.py:run", *BOX], ["no module 'no_such'", "write no_such:run"]),
        (["LAB:ran", *BOX], ["has no 'ran'", "did you mean 'run'"]),
        (["LAB:number", *BOX], ["is 3; expected something to call"]),
        (["LAB:run"], ["no parameters; give at least one --box"]),
        (["LAB:run", "--box", "x"], ["--box is 'x'; expected NAME=LOW:HIGH"]),
        (["LAB:run", "--box", "x=1:0"], ["--box 'x=1:0'", "swap them"]),
        (["LAB:run", "--box", "y=0:1"], ["takes (x, kind='plain')", "parameters y", "alike"]),
        (["LAB:fails", *BOX, "--box", "y=0:1"], ["takes (x)", "parameters x, y", "alike"]),
        (["LAB:run", *BOX, "--pulls", "0"], ["pulls is 0"]),
        (["LAB:run", *BOX, "--pulls", "many"], ["--pulls", "'many' is not a whole number"]),
        (["LAB:run", *BOX, "--workers", "0"], ["workers is 0"]),
        (["LAB:run", *BOX, "--initial", "0"], ["initial is 0"]),
        (["LAB:run", *BOX, "--seed", "-1"], ["seed is -1"]),
        (["LAB:run", *BOX, "--policy", "best"], ["'best'", "v-ucb"]),
        (["LAB:run", *BOX, "--goal", "all"], ["goal is 'all'", "one of reward, best"]),
        (["LAB:run", *BOX, "--goal", "best", "--policy", "ei"],
         ["goal is 'best' and policy is 'ei'; expected one of them"]),
        (["LAB:run", *BOX, "--policy", "LAB:number"], ["LAB:number", "Policy"]),
        (["LAB:run", *BOX, "--plot", "figure.gif"], ["'figure.gif'", ".png, .pdf, .svg"]),
        (["LAB:run", *BOX, "--store", "/dev/null/x/lab.db"], ["/dev/null/x/lab.db", "cannot be"]),
        (["LAB:run", *BOX, "--store", "a.db", "--log", "."], ["log '.' cannot be read"]),
        ([], ["MODULE:FUNCTION"]),
    ],
)  # fmt: skip
def test_bad_input_is_one_line_and_no_call(windfall, lab, arguments, words):
    line = one_line(windfall("optimize", *(a.replace("LAB", lab) for a in arguments)))
    for word in words:
        assert word.replace("LAB", lab) in line
    if lab in sys.modules:
        assert sys.modules[lab].calls == []


def test_a_function_that_always_fails(windfall, lab):
    line = one_line(windfall("optimize", f"{lab}:fails", *BOX))
    assert "all 5 pulls have failed, the last with RuntimeError: unplugged" in line


def test_what_was_found_is_written_also_when_the_study_breaks_off(windfall, lab, monkeypatch):
    ask = wf.Study.ask

    def breaks_off(study, worker):
        if len(study.rewards) == 3:
            raise NumericalError("the model has no finite answer")
        return ask(study, worker=worker)

    monkeypatch.setattr(wf.Study, "ask", breaks_off)
    done = windfall("optimize", f"{lab}:run", "--box", "x=0.5:1", *FILL, "--json")
    assert done.exit_code == 2
    assert done.stderr.splitlines()[-1] == "windfall: the model has no finite answer"
    facts = json.loads(done.stdout)
    assert facts["pulls"] == 3
    assert facts["best"]["value"] == max(5 - (x - 0.7) ** 2 for x in sys.modules[lab].calls)


def test_choices_that_are_no_finite_numbers_are_text(windfall, lab, tmp_path):
    (tmp_path / f"{lab}.py").write_text("def run(cap):\n    return len(cap)\n")
    arguments = ["--choice", "cap=1,10,inf", "--initial", "3", "--pulls", "3", "--json"]
    done = windfall("optimize", f"{lab}:run", *arguments, "--store", "lab.db")
    assert done.exit_code == 0, done.exception
    assert json.loads(done.stdout)["best"]["parameters"] == {"cap": "inf"}


def test_functions_that_take_anything(windfall, lab):
    arguments = ["--box", "a=0:1", "--box", "b=0:1", "--initial", "4", "--pulls", "4", "--json"]
    done = windfall("optimize", f"{lab}:anything", *arguments)
    best = json.loads(done.stdout)["best"]
    assert best["value"] == pytest.approx(sum(best["parameters"].values()))
