"""A folder with a small problem."""

from pathlib import Path

import pytest

LOCATIONS = "dose,heat\n0,0\n1,0\n0,2.5\n1,1\n2,2\n0.5,1\n"
READINGS = "20.1,21.4,25.0,22,19,18\n20.3,21.2,24.1,21,20,18\n"


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """Six arms with two features, two snapshots."""
    path = tmp_path / "greenhouse"
    path.mkdir()
    (path / "locations.csv").write_text(LOCATIONS)
    (path / "readings.csv").write_text(READINGS)
    return str(path)
