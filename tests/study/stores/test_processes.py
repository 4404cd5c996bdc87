"""Stores that several processes open: made by all of them at once, and taken along by a fork."""

import os
import subprocess
import sys
from contextlib import closing

import pytest
from store_kinds import SHARED, address, emptied, opened

CREATOR = """
import sys
from windfall.study.stores import Conflict, open_store
store = open_store(sys.argv[1], create=True)
try:
    store.create("alloy", {"by": sys.argv[2]})
except Conflict:
    pass
store.append(store.list()["alloy"], [("noted", {"text": sys.argv[2]})])
"""
FORK = """
import os, sys
from windfall.study.stores import open_store
store = open_store(sys.argv[1])
child = os.fork()
if child == 0:
    store.append(1, [("noted", {"text": "child"})])
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
store.append(1, [("noted", {"text": "parent"})])
"""


@pytest.mark.parametrize("kind", SHARED)
def test_processes_that_make_a_store_at_once(kind, tmp_path):
    command = [sys.executable, "-c", CREATOR, address(emptied(kind), tmp_path)]
    workers = [subprocess.Popen([*command, str(n)]) for n in range(4)]
    assert [worker.wait(timeout=120) for worker in workers] == [0] * 4
    with closing(opened(kind, tmp_path)) as store:
        events = store.read(store.list()["alloy"])
    assert [event.number for event in events] == list(range(5))
    assert {event.contents["text"] for event in events[1:]} == set("0123")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="POSIX")
@pytest.mark.parametrize("kind", SHARED)
def test_a_forked_process_makes_its_own_connection(kind, tmp_path):
    with closing(opened(emptied(kind), tmp_path)) as store:
        assert store.create("alloy", {}) == 1
        command = [sys.executable, "-c", FORK, address(kind, tmp_path)]
        subprocess.run(command, check=True, timeout=120)
        assert [event.contents["text"] for event in store.read(1, 0)] == ["child", "parent"]
