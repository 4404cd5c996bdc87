"""What the tests of stores begin with."""

from contextlib import closing
from pathlib import Path

import pytest

from windfall.study.stores import SQLiteStore


@pytest.fixture
def path(tmp_path) -> Path:
    """A file with one study of one event."""
    with closing(SQLiteStore(tmp_path / "lab.db")) as store:
        store.create("alloy", {"seed": 0})
    return tmp_path / "lab.db"
