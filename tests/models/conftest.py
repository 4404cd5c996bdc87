"""The model computes in double precision, inside a scope that the caller opens."""

import jax
import pytest


@pytest.fixture(autouse=True)
def _double_precision():
    with jax.enable_x64(True):
        yield
