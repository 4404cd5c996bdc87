"""Workers that are killed at any moment: nothing acknowledged is lost, nothing is there twice."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from bandit_study import ARMS
from store_kinds import SHARED, address, emptied

import windfall as wf

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")

TORTURE = Path(__file__).parents[2] / "tools" / "torture.py"
KILLS = 20


@pytest.mark.parametrize("kind", SHARED)
def test_no_acknowledged_event_is_lost_or_doubled(kind):
    """What ``make torture`` does at length, without models: these are compared elsewhere."""
    command = [sys.executable, str(TORTURE), "--store", kind, "--kills", str(KILLS)]
    done = subprocess.run(
        [*command, "--models", "0"], capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["kills"] == sum(facts["killed while"].values()) == KILLS
    assert facts["events"] > KILLS  # something was going on


CROWD = """
import sys
import windfall as wf
study = wf.Study("alloy", store=sys.argv[1])
for turn in range(int(sys.argv[3])):
    choice = study.ask(worker=sys.argv[2])
    study.tell(choice, 1.0)
"""


@pytest.mark.parametrize("kind", SHARED)
def test_many_workers_at_once(tmp_path, kind):
    path, workers, turns = address(emptied(kind), tmp_path), 5, 8
    wf.Study("alloy", ARMS, "mean", store=path, initial=len(ARMS)).close()
    crowd = [
        subprocess.Popen([sys.executable, "-c", CROWD, path, f"w{n}", str(turns)])
        for n in range(workers)
    ]
    assert [worker.wait(timeout=120) for worker in crowd] == [0] * workers
    with wf.Study("alloy", store=path) as study:
        arms = [arm for arm, _ in study.rewards]
        assert len(arms) == len(set(arms)) == workers * turns  # no choice was handed out twice
        assert study.pending == []
        table = study.history()
        assert table["number"] == list(range(1, 2 * workers * turns + 1))
