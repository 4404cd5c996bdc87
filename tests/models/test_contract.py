"""Every model keeps the contract."""

import pytest
from models.contract import CHECKS, MODELS


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("model", MODELS, ids=lambda model: repr(model)[-90:])
def test_contract(model, check):
    check(model)
