"""A bug of jaxlib 0.10.2 that windfall has to live with, kept in sight.

On the CPU that version computes Σ_i (W xᵀ)_i² wrongly, by factors of up to thousands, as soon as a
small W (3×3, 5×5, 6×6) meets more than 16,384 points inside one compiled program
(https://github.com/jax-ml/jax/issues/39103; 0.10.1 does not). Nothing warns. Windfall therefore
never hands more than 16,384 points to a kernel or a mean function at once
(``models/gp/posterior.py``), and every room compares many points with few (``many_points.py``).
"""

import tomllib
from importlib.metadata import version
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from many_points import uniform
from packaging.requirements import Requirement

VERSION = version("jaxlib")
#: Where the bug was seen; versions that are not here must be right.
AFFECTED = {"0.10.2"}


def relative_error(dimension: int) -> float:
    matrix = np.random.default_rng(1).standard_normal((dimension, dimension))
    with jax.enable_x64(True):
        found = jax.jit(lambda x: jnp.sum((matrix @ x.T) ** 2, axis=0))(uniform(dimension))
        found = np.asarray(found)
    exact = np.sum((matrix @ uniform(dimension).T) ** 2, axis=0)
    return float(np.max(np.abs(found - exact) / exact))


def test_which_jaxlib_sums_squares_wrongly_is_known():
    """Fails if a version thought to be right is wrong: then windfall's users are at risk."""
    worst = max(relative_error(dimension) for dimension in (3, 5, 6))
    if VERSION in AFFECTED:
        if worst > 1e-3:
            pytest.xfail(
                f"jaxlib {VERSION} is wrong by a factor of {worst:.0f}, as known: "
                "windfall keeps to blocks of 16,384 points because of it"
            )
        return  # this processor or instruction set is spared
    assert worst < 1e-9, (
        f"jaxlib {VERSION} has the bug of 0.10.2, by a factor of {worst:.0f}: add it to "
        "AFFECTED and see that the tests of many points pass"
    )


def test_the_workaround_goes_with_the_last_affected_version():
    """Fails on the day when pyproject.toml allows none of them: delete the blocks, and this."""
    pyproject = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    (wanted,) = (
        requirement.specifier
        for requirement in map(Requirement, pyproject["project"]["dependencies"])
        if requirement.name == "jax"
    )
    assert any(wanted.contains(affected) for affected in AFFECTED)
