"""``windfall paper`` from end to end on tiny sizes: played, drawn, killed, resumed, damaged."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from by_chance import by_chance
from pages import check_page
from typer.testing import CliRunner

from windfall.cli import app
from windfall.compare.execute import execute
from windfall.compare.statistics import first_trials
from windfall.compare.store import Store
from windfall.paper.plan import paper
from windfall.paper.reference import Reference
from windfall.paper.report import compose
from windfall.paper.summary import CLOCKED, summarise

SIZES = ["--trials", "2", "--rounds", "6"]


def seeded(folder: Path) -> dict:
    """All that a summary has besides what was measured with a clock."""
    return {k: v for k, v in json.loads((folder / "summary.json").read_text()).items()
            if k not in CLOCKED}  # fmt: skip


def result_tables(folder: Path) -> tuple[str, str]:
    text, _, clocked = (folder / "summary.md").read_text().partition("## Measured times")
    assert clocked
    return text, json.dumps(seeded(folder))


@pytest.fixture(scope="session")
def sensors(tmp_path_factory, data_dir, reference_dir):
    """A sensor problem, every run of it really played, without interruption."""
    folder = tmp_path_factory.mktemp("sensors")
    done = CliRunner().invoke(app, sensor_command(folder, data_dir, reference_dir))
    return folder, done


def sensor_command(folder: Path, data_dir: Path, reference_dir: Path) -> list[str]:
    return ["paper", "--only", "temperature", *SIZES, "--report", str(folder), "--workers", "1",
            "--data-dir", str(data_dir), "--reference", str(reference_dir)]  # fmt: skip


def test_a_sensor_problem_from_the_command_line(sensors):
    folder, done = sensors
    assert done.exit_code == 0, done.output
    assert "temperature" in done.stdout
    assert f"wrote {folder / 'report.html'}" in done.stdout
    page = check_page(
        folder / "report.html",
        {"temperature": {"sensors", "regret", "ratio", "variants"}},
        {"all-overview", *(f"temperature-{t}" for t in
                           ("policies", "paired", "variants", "timings"))},
    )  # fmt: skip
    facts = seeded(folder)["experiments"]["temperature"]
    text = " ".join(page.text)
    assert facts["verdict"] in text
    assert all(sentence in text for sentence in facts["variant_verdicts"])
    assert "No synthetic problem was played" in text
    assert "Fewer trials or rounds than in the paper: temperature" in text
    own, *_ = facts["policies"]
    assert own["authors"]["key"] == "temperature/lw-ucb-gmm2"
    assert own["authors"]["trials"] == 2  # the same snapshots as ours
    assert facts["trials"] == 2
    assert len(facts["variants"]) == 5


def test_killed_and_started_again_gives_the_same_tables(sensors, data_dir, reference_dir, tmp_path):
    whole, _ = sensors
    shutil.copytree(whole / "results", tmp_path / "results")
    for manifest in sorted((tmp_path / "results").glob("*.json"))[:6]:  # what is left to play
        manifest.unlink()
    command = [sys.executable, "-m", "windfall", *sensor_command(tmp_path, data_dir, reference_dir)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, start_new_session=True, **quiet)
    try:
        wait_until(lambda: finished(tmp_path) >= 5 or process.poll() is not None)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    before = finished(tmp_path)
    assert 5 <= before < finished(whole) == 10
    assert not (tmp_path / "report.html").exists()
    again = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    assert again.returncode == 0, again.stderr
    assert f"{before} of 10 runs were finished before" in again.stderr
    assert result_tables(tmp_path) == result_tables(whole)


def finished(folder: Path) -> int:
    return len(list((folder / "results").glob("[!.]*.json")))


def wait_until(condition, seconds: float = 240.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


@pytest.mark.parametrize("damage", ["arrays", "manifest"])
def test_a_damaged_entry_is_named_and_computed_again(sensors, data_dir, reference_dir, damage):
    folder, _ = sensors
    (rooms,) = paper(only="temperature", data_dir=str(data_dir), trials=2, rounds=6)
    run = next(run for run in rooms.runs if run.label == "v-ucb")
    path = folder / "results" / f"{Store(folder / 'results').key(run, rooms.problem)}.json"
    before = result_tables(folder)
    if damage == "arrays":
        data = bytearray(path.with_suffix(".npz").read_bytes())
        data[len(data) // 2] ^= 0xFF
        path.with_suffix(".npz").write_bytes(data)
    else:
        path.write_text(path.read_text()[:100])
    again = CliRunner().invoke(app, sensor_command(folder, data_dir, reference_dir))
    assert again.exit_code == 0
    complaints = [line for line in again.stderr.splitlines() if "computing it again" in line]
    assert len(complaints) == 1
    assert "temperature / v-ucb" in complaints[0]
    assert path.stem in complaints[0]
    assert "9 of 10 runs were finished before" in again.stderr
    assert result_tables(folder) == before


@pytest.mark.skipif(os.name == "nt", reason="signals of a process group are POSIX")
def test_ctrl_c(tmp_path, data_dir, reference_dir):
    command = sensor_command(tmp_path, data_dir, reference_dir)
    command[command.index("--rounds") + 1] = "3000"
    errors = tmp_path / "errors"
    with errors.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "windfall", *command],
            stdout=subprocess.DEVNULL, stderr=file, start_new_session=True,
        )  # fmt: skip
    try:
        wait_until((tmp_path / "results").exists)
        time.sleep(2.0)
        assert process.poll() is None
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(timeout=60) == 130
        assert errors.read_text().endswith("windfall: interrupted\n")
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


@pytest.fixture(scope="session")
def grids(tmp_path_factory):
    """A synthetic problem and a wheel: what only a wheel has is played, the rest drawn by lot."""
    folder = tmp_path_factory.mktemp("grids")
    experiments = [*paper(only="cosine", trials=2, rounds=6),
                   *paper(only="wheel-0.5", trials=2, rounds=6)]  # fmt: skip
    store = Store(folder / "results")
    for experiment in experiments:
        for run in experiment.all_runs:
            if run.label != "lw-ucb (quadrant)":
                store.save(run, experiment.problem, by_chance(run, experiment.problem))
    reported = []

    def report(run, rounds):
        reported.append((run, rounds))

    outcomes = execute(experiments, folder / "results", workers=1, progress=report)
    return folder, experiments, outcomes, reported


@pytest.mark.parametrize("saved", [True, False], ids=["with the authors'", "without"])
def test_the_report_of_grids(grids, reference_dir, tmp_path, saved):
    _, experiments, outcomes, reported = grids
    finished = Counter()
    for run, rounds in reported:  # a run that is played is reported block by block
        finished[id(run)] += rounds
    assert finished == {id(run): 12 for e in experiments for run in e.all_runs}
    cells = {f"cosine/{p}": {"alone": 0.01, "stacked": None, "compile": 2.0, "rounds": 6}
             for p in ("ei", "ts", "v-ucb", "gp-ucb", "lw-ucb")}  # fmt: skip
    measured = {"backend": "cpu", "device": "made up", "repeats": 1, "cells": cells}
    reference = Reference.load(reference_dir) if saved else Reference()
    missing = {"temperature": "its data are nowhere"}
    summary = summarise(experiments, outcomes, reference, preset="quick", missing=missing,
                        runtimes=[measured], workers=1)  # fmt: skip
    for name, data in compose(experiments, outcomes, reference, summary).items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    kinds = {"arms", "regret", "ratio", "variants"}
    per_experiment = ("policies", "paired", "variants", "timings")
    page = check_page(
        tmp_path / "report.html",
        {"cosine": kinds | {"sensitivity"}, "wheel-0.5": kinds},
        {"all-overview", "all-runtimes", "cosine-sensitivity",
         *(f"{e.name}-{t}" for e in experiments for t in per_experiment)},
    )  # fmt: skip
    text = " ".join(page.text)
    assert "temperature was left out: its data are nowhere." in text
    assert ("The authors' saved runs are not shown" in text) is not saved
    facts = summary["experiments"]
    assert all(f["verdict"] in text for f in facts.values())
    assert (facts["cosine"]["not_above_authors"] is not None) is saved
    assert len(facts["wheel-0.5"]["variants"]) == 7
    json.loads((tmp_path / "summary.json").read_text())


def test_a_variant_of_fewer_trials_departs_from_the_same_ones(grids):
    _, experiments, outcomes, _ = grids
    wheel = experiments[1]
    fewer = replace(wheel, variants=tuple(replace(v, trials=1) for v in wheel.variants))
    outcome = {label: first_trials(result, 1) if "(" in label else result
               for label, result in outcomes[wheel.name].items()}  # fmt: skip
    facts = summarise([fewer], {wheel.name: outcome}, Reference(), preset="quick", missing={},
                      runtimes=[])["experiments"][wheel.name]  # fmt: skip
    for variant in facts["variants"]:
        own = outcome[variant["base"]]
        assert variant["base_median"] == pytest.approx(own.regret[0].mean())
        assert variant["trials"] == 1
    assert facts["policies"][0]["trials"] == 2


def test_missing_data_and_reference_are_said_and_the_rest_goes_on(
    grids, tmp_path, monkeypatch, windfall
):
    folder, *_ = grids
    for where in ("windfall.paper.plan.suite", "windfall.problems.suite"):
        monkeypatch.setattr(where, lambda name: ("wheel-0.5", "temperature"))
    done = windfall(
        "paper", *SIZES, "--report", tmp_path, "--results", folder / "results",
        "--data-dir", tmp_path / "none", "--reference", tmp_path / "none", "--json",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "windfall: without temperature: problem 'temperature' needs data" in done.stderr
    assert "windfall: without the authors' saved runs:" in done.stderr
    assert "12 of 12 runs were finished before" in done.stderr
    printed = json.loads(done.stdout)
    assert list(printed["experiments"]) == ["wheel-0.5"]
    assert list(printed["missing"]) == ["temperature"]
    assert Path(printed["report"]).exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--preset", "slow"], "'slow' is not one of 'quick', 'full'"),
        (["--only", "cosin"], "only is 'cosin' (did you mean 'cosine'?); expected one of cosine"),
        (["--rounds", "0"], "rounds is 0; expected a whole number, at least 1"),
        (["--only", "temperature", "--data-dir", "nowhere"], "problem 'temperature' needs data"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(windfall, tmp_path, arguments, message):
    done = windfall("paper", *arguments, "--report", tmp_path / "out")
    assert done.exit_code == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_help_does_not_import_jax():
    code = (
        "import sys\nfrom typer.testing import CliRunner\nfrom windfall.cli import app\n"
        "assert CliRunner().invoke(app, ['paper', '--help']).exit_code == 0\n"
        "assert not {'jax', 'numpy', 'matplotlib'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
