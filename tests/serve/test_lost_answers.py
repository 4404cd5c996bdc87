"""Answers that are lost, and a server that is killed: nothing is lost or doubled."""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections import Counter
from contextlib import closing

import numpy as np
import pytest
from bad_network import proxy

import windfall as wf
from windfall.errors import InputError
from windfall.serve.tokens import Tokens
from windfall.study.stores import Conflict
from windfall.study.stores.http import HTTPStore

ARMS = np.linspace(0.0, 1.0, 2000)[:, None]  # initial choices need no model


def test_through_a_bad_network_nothing_is_lost_or_doubled(served):
    workers, turns = 4, 9
    with proxy(lambda: served.port) as (port, counts):
        url = f"http://127.0.0.1:{port}"
        made = wf.Study("alloy", ARMS, "mean", store=url, token=served.admin, initial=len(ARMS))

        def work(worker: int) -> None:
            with wf.Study("alloy", store=url, token=served.admin) as study:
                for turn in range(turns):
                    # The last of the three ways to ask is the one that could hand out twice.
                    whom = [{"worker": f"w{worker}"}, {"request": f"{worker}/{turn}"}, {}][turn % 3]
                    choice = study.ask(1, **whom)[0]
                    study.tell(choice, 100.0 * worker + turn)

        threads = [threading.Thread(target=work, args=(w,)) for w in range(workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        made.note("all is well")
        events = made._journal.events
        made.close()
    assert min(counts["lost"], counts["late"]) > 10
    kinds = Counter(event.kind for event in events)
    assert kinds == {
        "created": 1, "asked": workers * turns, "told": workers * turns, "noted": 1
    }  # fmt: skip
    told = sorted(event.contents["reward"] for event in events if event.kind == "told")
    assert told == sorted(100.0 * w + t for w in range(workers) for t in range(turns))
    points = [event.contents["point"] for event in events if event.kind == "asked"]
    assert len(set(points)) == len(points)
    assert [event.request for event in events if event.kind == "told"] == [None] * len(told)


def test_every_call_of_a_store_may_be_repeated(served):
    """Every second answer is lost: each call is made twice, or more often."""
    with proxy(lambda: served.port, drop=2) as (port, _):
        store = HTTPStore(f"http://127.0.0.1:{port}", served.admin)
        basis = {"seed": 0, "space": {"type": "Box", "lower": [0.0], "upper": [1.0]}}
        keys = [store.create(f"study {n}", basis) for n in range(4)]
        assert len(set(keys)) == 4
        for n in range(4):
            [event] = store.append(keys[0], [("noted", {"n": n})], after=n)
            assert (event.number, event.request) == (n + 1, None)
            [event] = store.append(keys[1], [("noted", {"n": n})], request=f"r{n}")
            assert (event.number, event.request) == (n + 1, f"r{n}")
        with pytest.raises(Conflict):
            store.append(keys[1], [("noted", {"n": 77})], request="r1")
        assert [len(store.read(key)) for key in keys] == [5, 5, 1, 1]
        for n, key in enumerate(keys):
            store.rename(key, f"renamed {n}")
            assert store.lock(key, "me", 10.0)
            store.unlock(key, "me")
        for key in keys[1:]:
            store.delete(key)
        assert store.list() == {"renamed 0": keys[0]}
        with pytest.raises(Conflict):
            store.create("renamed 0", {"seed": 1})
        with pytest.raises(InputError, match="expected one that was not deleted"):
            store.read(keys[1])
        store.close()


@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")
def test_a_server_that_is_killed_in_the_midst_of_asks(tmp_path):
    """It is started again on the same file and port; those who ask wait, and go on."""
    kills, workers, turns = 2, 3, 9
    with closing(Tokens(tmp_path / "lab.db.tokens")) as tokens:
        token = tokens.add("ovens", "write")
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    wf.Study("alloy", ARMS, "mean", store=tmp_path / "lab.db", initial=len(ARMS)).close()

    def start() -> subprocess.Popen:
        command = [sys.executable, "-m", "windfall", "serve", "--store", "lab.db", "--port", port]
        return subprocess.Popen(
            [*map(str, command)], cwd=tmp_path,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    asked: list[int] = []
    errors: list[Exception] = []

    def work(worker: int) -> None:
        try:
            with wf.Study("alloy", store=f"http://127.0.0.1:{port}", token=token) as study:
                for turn in range(turns):
                    choice = study.ask(1)[0]
                    asked.append(choice.id)
                    study.tell(choice, 100.0 * worker + turn)
        except Exception as error:
            errors.append(error)

    server = start()
    threads = [threading.Thread(target=work, args=(w,)) for w in range(workers)]
    for thread in threads:
        thread.start()
    try:
        for kill in range(1, kills + 1):
            while len(asked) < kill * workers * turns // (kills + 1) and not errors:
                threads[0].join(0.002)
            server.send_signal(signal.SIGKILL)
            server.wait(60)
            server = start()
        for thread in threads:
            thread.join()
    finally:
        server.kill()
        server.wait(60)
    assert errors == []
    with wf.Study("alloy", store=tmp_path / "lab.db") as study:
        assert sorted(r for _, r in study.rewards) == sorted(
            100.0 * w + t for w in range(workers) for t in range(turns)
        )
        handed_out = [e.contents["id"] for e in study._journal.events if e.kind == "asked"]
        assert handed_out == sorted(asked)
        assert study.pending == []
