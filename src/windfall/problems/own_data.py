"""Anybody's own sensors: ``locations.csv`` and ``readings.csv``.

``locations.csv`` has one line per arm and one column per feature; ``readings.csv`` one line per
snapshot and one column per arm, in the order of the locations. Cells are parted by commas, or by
semicolons (numbers may then have a decimal comma). A first line without any number is a header;
that of the locations names the features.

Two first columns have a meaning. ``arm`` in the locations labels the arms; the header of the
readings must then have the same labels, in any order. ``time`` in the readings is ignored.
"""

import os
from pathlib import Path

import numpy as np

from windfall.problems.csv_tables import Row, numbers, read_rows
from windfall.problems.problem import Problem, Protocol
from windfall.problems.synthetic import standardise as standardised

__all__ = ["from_csv"]

KEYWORDS = ("arm", "time")


def from_csv(
    locations: str | os.PathLike[str],
    readings: str | os.PathLike[str],
    noise: float = 1e-4,
    name: str = "custom",
    standardise: bool = True,
    protocol: Protocol | None = None,
) -> Problem:
    r"""A problem with one trial per snapshot, from two tables.

    Args:
        locations: file with one line per arm.
        readings: file with one line per snapshot.
        noise: standard deviation of a reward, in the units of the payoffs.
        name: what tables and figures call the problem.
        standardise: whether payoffs are the readings shifted and scaled, all together, to mean 0
            and deviation 1 (as in the sensor problems), or the readings themselves.
        protocol: settings of the experiment; by default 50 rounds and one trial per snapshot.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "locations.csv").write_text("x,y\n0,0\n1,0\n0,2\n")
    >>> _ = (folder / "readings.csv").write_text("20,21,25\n22,20,21\n")
    >>> problem = from_csv(
    ...     folder / "locations.csv", folder / "readings.csv", noise=0.1, standardise=False
    ... )
    >>> problem.snapshots, problem.optimal_arm(0), problem.optimum(1)
    (2, 2, 22.0)
    """
    arms, features, labels = _read_locations(Path(locations))
    values = _read_readings(Path(readings), labels, len(arms))
    return Problem(
        arms=arms,
        payoff=standardised(values) if standardise else values,
        noise=noise,
        name=name,
        feature_names=features,
        protocol=protocol or Protocol(rounds=50, trials=len(values), kappa=1.0, components=2),
        description=f"readings of {readings}",
    )


def _split_header(rows: list[Row], required: bool = False) -> tuple[list[str], list[Row]]:
    """The header's cells (none if there is no header), and the lines below it.

    A first line in which only some cells are numbers is no header but a faulty line, unless its
    first cell says otherwise: taking it for a header would lose a line of data without a word.
    """
    first = rows[0]
    numeric = [first.is_number(column) for column in range(len(first.cells))]
    if not (required or first.cells[0].lower() in KEYWORDS or not any(numeric)):
        return [], rows
    if len(rows) == 1:
        raise first.error("nothing below the header; expected lines of numbers")
    return first.cells, rows[1:]


def _read_locations(path: Path) -> tuple[np.ndarray, tuple[str, ...], list[str] | None]:
    """The features of the arms, the features' names, and the arms' labels if they have any."""
    header, rows = _split_header(read_rows(path))
    labelled = bool(header) and header[0].lower() == "arm"
    arms = numbers(rows, int(labelled), len(header) or len(rows[0].cells))
    if len(arms) < 2 or arms.shape[1] < 1:
        raise rows[-1].error(
            f"{len(arms)} arms with {arms.shape[1]} features in the file;"
            " expected at least 2 arms with at least 1 feature"
        )
    return arms, tuple(header[int(labelled) :]), _labels(rows) if labelled else None


def _labels(rows: list[Row]) -> list[str]:
    labels: list[str] = []
    for row in rows:
        if row.cells[0] in labels:
            raise row.error(f"arm {row.cells[0]!r} stands there twice; give it another label")
        labels.append(row.cells[0])
    return labels


def _read_readings(path: Path, labels: list[str] | None, arms: int) -> np.ndarray:
    rows = read_rows(path)
    first = rows[0]
    header, rows = _split_header(rows, required=labels is not None)
    timed = bool(header) and header[0].lower() == "time"
    width = len(first.cells)
    if width - timed != arms:
        raise first.error(f"{width - timed} readings in a line; expected {arms}, one per arm")
    columns = header[int(timed) :]
    if labels is not None and sorted(columns) != sorted(labels):
        wrong = next((c for c in columns if c not in labels or columns.count(c) > 1), "")
        raise first.error(f"column is {wrong!r}; expected every label of the locations once")
    values = numbers(rows, int(timed), width)
    return values if labels is None else values[:, [columns.index(label) for label in labels]]
