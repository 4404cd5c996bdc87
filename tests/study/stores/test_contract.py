"""Every store keeps what all of them promise."""

import pytest
from store_kinds import KINDS, emptied, opened

from windfall.testing import StoreContract


class TestStores(StoreContract):
    @pytest.fixture(autouse=True, params=KINDS)
    def _kind(self, request):
        self.kind, self.kept = emptied(request.param), None

    def open(self, folder, clock):
        if self.kind != "memory":
            return opened(self.kind, folder, clock)
        self.kept = self.kept or opened(self.kind, folder, clock)  # its own only handle
        return self.kept
