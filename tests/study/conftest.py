"""Each kind of store, with a clock that a test moves."""

import pytest
from served import serving

from windfall.study.stores import MemoryStore, SQLiteStore
from windfall.study.stores.http import HTTPStore


class Clock:
    """A time that passes when a test says so."""

    now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture(params=["memory", "sqlite", "http"])
def store(request, tmp_path, clock):
    """Each kind of store."""
    if request.param == "memory":
        yield MemoryStore(clock)
    elif request.param == "http":
        with serving(MemoryStore(clock), tmp_path) as served:
            opened = HTTPStore(served.url, served.admin)
            yield opened
            opened.close()
    else:
        opened = SQLiteStore(tmp_path / "lab.db", clock=clock)
        yield opened
        opened.close()
