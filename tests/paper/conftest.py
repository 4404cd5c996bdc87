"""Small sensor data and a file like the authors'."""

from pathlib import Path

import numpy as np
import pytest


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
