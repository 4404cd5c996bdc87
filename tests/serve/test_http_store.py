"""A server as a store: all that stores promise, also when answers are lost."""

import pytest
from served import serving

from windfall.study.stores import SQLiteStore
from windfall.study.stores.http import HTTPStore
from windfall.testing import StoreContract


class TestHTTPStore(StoreContract):
    """The clock of the server is that of the store which was opened last, as for a file."""

    @pytest.fixture(autouse=True)
    def _served(self, tmp_path):
        self.clock = lambda: 0.0
        self.opened = []
        store = SQLiteStore(tmp_path / "studies.db", clock=lambda: self.clock())
        with serving(store, tmp_path) as self.served:
            yield
            for opened in self.opened:
                opened.close()
        store.close()

    def open(self, folder, clock):
        self.clock = clock
        self.opened.append(HTTPStore(self.served.url, self.served.admin))
        return self.opened[-1]
