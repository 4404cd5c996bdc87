"""Every model keeps the contract."""

import pytest
from models.contract import CHECKS, MODELS


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", MODELS)
def test_contract(name, check):
    check(MODELS[name])
