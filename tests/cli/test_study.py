"""``windfall study``: a study run from a shell."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import windfall as wf
from windfall.space import Arms

BOX = wf.Box([0, 20], [10, 90], names=["dose", "heat"])
GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "studies.md"


@pytest.fixture(autouse=True)
def _lab(tmp_path, monkeypatch):
    """A folder with a study that needs no model for its first choices."""
    monkeypatch.chdir(tmp_path)
    wf.Study("alloy", BOX, "mean", initial=20).close()


def test_a_study_is_run_from_a_shell(windfall):
    asked = json.loads(windfall("study", "ask", "alloy", "--worker", "oven", "--json").stdout)
    (choice,) = asked["choices"]
    again = windfall("study", "ask", "alloy", "--worker", "oven", "-n", 2)
    assert again.stdout.splitlines()[0].startswith(
        f"id 0: dose = {choice['parameters']['dose']:.6g}, "
    )
    assert len(again.stdout.splitlines()) == 2
    for _ in range(2):  # repeated with the same id it counts once
        done = windfall("study", "tell", "alloy", "-2.5", "--id", 0, "--request", "r")
        assert (done.exit_code, done.stdout) == (0, "")
    windfall("study", "tell", "alloy", 1, "--at", "dose=3", "--at", "heat=30.5", "--noise", 0.5)
    windfall("study", "fail", "alloy", "--at", "dose=4", "--at", "heat=40")
    with wf.Study("alloy") as study:
        assert [reward for _, reward in study.rewards] == [-2.5, 1.0]
        assert study.history()["noise"][-2:] == [0.5, None]
        assert [c.parameters for c in study.failed] == [{"dose": 4.0, "heat": 40.0}]
        assert [c.id for c in study.pending] == [1]
    shown = windfall("study", "show", "alloy").stdout.splitlines()
    assert shown[0] == "alloy: 2 rewards, 1 failed, 1 pending"
    assert shown[1] == "best: dose = 3, heat = 30.5: highest mean reward, 1 over 1 pull(s)"
    assert shown[2].startswith("pending: id 1: dose = ")
    (row,) = json.loads(windfall("study", "list", "--json").stdout)["studies"]
    assert (row["study"], row["rewards"], row["best"]["parameters"]["dose"]) == ("alloy", 2, 3.0)
    assert "alloy" in windfall("study", "list").stdout
    assert windfall("study", "export", "alloy", "alloy.csv").exit_code == 0
    assert len(Path("alloy.csv").read_text().splitlines()) == 1 + 5


def test_arms_come_and_go_from_a_shell(windfall):
    Path("arms.csv").write_text("dose,heat\n1,2\n3,4\n")
    made = ["create", "tide", "--arms", "arms.csv", "--drift", "--goal", "best", "--budget", 9]
    assert windfall("study", *made).exit_code == 0
    Path("more.csv").write_text("dose,heat\n5,6\n")
    for _ in range(2):  # repeated with the same id it counts once
        done = windfall("study", "add", "tide", "more.csv", "--request", "r")
        assert done.stdout == "tide: arms 2\n", done.stderr
    assert windfall("study", "retire", "tide", 0).exit_code == 0
    windfall("study", "tell", "tide", 2, "--arm", 1, "--time", 17)
    late = windfall("study", "tell", "tide", 2, "--arm", 1, "--time", 12)
    assert "backwards" in late.stderr
    Path("other.csv").write_text("heat,dose\n5,6\n")
    refused = windfall("study", "add", "tide", "other.csv")
    assert "expected ['dose', 'heat']" in refused.stderr
    with wf.Study("tide") as study:
        assert study.arms.tolist() == [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
        assert study.history()["kind"] == ["added", "retired", "told"]


def test_arms_with_names_come_and_go_from_a_shell(windfall):
    arms = Arms([[1.0], [2.0], [3.0], [4.0]], titles=["blank", "1871", "1", "steel"])
    wf.Study("tide", arms, "mean").close()
    asked = windfall("study", "ask", "tide", "--among", "steel", "--json")
    assert json.loads(asked.stdout)["choices"][0]["arm"] == 3
    for gone in ("blank", "1871"):
        done = windfall("study", "retire", "tide", gone)
        assert done.exit_code == 0, done.stderr
    with wf.Study("tide") as study:
        assert study._record.retired == {0, 1}
    for name, complaint in (
        ("tin", "arm is 'tin'; expected the name of an arm, or its number"),
        ("9", "arm is 9; expected a Choice or a row number"),
        ("1", "arm is 1, which is retired already"),  # a number, as ask prints it, before a name
    ):
        assert complaint in windfall("study", "retire", "tide", name).stderr


def test_a_study_is_made_moved_and_dropped_from_a_shell(windfall, tmp_path):
    Path("arms.csv").write_text("dose,heat\n1,2\n3,4\n5,6.5\n")
    made = windfall("study", "create", "glass", "--arms", "arms.csv", "--policy", "mean")
    assert (made.exit_code, made.stdout) == (0, "glass: 3 arms, dose, heat\n"), made.stderr
    space = ["--box", "x=0:1", "--integer", "n=1:3", "--choice", "kind=a,b"]
    assert windfall("study", "create", "oven", *space, "--seed", 4).stdout == "oven: x, n, kind\n"
    Path("bare.csv").write_text("1;2,5\n3;4\n")
    assert windfall("study", "create", "bare", "--arms", "bare.csv").exit_code == 0
    with wf.Study("bare") as study:
        assert study.arms.tolist() == [[1.0, 2.5], [3.0, 4.0]]
    windfall("study", "tell", "glass", 2, "--arm", 1)
    windfall("study", "fail", "glass", "--arm", 0, "--why", "broke")
    windfall("study", "forget", "glass", "--arm", 0)
    windfall("study", "note", "glass", "new oven")
    with wf.Study("glass") as study:
        assert study.history()["kind"] == ["told", "failed", "forgotten", "noted"]
        assert study.history()["text"] == [None, "broke", None, "new oven"]
    for command in (
        "rename glass steel",
        "copy steel --as iron",
        "copy iron --to other.db",
        "export steel steel.jsonl",
        "export steel steel.csv",
        "import wood steel.jsonl",
    ):
        done = windfall("study", *command.split())
        assert done.exit_code == 0, (command, done.stderr)
    assert windfall("study", "import", "wood", "steel.csv").stdout == "wood: 2 told or failed\n"
    names = ["alloy", "steel", "oven", "bare", "iron", "wood"]
    assert wf.studies("windfall.db") == names
    assert wf.studies("other.db") == ["iron"]
    with wf.Study("wood") as study:
        assert study.rewards == [(1, 2.0), (1, 2.0)]
    kept = windfall("study", "delete", "iron")  # nobody there to say yes
    assert kept.exit_code == 2
    assert "iron was not dropped; expected a yes, or --yes" in kept.stderr
    assert windfall("study", "delete", "iron", "--yes").exit_code == 0
    assert "iron" not in wf.studies("windfall.db")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("create alloy --box x=0:1", "name is 'alloy'; expected one that no other study has"),
        ("create new", "space is not said; expected --arms, or --box, --integer and --choice"),
        ("create new --box x=0:1 --arms no.csv", "space is not said"),
        ("create new --arms no.csv", "no.csv"),
        ("create new --box x=0:1 --policy men --store new.db", "policy is 'men'"),
        ("rename alloy ''", "name is ''; expected text"),
        ("copy alloy", "name is 'alloy'; expected one that no other study has"),
        ("import new no.jsonl", "path 'no.jsonl' cannot be read"),
        ("list --store postgresql://nobody@localhost:1/lab", "cannot be reached"),
        ("show aloy", "study is 'aloy' (did you mean 'alloy'?); expected one of alloy, or a space"),
        ("list --store no.db", "store 'no.db' does not exist; expected a file with studies"),
        ("tell alloy 1", "choice is not said; expected one of --id, --arm and --at"),
        ("tell alloy 1 --id 0 --at dose=3", "choice is not said; expected one of"),
        ("tell alloy 1 --id 7", "id is 7; expected that of a choice of this study"),
        ("tell alloy 1 --nosie 3 --id 0", "see windfall study tell --help"),
        ("tell alloy nan --at dose=3 --at heat=30", "reward is nan; expected a finite number"),
        ("tell alloy 1 --at dose=3 --at dose=4", "--at has 'dose' more than once; expected every"),
        ("tell alloy 1 --at dose --at heat=30", "--at is 'dose'; expected NAME=VALUE"),
        ("ask alloy --among 1", "among is [1]; expected none: there is no list of arms"),
        ("ask alloy -n 0", "n is 0; expected a whole number, at least 1"),
        ("ask alloy --lease 0", "lease is 0.0; expected a finite number, above 0"),
        ("export alloy alloy.xls", "path is 'alloy.xls'; expected a name that ends in .csv or"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(windfall, arguments, complaint):
    done = windfall("study", *shlex.split(arguments))
    assert done.exit_code == 2
    assert complaint in done.stderr
    assert len(done.stderr.splitlines()) == 1
    with wf.Study("alloy") as study:
        assert study.history()["number"] == []
    assert sorted(path.name for path in Path().iterdir()) == ["windfall.db"]


def test_the_commands_of_the_guide(windfall):
    commands = re.findall(r"^windfall study (.*)$", GUIDE.read_text(), re.MULTILINE)
    assert len(commands) == 14
    with wf.Study("alloy") as study:
        study.ask(13)
    for command in commands:
        done = windfall("study", *shlex.split(command))
        wrong = "--arm" in command  # there are none on a box
        assert (done.exit_code != 0) == wrong, (command, done.stderr)


def test_nothing_heavy_is_imported():
    code = (
        "import sys; from windfall.cli import app\n"
        "try: app(['study', 'tell', 'alloy', '1', '--at', 'dose=3', '--at', 'heat=30'])\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        "assert 'jax' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
