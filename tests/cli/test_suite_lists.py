"""``--suite real``: every candidate list of a folder, and nothing else that is called like it."""

import json

import pytest
from by_chance import by_chance

import windfall as wf

TABLE = "dose,payoff\n" + "".join(f"{i},{(i - 3) ** 2 % 7}\n" for i in range(8))
CHOSEN = ["--policy", "ei", "--policy", "v-ucb-1", "--rounds", "5"]


@pytest.fixture
def played(monkeypatch):
    """Runs by lot instead of simulations; collects the experiments."""
    collected = []

    def execute(experiments, folder, **_):
        collected.extend(experiments)
        return {e.name: {r.label: by_chance(r, e.problem) for r in e.runs} for e in experiments}

    monkeypatch.setattr("windfall.compare.suite.execute", execute)
    return collected


@pytest.fixture
def lists(tmp_path):
    """A folder with two candidate lists, one of them measured twice."""
    folder = tmp_path / "lists"
    folder.mkdir()
    (folder / "drug.csv").write_text(TABLE)
    (folder / "assay.csv").write_text(TABLE)
    (folder / "assay_replicates.csv").write_text(TABLE + TABLE.partition("\n")[2])
    return folder


def arms_shown(stdout: str) -> dict[str, list[str]]:
    """The lines of the lists, by name."""
    lines = stdout.partition("(--suite real)")[2].splitlines()
    rows = [[cell.strip() for cell in line.strip("│").split("│")] for line in lines]
    return {row[0]: row[1:] for row in rows if len(row) > 1}


def test_the_suite_real_is_every_list_of_the_folder(windfall, played, lists):
    done = windfall("compare", "--suite", "real", "--data-dir", lists, *CHOSEN, "--json")
    assert done.exit_code == 0, done.exception
    said = json.loads(done.stdout)
    assert list(said["problems"]) == ["assay", "drug"]
    assert {(r.rounds, r.trials) for e in played for r in e.runs} == {(5, 24)}
    for row in said["problems"].values():
        for pair in ("against_best", "gap_against_best"):
            assert row["policies"]["ei"][pair]["trials"] == 24
        assert {"gap", "found_best", "stuck", "gap_ratio"} <= row["policies"]["ei"].keys()
    empty = windfall("compare", "--suite", "real", "--data-dir", lists.parent, *CHOSEN)
    assert "has no candidate list" in empty.stderr


def test_lists_are_shown_with_the_other_problems(windfall, lists):
    done = windfall("problems", "--data-dir", lists)
    assert done.exit_code == 0, done.exception
    rows = arms_shown(done.stdout)
    assert rows["assay"][:5] == ["8", "1", "0", "61", "24"]
    assert rows["drug"][:5] == ["8", "1", "0.05", "61", "24"]
    assert "cosine" in windfall("problems").stdout


def test_a_list_is_itself_whatever_else_is_called_like_it(windfall, played, lists, monkeypatch):
    """A named problem; a file and a folder in the current folder."""
    (lists / "cosine.csv").write_text(TABLE)
    monkeypatch.chdir(lists.parent)
    (lists.parent / "assay").write_text("a,payoff\n1,2\n2,3\n")
    (lists.parent / "drug").mkdir()
    done = windfall("compare", "--suite", "real", "--data-dir", lists, *CHOSEN)
    assert done.exit_code == 0, done.exception
    assert {e.name: e.problem.size for e in played} == {"assay": 8, "cosine": 8, "drug": 8}
    shown = arms_shown(windfall("problems", "--data-dir", lists).stdout)
    assert {shown[name][0] for name in ("assay", "cosine", "drug")} == {"8"}


def test_runs_of_others_stand_in_the_figure(windfall, played, lists, tmp_path, monkeypatch):
    (lists / "drug_reference_chemists.csv").write_text("1,2,3,4,5\n1,2,2,4,3\n0,4,2,2,2\n")
    drawn, target = [], tmp_path / "a.png"
    monkeypatch.setattr(wf.plot, "save", lambda figure, path: drawn.append(figure) or path)
    command = ["compare", "--suite", "real", "--data-dir", lists, *CHOSEN, "--plot", target]
    done = windfall(*command)
    assert done.exit_code == 0, done.exception
    *_, panel = drawn[0].axes
    assert panel.get_title().startswith("drug: what was found")
    assert [line.get_label() for line in panel.lines] == ["EI", "v-ucb-1", "chemists"]
    assert len(drawn[0].axes) == 3


def test_a_list_that_cannot_be_read_is_named_in_one_line(windfall, played, lists):
    (lists / "lost.csv").symlink_to(lists / "nowhere.csv")
    for command in (["compare", "--suite", "real", *CHOSEN], ["problems"]):
        done = windfall(*command, "--data-dir", lists)
        assert done.exit_code == 2, done.exception
        (line,) = done.stderr.splitlines()
        assert line.startswith(f"windfall: cannot read {lists / 'lost.csv'}: No such file")
    assert played == []
