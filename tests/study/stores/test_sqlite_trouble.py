"""One file: what is said when something is wrong with it, and what is not lost by it."""

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from windfall.errors import InputError
from windfall.study.stores import SQLiteStore, mounts, open_store, schema

DATA = Path(__file__).parents[1] / "data"


def said(call) -> str:
    with pytest.raises(InputError) as caught:
        call()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_full_disk_leaves_nothing_half_written(path):
    with closing(SQLiteStore(path)) as store:
        (pages,) = store._db.execute("PRAGMA page_count").fetchone()
        store._db.execute(f"PRAGMA max_page_count = {pages}")
        drafts = [("noted", {"text": "x" * 3000})] * 3
        message = said(lambda: store.append(1, drafts))
        assert message == (
            f"store {str(path)!r} cannot be written, the disk is full; free some space and repeat "
            "the call: nothing was written"
        )
        assert len(store.read(1)) == 1
        store._db.execute(f"PRAGMA max_page_count = {pages + 100}")
        assert [event.number for event in store.append(1, drafts)] == [1, 2, 3]


@pytest.fixture
def tiny(tmp_path):
    """A disk of 256 KiB."""
    place = tmp_path / "tiny"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(place)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("only root may mount a small disk, and not everywhere")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_disk_that_is_really_full(tiny):
    """Whatever was acknowledged is there, the rest is not; with more room it goes on."""
    (tiny / "ballast").write_bytes(bytes(64 * 1024))
    drafts = [("noted", {"text": "x" * 3000})] * 3
    with closing(SQLiteStore(tiny / "lab.db")) as store:
        key, taken = store.create("alloy", {}), 1

        def fill():
            nonlocal taken
            while True:
                taken += len(store.append(key, drafts))

        assert "the disk is full; free some space and repeat the call" in said(fill)
        assert len(store.read(key)) == taken > 1
        with closing(SQLiteStore(tiny / "lab.db")) as other:
            assert len(other.read(key)) == taken
        (tiny / "ballast").unlink()
        store.append(key, drafts)
        assert len(store.read(key)) == taken + 3


@pytest.mark.skipif(sys.platform == "win32", reason="limits are POSIX")
def test_a_quota_that_is_used_up(path):
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with closing(SQLiteStore(path)) as store:
        drafts = [("noted", {"text": "x" * 30_000})] * 3
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, before[1]))
        try:
            message = said(lambda: store.append(1, drafts))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert message.endswith(
            "cannot be read or written, the disk fails or a quota is used up; check both and "
            "repeat the call: nothing was written"
        )
        assert len(store.read(1)) == 1
        store.append(1, drafts)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("server:/export MOUNT nfs4 rw,relatime 0 0", "nfs4"),
        ("//server/lab MOUNT cifs rw 0 0", "cifs"),
        ("me@server: MOUNT fuse.sshfs rw 0 0", "fuse.sshfs"),
        ("/dev/sdb1 MOUNT ext4 rw 0 0", None),
        ("server:/export MOUNTED-elsewhere nfs rw 0 0", None),
        ("server:/export MOUNT nfs rw 0 0\n/dev/sdb1 MOUNT ext4 rw 0 0", None),
        ("/dev/sdb1 MOUNT ext4 rw 0 0\nserver:/export MOUNT/a\\040b nfs rw 0 0", None),
    ],
)
def test_a_file_on_a_network_mount(tmp_path, monkeypatch, line, kind):
    table = tmp_path / "mounts"
    table.write_text("/dev/sda1 / ext4 rw 0 0\n" + line.replace("MOUNT", str(tmp_path)) + "\n")
    monkeypatch.setattr(mounts, "MOUNTS", table)
    assert mounts.network_type(tmp_path / "lab.db") == kind
    if kind is None:
        SQLiteStore(tmp_path / "lab.db").close()
    else:
        message = said(lambda: SQLiteStore(tmp_path / "lab.db"))
        assert f"is on a network mount ({kind}), where a file may be damaged; move it" in message
        assert not (tmp_path / "lab.db").exists()
    nested = "\\040" in line
    assert mounts.network_type(tmp_path / "a b" / "lab.db") == ("nfs" if nested else kind)


def test_where_nobody_says_what_is_mounted(tmp_path, monkeypatch):
    monkeypatch.setattr(mounts, "MOUNTS", tmp_path / "nowhere")
    assert mounts.network_type(tmp_path / "lab.db") is None


def test_a_file_that_cannot_be_written_can_be_read(path):
    with closing(SQLiteStore(path)) as store:
        store._db.execute("PRAGMA query_only = 1")  # root may write to every file
        message = said(lambda: store.append(1, [("noted", {})]))
        assert message == (
            f"store {str(path)!r} is read-only; change its permissions, or copy it and work on the "
            "copy"
        )
        assert len(store.read(1)) == 1


@pytest.fixture
def _nobody(path):
    """Root may write to every file: what follows is done as somebody else."""
    if os.name != "posix":
        pytest.skip("permissions are POSIX")
    if os.geteuid() != 0:
        yield
        return
    for folder in (path.parent, *path.parent.parents):
        if not folder.stat().st_mode & 0o001:
            folder.chmod(folder.stat().st_mode | 0o011)
    path.parent.chmod(0o777)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.usefixtures("_nobody")
