"""One file: what it promises beyond the contract."""

import os
import pickle
import subprocess
import sys
from contextlib import closing

import pytest

from windfall.study.stores import Conflict, SQLiteStore


def test_what_is_acknowledged_is_on_the_disk(path):
    with closing(SQLiteStore(path)) as store:
        assert store._db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert store._db.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL
        assert store._db.execute("PRAGMA busy_timeout").fetchone() == (60_000,)


def test_a_lock_does_not_wait_for_the_disk(path):
    """After a power cut it means nothing; what is appended meanwhile does."""
    with closing(SQLiteStore(path)) as store:
        key, waits = store.create("glass", {}), []
        look = store._db.execute

        def clock() -> float:  # it is asked in the midst of a change
            waits.append(look("PRAGMA synchronous").fetchone() == (2,))
            return 0.0

        store._clock = clock
        store.lock(key, "me", 1.0)
        store.append(key, [("noted", {})], holder="me")
        store.unlock(key, "me")
        assert waits == [False, True]
        assert look("PRAGMA synchronous").fetchone() == (2,)


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")
def test_a_lock_ends_with_the_process_of_its_holder(path):
    """A worker that is killed while it has a study to itself holds nobody up."""
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait(timeout=60)
    with closing(SQLiteStore(path)) as store:
        for holder in (f"{os.getpid()}/mine", "1/of somebody else", "who names no process"):
            assert store.lock(1, holder, 1000.0)
            assert not store.lock(1, "another", 1000.0)
            store.unlock(1, holder)
        assert store.lock(1, f"{gone.pid}/theirs", 1000.0)
        assert store.lock(1, "another", 1000.0)


def test_a_store_travels_by_its_path(path, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with closing(SQLiteStore("lab.db")) as store:
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
        with closing(pickle.loads(pickle.dumps(store))) as other:
            assert other.list() == {"alloy": 1}
            with pytest.raises(Conflict):
                other.create("alloy", {})
