"""``windfall compare --suite`` and ``windfall ablation``: what is played, printed and written."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from by_chance import by_chance

from windfall.compare.ablation import FULL, variants
from windfall.compare.store import Store
from windfall.problems import load, suite

OWN = """
import windfall as wf

POLICY = wf.VUCB(kappa=0.3)
WHOLE = wf.Policy(wf.VUCB(kappa=0.4))
Kind = wf.VUCB
NUMBER = 3
ei = wf.EI()
"""


@pytest.fixture
def played(monkeypatch):
    """Runs by lot instead of simulations; collects the runs that were not finished before."""
    runs = []

    def execute(experiments, folder, *, workers, executor, progress, complain):
        store, outcomes = Store(Path(folder)), {}
        for experiment in experiments:
            outcomes[experiment.name] = {}
            for run in experiment.runs:
                result = store.finished(run, experiment.problem, complain)
                if result is None:
                    runs.append(run)
                    result = by_chance(run, experiment.problem)
                    store.save(run, experiment.problem, result)
                progress(run, run.rounds * run.trials)
                outcomes[experiment.name][run.label] = result
        return outcomes

    monkeypatch.setattr("windfall.compare.suite.execute", execute)
    return runs


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A folder with a user's module, as the current one."""
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "mine_to_try.py").write_text(OWN)
    (folder / "broken_to_try.py").write_text("import no_such_thing")
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield folder
    for name in ("mine_to_try", "broken_to_try"):
        sys.modules.pop(name, None)


def cells(stdout: str, title: str = ": earning") -> dict[str, list[str]]:
    """The rows of the table under this title."""
    after = stdout.partition(title)[2].splitlines()
    end = next(i for i, line in enumerate(after) if line.startswith("└"))
    lines = [line for line in after[:end] if line.startswith("│")]
    rows = [[cell.strip() for cell in line.strip("│").split("│")] for line in lines]
    return {row[0]: row[1:] for row in rows}


CHOSEN = ["--policy", "ei", "--policy", "lw-ucb", "--policy", "v-ucb-1"]
SMALL = ["--rounds", "5", "--trials", "3"]


def test_the_table_and_json_say_the_same(windfall, played, tmp_path):
    arguments = ["compare", "--suite", "extremes-tune", *CHOSEN, *SMALL, "--seed", "4"]
    table = windfall(*arguments)
    assert table.exit_code == 0, table.exception
    assert {(r.rounds, r.trials, r.seed) for r in played} == {(5, 3, 4)}
    assert [r.label for r in played[:3]] == ["ei", "lw-ucb", "v-ucb-1"]
    said = json.loads(windfall(*arguments, "--json").stdout)
    assert said["policies"] == ["ei", "lw-ucb", "v-ucb-1"]
    assert said["reference"] == ["ei", "v-ucb-1"]
    assert list(said["problems"]) == list(suite("extremes-tune"))
    printed = cells(table.stdout)
    for problem, facts in said["problems"].items():
        rows = facts["policies"].values()
        assert printed[problem] == [
            f"{r['median']:.3g} ×{r['ratio']:.2f} ({r['mean']:.3g})" for r in rows
        ]
        for row in rows:
            assert row["percentile_90"] >= row["median"]
    mean = said["geometric_mean"]["all problems"]
    assert printed["geometric mean, all problems"] == [f"×{v:.3f}" for v in mean.values()]
    near = said["within_5_percent"]
    assert printed["within 5 % of the best"] == [f"{v:.0%}" for v in near.values()]
    found = cells(table.stdout, ": finding")
    for problem, facts in said["problems"].items():
        assert found[problem] == [
            f"{r['gap']['mean']:.3g} ×{r['gap_ratio']:.2f} {r['found_best']:.0%}"
            for r in facts["policies"].values()
        ]
    mean = said["gap"]["geometric_mean"]["all problems"]
    assert found["geometric mean, all problems"] == [f"×{v:.3f}" for v in mean.values()]


