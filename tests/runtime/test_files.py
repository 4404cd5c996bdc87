"""A file is written whole or not at all, like any other file of the process."""

import os
import stat
import subprocess
import sys

import pytest

from windfall.runtime.files import write_atomically


def test_an_interrupted_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_atomically(path, b"old")
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_umask_decides_who_may_read_and_is_never_changed(tmp_path, monkeypatch):
    """Reading it means setting it, and another thread's file may be made in between."""
    before = os.umask(0o027)
    try:
        with monkeypatch.context() as patch:
            patch.delattr("os.umask")
            write_atomically(tmp_path / "file", b"data")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640


def test_the_longest_name_that_a_folder_allows_can_be_written(tmp_path):
    path = tmp_path / ("n" * os.pathconf(tmp_path, "PC_NAME_MAX"))
    write_atomically(path, b"data")
    assert path.read_bytes() == b"data"


def test_data_and_name_are_on_disk_in_this_order(tmp_path, monkeypatch):
    """The file before it gets its name, the folder after."""
    steps = []
    fsync, replace = os.fsync, os.replace

    def synced(handle):
        steps.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        fsync(handle)

    def renamed(*names):
        steps.append("name")
        replace(*names)

    monkeypatch.setattr("os.fsync", synced)
    monkeypatch.setattr("os.replace", renamed)
    write_atomically(tmp_path / "file", b"data")
    assert steps == ["file", "name", "folder"]


def test_it_is_light():
    code = "import sys, windfall.runtime.files; print({'numpy', 'jax'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
