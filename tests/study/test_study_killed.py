"""Workers that are killed at any moment: nothing acknowledged is lost, nothing is there twice."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from store_kinds import SHARED

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")

TORTURE = Path(__file__).parents[2] / "tools" / "torture.py"
KILLS = 12


@pytest.mark.parametrize("kind", SHARED)
def test_no_acknowledged_event_is_lost_or_doubled(kind):
    """What ``make torture`` does at length: four workers at a time, killed and begun again."""
    command = [sys.executable, str(TORTURE), "--store", kind, "--kills", str(KILLS)]
    done = subprocess.run(
        [*command, "--models", "0"], capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["kills"] == sum(facts["killed while"].values()) == KILLS
    assert facts["events"] > KILLS  # they are killed after six lines on average, one choice each