def test_the_goal_decides_who_is_played_and_what_is_said_first(windfall, played, tmp_path):
    arguments = ["compare", "--suite", "extremes-tune", *SMALL, "--save", str(tmp_path / "runs")]
    done = windfall(*arguments, "--goal", "best", "--budget", "8")
    assert done.exit_code == 0, done.exception
    assert played[0].label == "prospect"
    assert {run.policy.budget for run in played} == {8}
    assert "windfall" not in {run.label for run in played}
    assert done.stdout.index(": finding") < done.stdout.index(": earning")
    again = windfall(*arguments, "--goal", "best", "--budget", "8", "--json")
    assert json.loads(again.stdout)["goal"] == "best"
    assert len(played) == 8 * 8  # all were finished before


def test_the_best_of_a_row_is_bold_on_a_terminal(windfall, played, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    done = windfall("compare", "--suite", "extremes-tune", *CHOSEN, *SMALL)
    row, _ = [line for line in done.stdout.splitlines() if "pareto-2d" in line]
    bold = [part.split("\x1b")[0].strip() for part in row.split("\x1b[1m")[1:]]
    medians = {r.label: by_chance(r, load("pareto-2d")).median[-1] for r in played[-3:]}
    assert len(bold) == 1
    assert bold[0].startswith(f"{min(medians.values()):.3g} ×")


def test_a_suite_goes_on_where_it_was_interrupted(windfall, played, tmp_path):
    folder = str(tmp_path / "runs")
    start = ["compare", "--suite", "extremes-report", *SMALL, "--save", folder]
    assert windfall(*start, "--policy", "ei").exit_code == 0
    assert len(played) == 11
    done = windfall(*start, *CHOSEN)
    assert done.exit_code == 0, done.exception
    assert len(played) == 33
    assert "11 of 33 runs were finished before" in done.stderr
    written = [line.split()[-1] for line in done.stdout.splitlines() if line.startswith("wrote")]
    assert [os.path.basename(f) for f in written] == [
        "compare-extremes-report.json",
        "compare-extremes-report.md",
    ]
    (damaged,) = [f for f in os.listdir(folder) if f.endswith(".npz")][:1]
    (tmp_path / "runs" / damaged).write_bytes(b"cut short")
    again = windfall(*start, *CHOSEN)
    assert again.exit_code == 0, again.exception
    assert "computing it again" in again.stderr
    assert len(played) == 34


def test_a_figure_is_written(windfall, played, tmp_path):
    target = tmp_path / "ratios.png"
    done = windfall("compare", "--suite", "extremes-tune", *CHOSEN, *SMALL, "--plot", str(target))
    assert done.exit_code == 0, done.exception
    assert target.read_bytes().startswith(b"\x89PNG")
    assert f"wrote {target}" in done.stdout


def test_problems_without_data_are_said(windfall, played, tmp_path):
    done = windfall("compare", "--suite", "paper", "--policy", "ei", *SMALL, "--json",
                    "--data-dir", str(tmp_path))  # fmt: skip
    assert done.exit_code == 0, done.exception
    assert "windfall: without temperature: problem 'temperature' needs data" in done.stderr
    said = json.loads(done.stdout)
    assert len(said["problems"]) == 6
    assert list(said["missing"]) == ["temperature", "air-quality-2d", "air-quality-3d"]


def test_settings_reach_the_policies_that_have_them(windfall, played):
    done = windfall("compare", "--suite", "extremes-tune", *CHOSEN, *SMALL, "--kappa", "0.7")
    assert done.exit_code == 0, done.exception
    by_label = {run.label: run.policy.acquisition for run in played}
    assert (by_label["lw-ucb"].kappa, by_label["v-ucb-1"].kappa) == (0.7, 1.0)


def test_an_own_policy_is_played_under_its_name(windfall, played, own):
    mine = ["--policy", "mine_to_try:POLICY", "--policy", "mine_to_try:WHOLE", "--policy", "ei"]
    done = windfall("compare", "--suite", "extremes-tune", *mine, *SMALL)
    assert done.exit_code == 0, done.exception
    assert [run.label for run in played[:3]] == ["POLICY", "WHOLE", "ei"]
    assert [float(run.policy.acquisition.kappa) for run in played[:2]] == [0.3, 0.4]


def test_an_own_policy_reaches_the_worker_processes(own, folder):
    """Really played, from a module that only the current folder has."""
    command = ["compare", folder, "--policy", "mine_to_try:POLICY", "--workers", "2", "--json"]
    script = [sys.executable, "-c", "from windfall.cli import main; main()"]
    done = subprocess.run(
        [*script, *command, "--rounds", "5", "--trials", "2"],
        capture_output=True, text=True, timeout=240, cwd=own,
        env=os.environ | {"PYTHONSAFEPATH": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (result,) = json.loads(done.stdout)["results"]
    assert result["policy"] == "POLICY"
    assert np.isfinite(result["median"])


def test_an_ablation_is_relative_to_the_whole_policy(windfall, played, tmp_path):
    done = windfall("ablation", "--suite", "extremes-tune", *SMALL, "--save", str(tmp_path))
    assert done.exit_code == 0, done.exception
    assert [run.label for run in played[: len(variants())]] == list(variants())
    printed = cells(done.stdout)
    for problem in suite("extremes-tune"):
        assert "×1.00" in printed[problem][0]
    assert printed["geometric mean, all problems"][0] == "×1.000"
    said = json.loads((tmp_path / "ablation-extremes-tune.json").read_text())
    assert said["reference"] == [FULL]
    assert (tmp_path / "ablation-extremes-tune.md").read_text().startswith("| problem | ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["compare", "cosine", "--suite", "extremes"], ["PROBLEM (cosine) or --suite (extremes)"]),
        (["compare"], ["PROBLEM", "--suite", "--help"]),
        (["compare", "--suite", "extreme"], ["'extreme'", "did you mean 'extremes'", "paper"]),
        (["compare", "--suite", "extremes", "--policy", "zzz"], ["policy is 'zzz'"]),
        (["compare", "--suite", "extremes", "--rounds", "0"], ["rounds is 0"]),
        (["compare", "--suite", "extremes", "--trials", "0"], ["trials is 0"]),
        (["compare", "--suite", "extremes", "--seed", "-1"], ["seed is -1"]),
        (["compare", "--suite", "extremes", "--workers", "0"], ["workers is 0"]),
        (["compare", "--suite", "extremes", "--plot", "a.gif"], ["'a.gif'", ".png"]),
        (["compare", "--suite", "extremes", "--save", "/dev/null/x"], ["--save", "/dev/null/x"]),
        (["compare", "--suite", "extremes", "--policy", "ei", "--kappa", "1"], ["ei has no kappa"]),
        (["ablation", "--suite", "zzz"], ["suite is 'zzz'", "extremes-report"]),
        (["ablation", "--trials", "0"], ["trials is 0"]),
        (["ablation", "cosine"], ["cosine"]),
        (["compare", "cosine", "--policy", "mine_to_try:"], ["'mine_to_try:'", "MODULE:NAME"]),
        (["compare", "cosine", "--policy", ":POLICY"], ["':POLICY'", "MODULE:NAME"]),
        (["compare", "cosine", "--policy", "nowhere:X"], ["no module 'nowhere'", "PYTHONPATH"]),
        (["compare", "cosine", "--policy", "broken_to_try:X"],
         ["importing 'broken_to_try' fails", "no_such_thing"]),
        (["compare", "cosine", "--policy", "mine_to_try:POLICE"],
         ["no 'POLICE'", "did you mean 'POLICY'"]),
        (["compare", "cosine", "--policy", "mine_to_try:Kind"], ["is a class", "VUCB(...)"]),
        (["run", "cosine", "--policy", "mine_to_try:NUMBER"],
         ["is a int", "expected a windfall Policy or Acquisition"]),
        (["compare", "cosine", "--policy", "ei", "--policy", "mine_to_try:ei"],
         ["two policies are called 'ei'"]),
    ],
)  # fmt: skip
def test_bad_input_is_one_line_and_nothing_is_played(windfall, played, own, arguments, words):
    done = windfall(*arguments)
    assert done.exit_code == 2, done.exception
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    for word in words:
        assert word in line
    assert played == []
