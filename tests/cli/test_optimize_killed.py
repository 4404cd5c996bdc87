"""A study in a process of its own, killed or interrupted by real signals."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import windfall as wf

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")

LAB = """
import os, signal, time
from pathlib import Path

calls = 0

def run(x, y):
    global calls
    calls += 1
    if Path("die").exists() and calls == int(Path("die").read_text()):
        os.kill(os.getpid(), signal.SIGKILL)
    if x < 0.2:
        raise ValueError("too cold")
    return -((x - 0.6) ** 2) - (y - 0.3) ** 2

def slow(x):
    if calls_so_far() == 3:
        time.sleep(120)
    return x

def calls_so_far():
    global calls
    calls += 1
    Path("calls").write_text(str(calls))
    return calls
"""
BOX = ["--box", "x=0:1", "--box", "y=0:1"]
STUDY = ["lab:run", *BOX, "--pulls", "9", "--initial", "4", "--policy", "v-ucb", "--seed", "3"]


@pytest.fixture
def folder(tmp_path) -> Path:
    """Where the function is, and the studies will be."""
    (tmp_path / "lab.py").write_text(LAB)
    return tmp_path


def optimize(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "windfall", "optimize", *arguments],
        cwd=folder, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip


def kept(store: Path) -> list[tuple]:
    with wf.Study("lab:run", store=store) as study:
        return [(e.kind, dict(e.contents), e.worker) for e in study._journal.events[1:]]


def test_killed_twice_it_ends_as_if_it_had_never_been(folder):
    """Once among the initial pulls, once when the policy decides."""
    done = optimize(folder, *STUDY, "--store", "whole.db", "--json")
    assert done.returncode == 0, done.stderr
    store = folder / "killed.db"
    for call, pulls in ((3, 2), (5, 6)):  # of the second run: its first call is pull 3
        (folder / "die").write_text(str(call))
        done = optimize(folder, *STUDY, "--store", store.name)
        assert done.returncode == -signal.SIGKILL
        assert sum(kind in ("told", "failed") for kind, *_ in kept(store)) == pulls
    (folder / "die").unlink()
    done = optimize(folder, *STUDY, "--store", store.name, "--json")
    assert done.returncode == 0, done.stderr
    assert "windfall: 6 of 9 pulls were made before" in done.stderr
    assert kept(store) == kept(folder / "whole.db")
    assert json.loads(done.stdout)["pulls"] == 9


def test_ctrl_c_ends_with_what_was_found(folder):
    command = ["optimize", "lab:slow", "--box", "x=0:1", "--initial", "9", "--store", "lab.db"]
    process = subprocess.Popen(
        [sys.executable, "-m", "windfall", *command, "--plot", "figure.png", "--json"],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    try:
        counter = folder / "calls"
        for _ in range(2400):
            if counter.exists() and counter.read_text() == "3":
                break
            try:
                process.wait(timeout=0.05)
            except subprocess.TimeoutExpired:
                continue
            break
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    assert process.returncode == 130, err
    assert err == "windfall: interrupted\n"
    facts = json.loads(out)
    assert facts["pulls"] == 2
    assert facts["best"]["value"] == facts["best"]["parameters"]["x"]
    assert facts["files"] == ["figure.png"]
    assert (folder / "figure.png").stat().st_size > 10_000
    with wf.Study("lab:slow", store=folder / "lab.db") as study:
        assert len(study.rewards) == 2


STOPPED = """
import os, signal, time
import windfall.cli.found
from windfall.cli import main

say = windfall.cli.found.print_json

def stopped(facts):
    os.kill(os.getpid(), signal.SIGINT)
    say(facts)

windfall.cli.found.print_json = stopped
try:
    main()
finally:
    time.sleep(60)
"""


def test_ctrl_c_while_the_end_is_written_does_not_write_it_again(folder):
    study = ["lab:run", *BOX, "--initial", "4", "--pulls", "4", "--json"]
    done = subprocess.run(
        [sys.executable, "-c", STOPPED, "optimize", *study],
        cwd=folder, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 130, done.stderr
    assert done.stderr == "windfall: interrupted\n"
    assert json.loads(done.stdout)["pulls"] == 4
