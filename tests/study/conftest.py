"""Each kind of store, with a clock that a test moves."""

import pytest
from store_kinds import KINDS, emptied, opened


class Clock:
    """A time that passes when a test says so."""

    now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture(params=KINDS)
def store(request, tmp_path, clock):
    """Each kind of store."""
    store = opened(emptied(request.param), tmp_path, clock)
    yield store
    store.close()
