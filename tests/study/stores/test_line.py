"""Who wants a study to himself waits in a line, which ends with those who stand in it."""

import threading
import time
from contextlib import closing, suppress

import psycopg
import pytest
from store_kinds import SHARED, emptied, opened, server

from windfall.study.stores import line


def others_wait(kind: str) -> bool:
    """Whether somebody stands behind the first in a line."""
    if kind == "sqlite":
        return any(thread.name == "windfall-line" for thread in threading.enumerate())
    with psycopg.connect(server().url(), autocommit=True) as db:
        return db.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchone() is not None


def until(holds) -> None:
    last = time.monotonic() + 60.0
    while not holds():
        assert time.monotonic() < last
        time.sleep(0.005)


@pytest.mark.parametrize("kind", SHARED)
def test_one_goes_on_when_the_one_before_is_done(kind, tmp_path):
    emptied(kind)
    with closing(opened(kind, tmp_path)) as one:
        key, elsewhere = one.create("alloy", {}), one.create("glass", {})
        saw: list[bool] = []

        def follow() -> None:
            with closing(opened(kind, tmp_path)) as other, other.line(key, 60.0) as crowded:
                saw.append(crowded)

        thread = threading.Thread(target=follow)
        with suppress(KeyError), one.line(key, 60.0) as crowded:
            thread.start()
            until(lambda: others_wait(kind))
            assert not crowded
            assert not saw
            raise KeyError  # a mistake does not keep the others out
        thread.join(60.0)
        assert saw == [True]
        with one.line(key, 60.0) as crowded, one.line(elsewhere, 60.0) as beside:
            assert not crowded
            assert not beside  # another study, another line


def test_threads_that_share_a_connection_do_not_wait(tmp_path):
    """One that waits would keep the others from whatever they do, such as reading."""
    emptied("postgres")
    with closing(opened("postgres", tmp_path)) as one, closing(opened("postgres", tmp_path)) as two:
        key = one.create("alloy", {})
        thread = threading.Thread(target=two.list)
        thread.start()
        thread.join(60.0)
        begin = time.monotonic()
        with one.line(key, 60.0), two.line(key, 60.0) as crowded:
            assert crowded
        assert time.monotonic() - begin < 30.0


def test_who_gave_up_does_not_keep_a_place(tmp_path):
    path = tmp_path / "place"
    with line.in_line(path, 60.0, create=True), line.in_line(path, 0.001) as crowded:
        assert crowded
    until(lambda: not others_wait("sqlite"))
    with line.in_line(path, 60.0) as crowded:
        assert not crowded


def test_where_no_line_can_be_kept_nobody_waits(tmp_path, monkeypatch):
    with line.in_line(tmp_path / "nothing", 60.0) as crowded:
        assert not crowded
    with closing(opened("sqlite", tmp_path)) as store:
        store.path.unlink()
        with store.line(1, 60.0) as crowded:
            assert not crowded
    path = tmp_path / "place"
    with line.in_line(path, 60.0, create=True), monkeypatch.context() as patch:
        patch.setattr(line, "system", None)  # as on Windows
        with line.in_line(path, 60.0) as crowded:
            assert not crowded
