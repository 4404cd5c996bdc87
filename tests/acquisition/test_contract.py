"""Every acquisition keeps the contract."""

import pytest
from acquisition.contract import CHECKS, EACH


@EACH
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_contract(acquisition, check):
    check(acquisition)
