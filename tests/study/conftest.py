"""Each kind of store, with a clock that a test moves."""

import pytest
from served import serving
from store_kinds import KINDS, emptied, opened

from windfall.study.stores import MemoryStore
from windfall.study.stores.http import HTTPStore


class Clock:
    """A time that passes when a test says so."""

    now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture(params=(*KINDS, "http"))
def store(request, tmp_path, clock):
    """Each kind of store, and a server's."""
    if request.param == "http":
        with serving(MemoryStore(clock), tmp_path) as served:
            store = HTTPStore(served.url, served.admin)
            yield store
            store.close()
    else:
        store = opened(emptied(request.param), tmp_path, clock)
        yield store
        store.close()