def test_a_file_without_permission(path):
    if os.getuid() != 0:  # else nobody is, for now
        path.chmod(0o400)
    with closing(SQLiteStore(path)) as store:
        assert "is read-only; change its permissions" in said(lambda: store.create("glass", {}))
        assert len(store.read(1)) == 1


def test_a_damaged_file(path):
    with closing(SQLiteStore(path)) as store:
        for _ in range(50):
            store.append(1, [("noted", {"text": "x" * 1000})])
    content = bytearray(path.read_bytes())
    content[4096:] = bytes(reversed(content[4096:]))
    path.write_bytes(content)
    assert "is damaged; restore it from a backup" in said(lambda: SQLiteStore(path).read(1))


def test_an_event_that_is_damaged(path):
    with closing(SQLiteStore(path)) as store:
        store._db.execute("UPDATE events SET contents = '{'")
        assert "is damaged (Expecting property name" in said(lambda: store.read(1))


@pytest.mark.parametrize("content", [b"dose,heat\n1,2\n" * 99, b"{}", b"SQLite format 2\0" * 99])
def test_a_file_that_is_no_database(tmp_path, content):
    (tmp_path / "arms.csv").write_bytes(content)
    message = said(lambda: SQLiteStore(tmp_path / "arms.csv"))
    assert message.endswith("is no database; expected a file that windfall made")
    assert (tmp_path / "arms.csv").read_bytes() == content


def test_a_database_of_something_else(tmp_path):
    with closing(sqlite3.connect(tmp_path / "other.db")) as db:
        db.execute("CREATE TABLE studies (a)")
    content = (tmp_path / "other.db").read_bytes()
    message = said(lambda: SQLiteStore(tmp_path / "other.db"))
    assert message.endswith("is a database of something else; expected a file that windfall made")
    assert (tmp_path / "other.db").read_bytes() == content


def test_a_store_of_a_newer_version(path):
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE windfall SET version = 9")
    assert said(lambda: SQLiteStore(path)).endswith(
        f"has version 9; expected at most {len(schema.MIGRATIONS)}: it was made by a newer "
        "windfall, install that"
    )


def test_a_folder_or_a_file_that_is_not_there(tmp_path):
    assert "cannot be opened; expected a file" in said(lambda: SQLiteStore(tmp_path))
    assert "cannot be opened; expected a file" in said(lambda: SQLiteStore(tmp_path / "a" / "b.db"))
    assert said(lambda: open_store(tmp_path / "typo.db")).endswith(
        "does not exist; expected a file with studies"
    )
    assert not list(tmp_path.iterdir())


def test_a_file_that_is_busy_for_too_long(path, monkeypatch):
    monkeypatch.setattr(schema, "PATIENCE", 0.05)
    with closing(SQLiteStore(path)) as one, closing(SQLiteStore(path)) as other:
        one._db.execute("BEGIN IMMEDIATE")
        assert "is busy for more than" in said(lambda: other.append(1, [("noted", {})]))
        assert len(other.read(1)) == 1  # reading waits for nobody
        one._db.execute("ROLLBACK")
        other.append(1, [("noted", {})])


@pytest.mark.parametrize("store", [None, 3, b"lab.db", "", ":memory:", "ftp://lab", ["lab.db"]])
def test_what_is_no_store(store):
    assert "expected a file such as 'windfall.db', postgresql://…" in said(
        lambda: open_store(store)
    )


@pytest.mark.parametrize("version", range(1, len(schema.MIGRATIONS) + 1))
def test_files_of_every_version_open(tmp_path, version):
    with closing(sqlite3.connect(tmp_path / "old.db")) as db:
        db.executescript((DATA / f"store-{version}.sql").read_text())
    with closing(SQLiteStore(tmp_path / "old.db")) as store:
        assert store.list() == {"alloy": 1}
        kinds = [event.kind for event in store.read(1)]
        assert kinds == ["created", "asked", "told", "noted"]
        assert store._db.execute("SELECT version FROM windfall").fetchone() == (
            len(schema.MIGRATIONS),
        )


def test_migrations_are_made_once_and_whole(path, monkeypatch):
    newer = [*schema.MIGRATIONS, ("CREATE TABLE more (a)", "INSERT INTO more VALUES (1)")]
    broken = [*newer, ("CREATE TABLE last (a)", "INSERT INTO nowhere VALUES (1)")]
    monkeypatch.setattr(schema, "MIGRATIONS", broken)
    assert "no such table: nowhere" in said(lambda: SQLiteStore(path))
    monkeypatch.setattr(schema, "MIGRATIONS", newer)
    for _ in range(2):
        with closing(SQLiteStore(path)) as store:
            assert len(store.read(1)) == 1
            assert store._db.execute("SELECT a FROM more").fetchall() == [(1,)]
            assert store._db.execute("SELECT version FROM windfall").fetchone() == (len(newer),)
            tables = {name for (name,) in store._db.execute("SELECT name FROM sqlite_master")}
            assert "last" not in tables
