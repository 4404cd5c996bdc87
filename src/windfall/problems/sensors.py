"""The three sensor problems: find the hottest sensor, or the worst air, one snapshot a trial.

The data are not part of windfall. They are looked for in a data folder, first as a prepared
``.npz`` (arrays ``locations``, M × d, and ``readings``, snapshots × M), then in the form in which
they were published. Readings are standardised over all snapshots; a run uses the first ones.
"""

import os
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from windfall.errors import InputError
from windfall.problems.datafolder import cannot_read, data_folder, missing_data
from windfall.problems.intel_lab import read_intel_lab
from windfall.problems.madrid import read_madrid
from windfall.problems.network import Network
from windfall.problems.problem import Problem, Protocol
from windfall.problems.synthetic import standardise
from windfall.space.checks import check_arms, finite_array

__all__ = ["NOISE", "ROUNDS", "SENSORS", "SensorProblem", "sensors"]

NOISE = 1e-4
ROUNDS = 50
AIR_READINGS = ("air_quality*.csv", "*_mo[0-9][0-9].csv")
AIR_STATIONS = ("stations.csv", "informacion_estaciones_red_calidad_aire.csv")


@dataclass(frozen=True)
class SensorProblem:
    """What is known of a sensor problem before its data are read; ``arms`` as in the paper."""

    arms: int
    features: tuple[str, ...]
    trials: int
    prepared: str
    raw: Callable[[Path], Network | None]
    wanted: str
    description: str


def sensors(name: str, data_dir: str | os.PathLike[str] | None = None) -> Problem:
    """The problem ``temperature``, ``air-quality-2d`` or ``air-quality-3d``.

    Raises [`InputError`][windfall.errors.InputError] that says where it looked and for what, if
    the data folder has them in no form.
    """
    known = SENSORS[name]
    folder = data_folder(data_dir)
    network = _read_prepared(folder / known.prepared) or known.raw(folder)
    if network is None:
        raise missing_data(name, known.wanted, folder)
    if network.locations.shape[1] < len(known.features):
        raise InputError(
            f"{folder / known.prepared}: locations has shape {network.locations.shape};"
            f" expected {len(known.features)} columns, {', '.join(known.features)}"
        )
    return Problem(
        arms=network.locations[:, : len(known.features)],
        payoff=standardise(network.readings),
        noise=NOISE,
        name=name,
        feature_names=known.features,
        protocol=Protocol(
            rounds=ROUNDS, trials=min(known.trials, len(network.readings)), kappa=1.0, components=2
        ),
        description="; ".join(filter(None, (known.description, network.note))),
    )


def _read_prepared(path: Path) -> Network | None:
    """The arrays of a prepared file, or None if there is no such file."""
    if not os.path.exists(path):  # unlike Path.exists, False in a folder that cannot be entered
        return None
    try:
        # Opened here, because NumPy leaves a file open that turns out not to be an archive.
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as arrays:
            locations, readings = arrays["locations"], arrays["readings"]
    except PermissionError as error:
        raise cannot_read(path, error) from error
    except KeyError as error:
        raise InputError(f"{path} lacks an array; expected locations and readings") from error
    except (OSError, ValueError, TypeError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise InputError(f"{path} is damaged; expected a readable .npz file") from error
    locations = np.asarray(check_arms(locations, f"{path}: locations"), float)
    readings = finite_array(readings, f"{path}: readings")
    if readings.ndim != 2 or readings.shape[1] != len(locations) or not len(readings):
        raise InputError(
            f"{path}: readings has shape {readings.shape}; expected (snapshots, {len(locations)})"
        )
    return Network(locations, readings)


def _raw_temperature(folder: Path) -> Network | None:
    for name in ("data.txt", "data.txt.gz"):
        if os.path.exists(folder / name):
            return read_intel_lab(folder / name, folder / "mote_locs.txt")
    return None


def _raw_air_quality(folder: Path) -> Network | None:
    readings = sorted({path for pattern in AIR_READINGS for path in folder.glob(pattern)})
    if not readings:
        return None
    stations = [folder / name for name in AIR_STATIONS if os.path.exists(folder / name)]
    return read_madrid(readings, stations[0] if stations else folder / AIR_STATIONS[0])


def _air_quality(*features: str) -> SensorProblem:
    return SensorProblem(
        arms=24,
        features=features,
        trials=200,
        prepared="air_quality.npz",
        raw=_raw_air_quality,
        wanted="air_quality.npz, or the hourly air_quality.csv with stations.csv",
        description=f"NO2 at Madrid's stations by {', '.join(features)}",
    )


SENSORS: dict[str, SensorProblem] = {
    "temperature": SensorProblem(
        arms=46,
        features=("x", "y"),
        trials=500,
        prepared="temperature.npz",
        raw=_raw_temperature,
        wanted="temperature.npz, or data.txt (or data.txt.gz) with mote_locs.txt",
        description="temperature in the Intel Berkeley lab",
    ),
    "air-quality-2d": _air_quality("longitude", "latitude"),
    "air-quality-3d": _air_quality("longitude", "latitude", "elevation"),
}
