"""Real candidate lists: a folder in which every list is a problem.

A list is a folder with ``locations.csv`` and ``readings.csv`` (see ``windfall.problems.own_data``;
a line of readings is one trial), or a file ``NAME.csv`` with one line per arm, a header, and
``payoff`` as its last column (``.CSV`` is as good). Two kinds of files may stand beside it:

``NAME_replicates.csv``
    Every single measurement, in the same columns. A pull draws one of the arm's own at random,
    and their mean is what the arm pays, whatever ``NAME.csv`` says.
``NAME_reference_WHO.csv``
    What somebody else found on the same arms: one line per run and one column per pull, called
    ``1``, ``2``, … or ``payoff_1``, ``reward_1``, ``yield_1``, …; other columns are ignored, and an
    empty cell is a pull that was not made.

Payoffs are standardised over all arms (and lines) to mean 0 and deviation 1.
"""

import glob
import os
import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from windfall.errors import InputError
from windfall.problems.csv_tables import Row, numbers, read_rows
from windfall.problems.datafolder import cannot_read
from windfall.problems.own_data import from_csv
from windfall.problems.problem import Problem, Protocol
from windfall.problems.replicates import padded, replicate_means

__all__ = ["find_lists", "from_folder", "from_list"]

#: Of a reward, in deviations of the payoffs, where nobody measured anything twice.
NOISE = 0.05
#: 60 decisions after three arms at random.
PROTOCOL = Protocol(rounds=61, trials=24, initial=3, kappa=1.0, components=2)
#: How far a replicate's feature may be from its arm's, as a share of the feature's largest value:
#: tables are rounded to eight digits or so.
ROUNDING = 1e-6
PULL = re.compile(r"(?:(?:payoff|reward|yield)_)?(\d+)", re.IGNORECASE)


def find_lists(folder: str | os.PathLike[str]) -> dict[str, Path]:
    """Every list in a folder by name, in alphabetical order.

    Files without a last column ``payoff`` are something else and left out.
    """
    folder = Path(folder)
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        raise InputError(
            f"data folder {str(folder)!r} cannot be read ({error.strerror}); name another one with"
            " data_dir or WINDFALL_DATA"
        ) from error
    return _by_name(filter(_is_list, entries))


def _by_name(tables: Iterable[Path]) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for table in tables:
        name = table.name if os.path.isdir(table) else table.stem
        if name in found:
            raise InputError(
                f"{table.parent} has two tables called {name!r}; give one another name"
            )
        found[name] = table
    return found


def _is_list(entry: Path) -> bool:
    if os.path.isdir(entry):  # unlike its own is_dir() it never raises
        return all(os.path.isfile(entry / name) for name in ("locations.csv", "readings.csv"))
    if entry.suffix.lower() != ".csv" or _companion(entry.stem):
        return False
    try:
        with open(entry, encoding="utf-8-sig", errors="replace") as file:
            first = file.readline()
    except OSError as error:
        raise cannot_read(entry, error) from error
    return bool(re.search(r"""[,;]\s*"?payoff"?\s*$""", first, re.IGNORECASE))


def _companion(stem: str) -> bool:
    return stem.endswith("_replicates") or "_reference_" in stem


def _beside(path: Path, rest: str) -> dict[str, Path]:
    """The tables beside a list whose names are the list's and ``rest``, a pattern, in order."""
    return _by_name(sorted(path.parent.glob(f"{glob.escape(path.stem)}{rest}.[cC][sS][vV]")))


def from_folder(folder: str | os.PathLike[str]) -> Problem:
    """The problem whose ``locations.csv`` and ``readings.csv`` are in the folder, and its name."""
    folder = Path(folder)
    tables = folder / "locations.csv", folder / "readings.csv"
    name = os.path.basename(os.path.abspath(folder))  # as it is called here, where it is a link
    return from_csv(*tables, noise=NOISE, name=name, protocol=PROTOCOL)


