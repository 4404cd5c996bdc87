"""Everything here computes in double precision, as windfall itself does."""

import jax
import pytest


@pytest.fixture(autouse=True, scope="module")
def double_precision():
    with jax.enable_x64(True):
        yield
