"""Small sensor data, a file like the authors', and the command line in this process."""

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from windfall.cli import app


@pytest.fixture(scope="session")
def data_dir(tmp_path_factory) -> Path:
    """Nine sensors, four snapshots."""
    folder = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(5)
    readings = 20 + rng.normal(size=(4, 9))
    np.savez(folder / "temperature.npz", locations=rng.uniform(0, 9, (9, 2)), readings=readings)
    return folder


@pytest.fixture(scope="session")
def reference_dir(tmp_path_factory) -> Path:
    """What the authors' file looks like, for some of the runs."""
    folder = tmp_path_factory.mktemp("reference")
    rng = np.random.default_rng(6)
    keys = ["cosine/lw-ucb-gmm2", "cosine/lw-ucb-gmm4", "cosine/ei", "cosine/v-ucb",
            "wheel-0.5/lw-ucb-gmm4", "temperature/lw-ucb-gmm2", "temperature/v-ucb"]  # fmt: skip
    saved = {key: rng.uniform(0.1, 2.0, (5, 8)).astype(np.float32) for key in keys}
    np.savez(folder / "authors_regret.npz", **saved)
    return folder


@pytest.fixture
def windfall():
    """Call ``windfall ARGUMENTS``: gives exit_code, stdout, stderr and exception."""

    def call(*arguments: str):
        return CliRunner().invoke(app, [str(a) for a in arguments], prog_name="windfall")

    return call