def from_list(path: str | os.PathLike[str]) -> Problem:
    r"""The problem of a file with features and a last column ``payoff``.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "alloys.csv"
    >>> _ = path.write_text("copper,tin,payoff\n0.9,0.1,3\n0.8,0.2,9\n0.7,0.3,3\n")
    >>> problem = from_list(path)
    >>> problem.name, problem.feature_names, problem.optimal_arm(0), problem.noise
    ('alloys', ('copper', 'tin'), 1, 0.05)
    """
    path = Path(path)
    header, rows, table = _read_table(path)
    arms, payoff = table[:, :-1], table[:, -1]
    groups = _read_replicates(path, header, rows, arms)
    if groups is not None:
        payoff = replicate_means(groups)
    shift, scale = payoff.mean(), payoff.std() if np.ptp(payoff) > 0 else 1.0
    references = {who: (runs - shift) / scale for who, runs in _read_references(path).items()}
    pays = (
        {"payoff": (payoff - shift) / scale, "noise": NOISE}
        if groups is None
        else {"replicates": (groups - shift) / scale}
    )
    return Problem(
        arms=arms,
        name=path.stem,
        feature_names=header.cells[:-1],
        protocol=PROTOCOL,
        description=_description(path, arms, groups, references),
        references=references,
        **pays,
    )


def _description(path: Path, arms: np.ndarray, groups: np.ndarray | None, references: dict) -> str:
    measured = "" if groups is None else f"{_count(arms, groups)} measurements"
    others = f"reference runs by {', '.join(references)}" if references else ""
    return "; ".join(filter(None, (f"list {path}", measured, others)))


def _count(arms: np.ndarray, groups: np.ndarray) -> int:
    """How many measurements there are: those that equal arms share count once."""
    _, first = np.unique(arms, axis=0, return_index=True)
    return int(np.sum(~np.isnan(groups[first])))


def _read_table(path: Path) -> tuple[Row, list[Row], np.ndarray]:
    """The header, the lines below it, and their numbers, the payoff last."""
    header, *rows = read_rows(path)
    if header.cells[-1].lower() != "payoff" or len(header.cells) < 2:
        raise header.error(f"last column is {header.cells[-1]!r}: expected features, then payoff")
    if len(rows) < 2:
        raise header.error(f"{len(rows)} arms below the header: expected at least 2")
    return header, rows, numbers(rows, 0, len(header.cells))


def _read_replicates(
    path: Path, header: Row, arm_rows: list[Row], arms: np.ndarray
) -> np.ndarray | None:
    """(M, r) measurements filled up with NaN; None if no arm was measured twice.

    Arms with the same features share theirs: nothing tells which of them was measured.
    """
    tables = list(_beside(path, "_replicates").values())
    if not tables:
        return None
    own, rows, table = _read_table(tables[0])
    if own.cells != header.cells:
        raise own.error(f"other columns than in {header.path.name}; expected the same header")
    groups: list[list[float]] = [[] for _ in arms]
    scale = np.maximum(np.abs(arms).max(axis=0), np.finfo(float).tiny)
    for row, (*features, value) in zip(rows, table, strict=True):
        distance = np.max(np.abs(arms - features) / scale, axis=1)
        nearest = int(distance.argmin())
        if distance[nearest] > ROUNDING:
            raise row.error(f"no arm of {header.path.name} has these features; add it there")
        for arm in np.flatnonzero((arms == arms[nearest]).all(axis=1)):
            groups[arm].append(value)
    for row, group in zip(arm_rows, groups, strict=True):
        if not group:
            raise row.error(
                f"this arm has no measurement in {own.path.name}; add one or leave it out"
            )
    return padded(groups) if max(map(len, groups)) > 1 else None


def _read_references(path: Path) -> dict[str, np.ndarray]:
    """By name, (runs, pulls) rewards with NaN where a cell is empty."""
    start = f"{path.stem}_reference_"
    files = _beside(path, "_reference_*").items()
    return {name.removeprefix(start): _read_runs(file) for name, file in files}


def _read_runs(path: Path) -> np.ndarray:
    header, *rows = read_rows(path)
    matches = ((PULL.fullmatch(cell), column) for column, cell in enumerate(header.cells))
    columns = [column for _, column in sorted((int(m[1]), column) for m, column in matches if m)]
    if not columns or not rows:
        raise header.error("no runs: expected columns 1, 2, … or payoff_1, payoff_2, …, and lines")
    for row in rows:
        row.expect(len(header.cells))
    rewards = np.array([[_reward(row, column) for column in columns] for row in rows])
    if np.isnan(rewards[:, 0]).all():
        first = header.cells[columns[0]]
        raise header.error(f"column {first!r} is empty; expected a reward of a first pull")
    return rewards


def _reward(row: Row, column: int) -> float:
    return row.number(column) if row.cells[column] else np.nan
