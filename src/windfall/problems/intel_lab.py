"""The Intel Berkeley lab's raw readings: ``data.txt`` (or ``data.txt.gz``) and ``mote_locs.txt``.

A line of ``data.txt`` is ``date time epoch moteid temperature humidity light voltage``, parted by
single spaces, in no particular order of time. A line of ``mote_locs.txt`` is ``moteid x y``, in
metres.

From about two million lines to a table of snapshots, in this order:

1. A line that lacks one of its eight fields, or whose time, mote, temperature or voltage cannot be
   read, is malformed: skipped and counted. More than a tenth of all lines: an error. (An empty
   humidity or light does no harm.)
2. A reading is faulty, and left out, if its temperature is outside 0 to 50 °C, its battery below
   2.3 V (a mote that runs out of power goes on sending, and sends nonsense), or its mote not in
   ``mote_locs.txt``.
3. The temperature of a mote in a snapshot is the median of its readings in those ten minutes.
4. Snapshots start with the first in which at least half of the motes report, and end six days
   (864 snapshots) later.
5. A snapshot in which fewer than half of the motes report is dropped; then a mote that reports in
   fewer than 80 % of the remaining snapshots.
6. The gaps left are filled by linear interpolation in time between the same mote's medians, and at
   the ends by the nearest one.
"""

import gzip
import zlib
from array import array
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np

from windfall.errors import InputError
from windfall.problems.csv_tables import parse_number, read_text
from windfall.problems.datafolder import cannot_read
from windfall.problems.network import Network

__all__ = ["read_intel_lab"]

MALFORMED_LIMIT = 0.1
TEMPERATURES = (0.0, 50.0)
LOWEST_VOLTAGE = 2.3
SNAPSHOT_SECONDS = 600
WINDOW = 864
NETWORK_SHARE = 0.5
MOTE_SHARE = 0.8


class Readings(NamedTuple):
    """Sound readings, one entry each: ten-minute interval, place of the mote, temperature."""

    interval: np.ndarray
    mote: np.ndarray
    temperature: np.ndarray
    lines: int
    malformed: int


def read_intel_lab(data: Path, mote_locations: Path) -> Network:
    """The temperature snapshots of the lab, cleaned as the top of this file says."""
    places = _read_places(mote_locations)
    codes = list(places)
    readings = _read_readings(data, {code: place for place, code in enumerate(codes)})
    intervals, table = _snapshot_table(readings, len(codes), data)
    kept_motes, table = _fill_or_drop(intervals, table, data)
    return Network(
        locations=np.array([places[codes[mote]] for mote in kept_motes]),
        readings=table,
        note=f"{readings.malformed} of {readings.lines} lines malformed;"
        f" {len(codes) - len(kept_motes)} of {len(codes)} motes dropped",
    )


def _read_places(path: Path) -> dict[int, tuple[float, float]]:
    places: dict[int, tuple[float, float]] = {}
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        code, x, y = _read_place(line, f"{path}:{number}")
        if code in places:
            raise InputError(f"{path}:{number}: mote {code} stands there twice; keep one line")
        places[code] = (x, y)
    if len(places) < 2:
        raise InputError(f"{path}:1: {len(places)} motes; expected a line 'mote x y' for 2 or more")
    return places


def _read_place(line: str, where: str) -> tuple[int, float, float]:
    fields = line.split()
    if len(fields) == 3 and fields[0].isdecimal():
        x, y = parse_number(fields[1]), parse_number(fields[2])
        if x is not None and y is not None:
            return int(fields[0]), x, y
    raise InputError(f"{where}: {line.strip()[:40]!r}; expected a mote's number, x and y")


class _Intervals(dict[bytes, int]):
    """``b"2004-02-28 00:5"``, the first 15 characters of a line, to its ten-minute interval."""

    def __missing__(self, key: bytes) -> int:
        moment = datetime.strptime(key.decode() + "0", "%Y-%m-%d %H:%M")
        seconds = (moment - datetime(1970, 1, 1)).total_seconds()
        self[key] = interval = int(seconds) // SNAPSHOT_SECONDS
        return interval


