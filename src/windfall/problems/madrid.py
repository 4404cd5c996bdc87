"""Madrid's hourly air-quality files and the table of its stations, as datos.madrid.es has them.

Readings: one line per station, pollutant and day, with the columns ``ESTACION``, ``MAGNITUD``,
``ANO``, ``MES``, ``DIA``, ``H01``, ``V01`` .. ``H24``, ``V24``; others are ignored. ``H07`` is the
value of the seventh hour and counts only if its flag ``V07`` is ``V``. Pollutant (magnitude) 8 is
NO₂, µg/m³. Several files, for instance a month each, are joined.

Stations: ``CODIGO_CORTO`` or ``CODIGO``, ``LONGITUD``, ``LATITUD`` (decimal degrees) and
``ALTITUD`` (metres); others are ignored. Of a code such as 28079004 the last three digits are the
station's number.

Column names may be in upper or lower case, numbers may have a decimal comma, and the text may be
UTF-8 or Latin-1. A line that cannot be read is an error.

A station with valid readings in fewer than 80 % of the hours is dropped; then every hour in which a
remaining station has none. Nothing is filled in. Locations are scaled to [0, 1] per coordinate over
the remaining stations.
"""

from collections.abc import Iterator, Sequence
from datetime import date
from itertools import chain
from pathlib import Path

import numpy as np

from windfall.errors import InputError
from windfall.problems.csv_tables import Row, read_rows
from windfall.problems.network import Network

__all__ = ["read_madrid"]

NO2 = 8
HOURS = range(1, 25)
STATION_SHARE = 0.8

Hour = int  # counted from the day that `date` counts from
Place = tuple[float, float, float]


def read_madrid(readings: Sequence[Path], stations: Path) -> Network:
    """The NO₂ snapshots of the city, cleaned as the top of this file says."""
    places = _read_stations(stations)
    valid: dict[int, dict[Hour, float]] = {}
    seen: dict[tuple[int, Hour], Row] = {}
    for row, station, midnight, hours in chain.from_iterable(map(_no2_days, readings)):
        if station not in places:
            raise row.error(f"station {station} is not in {stations}; add its line there")
        twin = seen.setdefault((station, midnight), row)
        if twin is not row:
            raise row.error(f"same station and day as {twin.path}:{twin.line}; keep one of them")
        valid.setdefault(station, {}).update(hours)
    return _network(valid, places, ", ".join(map(str, readings)))


def _network(valid: dict[int, dict[Hour, float]], places: dict[int, Place], source: str) -> Network:
    """The complete hours of the stations that report often enough."""
    stations = sorted(valid)
    hours = sorted({hour for values in valid.values() for hour in values})
    table = np.array([[valid[station].get(hour, np.nan) for station in stations] for hour in hours])
    if not table.size:
        raise InputError(f"{source}: no valid NO2 reading (MAGNITUD 8, flag V); get another month")
    kept = np.isfinite(table).mean(axis=0) >= STATION_SHARE
    complete = np.isfinite(table[:, kept]).all(axis=1)
    if kept.sum() < 2 or not complete.any():
        raise InputError(
            f"{source}: no hour in which two or more stations are valid; get another month"
        )
    return Network(
        locations=_unit_box(np.array([places[station] for station in stations])[kept]),
        readings=table[np.ix_(complete, kept)],
        note=f"{(~complete).sum()} of {len(hours)} hours"
        f" and {(~kept).sum()} of {len(stations)} stations dropped",
    )


def _columns(header: Row, names: Sequence[str]) -> list[int]:
    """The positions of the named columns."""
    present = [cell.strip().upper() for cell in header.cells]
    missing = [name for name in names if name not in present]
    if missing:
        raise header.error(f"no column {missing[0]}; expected a header with {'; '.join(names)}")
    return [present.index(name) for name in names]


def _read_stations(path: Path) -> dict[int, Place]:
    header, *rows = read_rows(path)
    short = "CODIGO_CORTO" in (cell.upper() for cell in header.cells)
    code, *coordinates = _columns(
        header, ("CODIGO_CORTO" if short else "CODIGO", "LONGITUD", "LATITUD", "ALTITUD")
    )
    places: dict[int, Place] = {}
    for row in rows:
        row.expect(len(header.cells))
        number = row.integer(code) % 1000
        if number in places:
            raise row.error(f"station {number} stands there twice; keep one line")
        longitude, latitude, altitude = (row.number(column) for column in coordinates)
        places[number] = (longitude, latitude, altitude)
    return places


def _no2_days(path: Path) -> Iterator[tuple[Row, int, Hour, dict[Hour, float]]]:
    """For each NO₂ line its station, the day's midnight, and the valid readings by hour."""
    header, *rows = read_rows(path)
    station, magnitude, *day = _columns(header, ("ESTACION", "MAGNITUD", "ANO", "MES", "DIA"))
    values = _columns(header, [f"H{hour:02}" for hour in HOURS])
    flags = _columns(header, [f"V{hour:02}" for hour in HOURS])
    for row in rows:
        row.expect(len(header.cells))
        if row.integer(magnitude) == NO2:
            midnight = 24 * _ordinal(row, day)
            hours = {
                midnight + hour: row.number(value)
                for hour, value, flag in zip(HOURS, values, flags, strict=True)
                if row.cells[flag].upper() == "V"
            }
            yield row, row.integer(station) % 1000, midnight, hours


def _ordinal(row: Row, columns: Sequence[int]) -> int:
    year, month, day = (row.integer(column) for column in columns)
    try:
        return date(year, month, day).toordinal()
    except (ValueError, OverflowError):
        raise row.error(f"{year}-{month}-{day} is not a date; correct ANO, MES, DIA") from None


def _unit_box(locations: np.ndarray) -> np.ndarray:
    """Each coordinate scaled to [0, 1]; one that never varies becomes 0."""
    lowest = locations.min(axis=0)
    extent = np.ptp(locations, axis=0)
    return (locations - lowest) / np.where(extent > 0, extent, 1.0)
