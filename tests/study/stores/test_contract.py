"""Every store keeps what all of them promise."""

import pytest

from windfall.study.stores import MemoryStore, SQLiteStore
from windfall.testing import StoreContract


class TestMemoryStore(StoreContract):
    @pytest.fixture(autouse=True)
    def _kept(self):
        self.kept = None

    def open(self, folder, clock):
        """It is its own only handle."""
        self.kept = self.kept or MemoryStore(clock)
        return self.kept


class TestSQLiteStore(StoreContract):
    def open(self, folder, clock):
        return SQLiteStore(folder / "studies.db", clock=clock)
