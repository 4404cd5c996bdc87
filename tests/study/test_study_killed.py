"""Workers that are killed at any moment: nothing acknowledged is lost, nothing is there twice."""

import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from bandit_study import ARMS

import windfall as wf

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")

KILLS = 20
#: Asks and tells until it is killed, and says what was acknowledged once it was.
WORKER = """
import sys
import windfall as wf
study = wf.Study("alloy", store=sys.argv[1])
turn = 0
while True:
    worker, request = sys.argv[2], f"{sys.argv[2]}/{turn}"
    choice = study.ask(worker=worker)
    print("asked", choice.id, flush=True)
    study.tell(choice, float(turn), request=request)
    print("told", request, flush=True)
    turn += 1
"""


def test_no_acknowledged_event_is_lost_or_doubled(tmp_path):
    path = tmp_path / "lab.db"
    # Initial choices need no model: workers go as fast as the store does.
    arms = np.linspace(0, 1, 5000)[:, None]
    wf.Study("alloy", arms, "mean", store=path, initial=len(arms)).close()
    rng = random.Random(0)
    said: list[str] = []
    for kill in range(KILLS):
        worker = subprocess.Popen(
            [sys.executable, "-c", WORKER, str(path), f"w{kill}"],
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert worker.stdout is not None
        said.append(worker.stdout.readline())  # it is at work
        time.sleep(rng.uniform(0.0, 0.03))
        worker.send_signal(signal.SIGKILL)
        said += worker.stdout.readlines()
        worker.wait(timeout=60)
        worker.stdout.close()
    lines = [line.split() for line in said if line.endswith("\n")]
    with wf.Study("alloy", store=path) as study:
        events = study._journal.events
        assert [event.number for event in events] == list(range(len(events)))
        told = [event.request for event in events if event.kind == "told"]
        asked = [event.contents["id"] for event in events if event.kind == "asked"]
        assert len(told) == len(set(told))
        assert asked == list(range(len(asked)))
        assert {request for kind, request in lines if kind == "told"} <= set(told)
        assert {int(number) for kind, number in lines if kind == "asked"} <= set(asked)
        assert KILLS < len(told) < len(arms)  # something was going on
        # At most the choice that a worker was at is pending, and it is still his.
        assert len(study.pending) == len(asked) - len(told)
        for worker in {e.worker for e in events if e.kind == "asked"}:
            assert len(study._record.of_worker(worker)) <= 1
        # What comes next is what would have come without any kill.
        bandit = wf.Bandit(arms, "mean", initial=len(arms))
        for event in events[1:]:
            bandit._append(event.kind, dict(event.contents))
        assert study.ask() == bandit.ask()


CROWD = """
import sys
import windfall as wf
study = wf.Study("alloy", store=sys.argv[1])
for turn in range(int(sys.argv[3])):
    choice = study.ask(worker=sys.argv[2])
    study.tell(choice, 1.0)
"""


def test_many_workers_at_once(tmp_path):
    path, workers, turns = tmp_path / "lab.db", 5, 8
    wf.Study("alloy", ARMS, "mean", store=path, initial=len(ARMS)).close()
    crowd = [
        subprocess.Popen([sys.executable, "-c", CROWD, str(path), f"w{n}", str(turns)])
        for n in range(workers)
    ]
    assert [worker.wait(timeout=120) for worker in crowd] == [0] * workers
    with wf.Study("alloy", store=path) as study:
        arms = [arm for arm, _ in study.rewards]
        assert len(arms) == len(set(arms)) == workers * turns  # no choice was handed out twice
        assert study.pending == []
        table = study.history()
        assert table["number"] == list(range(1, 2 * workers * turns + 1))