def _lines(path: Path) -> Iterator[bytes]:
    opened = gzip.open if path.suffix == ".gz" else open
    number = 0
    try:
        with opened(path, "rb") as file:
            for line in file:
                number += 1
                yield line
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{path}:{number + 1}: {error}; get the file again") from error
    except OSError as error:
        raise cannot_read(path, error) from error


def _read_readings(path: Path, place_of: dict[int, int]) -> Readings:
    """The sound readings: one pass, with as little work on a line as possible."""
    coldest, hottest = TEMPERATURES
    intervals = _Intervals()
    interval, mote, temperature = array("q"), array("q"), array("d")
    lines = malformed = first_malformed = 0
    for lines, line in enumerate(_lines(path), start=1):
        try:
            _, _, _, code, degrees, _, _, voltage = line.rstrip().split(b" ")
            when, place = intervals[line[:15]], place_of.get(int(code))
            value, battery = float(degrees), float(voltage)
        except ValueError:
            malformed += 1
            first_malformed = first_malformed or lines
            continue
        if place is not None and coldest <= value <= hottest and battery >= LOWEST_VOLTAGE:
            interval.append(when)
            mote.append(place)
            temperature.append(value)
    if malformed > MALFORMED_LIMIT * lines:
        raise InputError(
            f"{path}:{first_malformed}: the first of {malformed} malformed lines of {lines};"
            " expected 'date time epoch moteid temperature humidity light voltage'"
        )
    return Readings(np.array(interval), np.array(mote), np.array(temperature), lines, malformed)


def _snapshot_table(readings: Readings, motes: int, path: Path) -> tuple[np.ndarray, np.ndarray]:
    """The window's intervals, and the (intervals, motes) medians, NaN where a mote is silent."""
    intervals, index = np.unique(readings.interval, return_inverse=True)
    reporting = np.bincount(np.unique(index * motes + readings.mote) // motes)
    awake = intervals[reporting >= NETWORK_SHARE * motes]
    if not len(awake):
        raise InputError(
            f"{path}: in no ten minutes do half of the {motes} motes give a sound reading;"
            " get the file again, or leave silent motes out of mote_locs.txt"
        )
    window = intervals[(intervals >= awake[0]) & (intervals < awake[0] + WINDOW)]
    inside = (readings.interval >= window[0]) & (readings.interval <= window[-1])
    row = np.searchsorted(window, readings.interval[inside])
    cell = row * motes + readings.mote[inside]
    table = np.full(len(window) * motes, np.nan)
    cells, medians = _medians(cell, readings.temperature[inside])
    table[cells] = medians
    return window, table.reshape(len(window), motes)


def _medians(group: np.ndarray, value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The groups, and the median value of each."""
    order = np.lexsort((value, group))
    groups, first, count = np.unique(group[order], return_index=True, return_counts=True)
    value = value[order]
    return groups, (value[first + (count - 1) // 2] + value[first + count // 2]) / 2


def _fill_or_drop(
    intervals: np.ndarray, table: np.ndarray, path: Path
) -> tuple[np.ndarray, np.ndarray]:
    """The motes kept, and their readings without gaps."""
    awake = np.isfinite(table).mean(axis=1) >= NETWORK_SHARE
    intervals, table = intervals[awake], table[awake]
    motes = np.flatnonzero(np.isfinite(table).mean(axis=0) >= MOTE_SHARE)
    if len(motes) < 2:
        raise InputError(
            f"{path}: {len(motes)} motes report in {MOTE_SHARE:.0%} of the snapshots;"
            " expected 2 or more: get the file again"
        )
    filled = table[:, motes]
    for column in filled.T:
        known = np.isfinite(column)
        column[:] = np.interp(intervals, intervals[known], column[known])
    return motes, filled
