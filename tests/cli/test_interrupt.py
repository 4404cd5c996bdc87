"""Ctrl-C ends the command at once: exit code 130, one line, no half-written file, no process."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals of a process group are POSIX")


def start(*command: str, errors: Path) -> subprocess.Popen[bytes]:
    """In a group of its own, as a terminal starts it, so that its workers get the signal too."""
    with errors.open("wb") as file:
        return subprocess.Popen(
            [sys.executable, *command],
            stdout=subprocess.DEVNULL, stderr=file, start_new_session=True,
        )  # fmt: skip


def wait_until(condition, seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def alive(group: int) -> bool:
    states = subprocess.run(
        ["ps", "-o", "stat=", "-g", str(group)], capture_output=True, text=True, check=False
    ).stdout.split()
    return any(not state.startswith("Z") for state in states)


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("pause", [0.0, 3.0], ids=["importing", "computing"])
def test_ctrl_c(folder, tmp_path, workers, pause):
    out, errors = tmp_path / "out", tmp_path / "errors"
    command = ["-m", "windfall", "run", folder, "--policy", "v-ucb", "--workers", workers]
    sizes = ["--rounds", "2000", "--trials", "500", "--save", str(out)]
    process = start(*command, *sizes, errors=errors)
    try:
        wait_until(out.exists)  # the destination is checked before JAX is imported
        time.sleep(pause)
        assert process.poll() is None
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(timeout=60) == 130
        wait_until(lambda: not alive(process.pid), 30)
        assert errors.read_text() == "windfall: interrupted\n"
        assert list(out.iterdir()) == []
    finally:
        if alive(process.pid):
            os.killpg(process.pid, signal.SIGKILL)


WRITES = """
import os, signal, sys, time
from windfall.cli.interrupt import WRITING, watch
watch()
with WRITING, open(sys.argv[1], "w") as file:
    file.write("half ")
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.5)
    file.write("whole")
    file.flush()
time.sleep(60)
"""


def test_a_file_being_written_is_finished_first(tmp_path):
    target, errors = tmp_path / "file", tmp_path / "errors"
    process = start("-c", WRITES, str(target), errors=errors)
    assert process.wait(timeout=30) == 130
    assert target.read_text() == "half whole"
    assert errors.read_text() == "windfall: interrupted\n"
