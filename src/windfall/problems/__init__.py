"""Bandit problems that know their optimum: the paper's, a suite of extremes, and your own.

>>> load("cosine").size
2500
"""

import os
from pathlib import Path
from typing import NamedTuple

from windfall.checks import known_name
from windfall.errors import InputError
from windfall.problems import extremes, functions, sensors, synthetic, wheel
from windfall.problems.datafolder import data_folder
from windfall.problems.extremes import EXTREMES
from windfall.problems.lists import find_lists, from_folder, from_list
from windfall.problems.own_data import from_csv
from windfall.problems.problem import Problem, Protocol
from windfall.problems.sensors import SENSORS
from windfall.problems.synthetic import FUNCTIONS
from windfall.problems.varying import VARYING, varying
from windfall.space.checks import check_arms

__all__ = [
    "Problem",
    "ProblemRow",
    "Protocol",
    "check_arms",
    "describe",
    "describe_lists",
    "from_csv",
    "functions",
    "load",
    "load_lists",
    "names",
    "suite",
]

WHEELS = {f"wheel-{rho}": rho for rho in (0.5, 0.7, 0.9)}
SUITES: dict[str, tuple[str, ...]] = {
    "paper": (*FUNCTIONS, *WHEELS, *SENSORS),
    "extremes": tuple(EXTREMES),
    "extremes-tune": tuple(name for name, known in EXTREMES.items() if known.half == "tune"),
    "extremes-report": tuple(name for name, known in EXTREMES.items() if known.half == "report"),
    "varying": tuple(VARYING),
    "all": (*FUNCTIONS, *WHEELS, *SENSORS, *EXTREMES, *VARYING),
}


#: The suite of whatever candidate lists are in the data folder.
REAL = "real"

#: What a problem may be besides a name.
_A_PATH = "a folder with locations.csv and readings.csv, a .csv file with a last column payoff, or"


class ProblemRow(NamedTuple):
    """One line of the table of problems; ``arms`` of a sensor problem as in the paper."""

    name: str
    arms: int
    dimension: int
    noise: float
    rounds: int
    trials: int
    needs_data: bool
    description: str


def names() -> tuple[str, ...]:
    """The named problems.

    >>> names()[:4]
    ('cosine', 'michalewicz', 'modified-michalewicz', 'wheel-0.5')
    """
    return SUITES["all"]


def suite(name: str, data_dir: str | os.PathLike[str] | None = None) -> tuple[str, ...]:
    """The names of the problems that are played together.

    ``paper`` are the paper's nine; ``extremes`` are others on which a policy should do well, in two
    halves: ``extremes-tune`` to choose its settings on, ``extremes-report`` to report only; in
    ``varying`` rounds differ: contexts, drift, an arm that hides; ``all`` is everything that has a
    name. ``real`` are the candidate lists in the data folder.

    >>> len(suite("paper")), suite("extremes-tune")[:2]
    (9, ('hill-3d', 'needle-2d'))
    """
    if name == REAL:
        return tuple(_lists(data_dir))
    return SUITES[known_name("suite", name, (*SUITES, REAL))]


def load_lists(data_dir: str | os.PathLike[str] | None = None) -> tuple[Problem, ...]:
    """The problem of every candidate list in the data folder: the suite ``real``.

    Each is read from its own file: its name may also be that of a named problem, or of something
    in the current folder, which `load` would take it for.
    """
    return tuple(map(_of_list, _lists(data_dir).values()))


def _lists(data_dir: str | os.PathLike[str] | None) -> dict[str, Path]:
    folder = data_folder(data_dir)
    found = find_lists(folder)
    if not found:
        raise InputError(
            f"data folder {str(folder)!r} has no candidate list; expected files with a last column"
            " payoff, or folders with locations.csv and readings.csv"
        )
    return found


def _of_list(path: Path) -> Problem:
    return from_folder(path) if path.is_dir() else from_list(path)


def load(name: str | os.PathLike[str], data_dir: str | os.PathLike[str] | None = None) -> Problem:
    """The problem of that name, or that of a candidate list.

    Args:
        name: one of [`names`][windfall.problems.names]; or the name of a candidate list in the data
            folder; or the path of a folder with ``locations.csv`` and ``readings.csv``, or of a
            ``.csv`` file with a last column ``payoff``. The first of these counts, except that
            what is there and written as a path, ``./cosine`` or a ``Path``, is nothing else.
        data_dir: where the files of the sensor problems and lists are; default the environment
            variable ``WINDFALL_DATA``, else a per-user data folder.

    >>> load("wheel-0.9").optimum(0)
    1.0
    >>> load("cosin")
    Traceback (most recent call last):
    ...
    windfall.errors.InputError: problem is 'cosin' (did you mean 'cosine'?); expected a folder ...
    """
    name, path = str(name), isinstance(name, os.PathLike)
    if (path or os.path.basename(name) != name) and os.path.exists(name):
        return _of_list(Path(name))
    if name in FUNCTIONS:
        return synthetic.synthetic(name)
    if name in WHEELS:
        return wheel.wheel(WHEELS[name])
    if name in SENSORS:
        return sensors.sensors(name, data_dir)
    if name in EXTREMES:
        return extremes.extreme(name)
    if name in VARYING:
        return varying(name, data_dir)
    folder = data_folder(data_dir)
    lists = find_lists(folder) if os.path.isdir(folder) else {}
    if name not in lists and os.path.exists(name):  # after the lists: it may be there by accident
        return _of_list(Path(name))
    return _of_list(lists[known_name("problem", name, (*names(), *lists), _A_PATH)])


def describe() -> tuple[ProblemRow, ...]:
    """A line per named problem; no data file is read.

    >>> [row.name for row in describe() if row.needs_data]
    ['temperature', 'air-quality-2d', 'air-quality-3d', 'temperature-hours', 'temperature-drift',
     'buchwald-hartwig-halides']
    """
    computed = (_row(load(name)) for name in (*FUNCTIONS, *WHEELS))
    measured = (
        ProblemRow(
            name=name,
            arms=known.arms,
            dimension=len(known.features),
            noise=sensors.NOISE,
            rounds=sensors.ROUNDS,
            trials=known.trials,
            needs_data=True,
            description=known.description,
        )
        for name, known in SENSORS.items()
    )
    changing = (
        ProblemRow(
            name=name,
            arms=known.arms,
            dimension=known.features,
            noise=known.noise,
            rounds=known.rounds,
            trials=known.trials,
            needs_data=known.needs_data,
            description=known.description,
        )
        for name, known in VARYING.items()
    )
    return (*computed, *measured, *(_extreme_row(name) for name in EXTREMES), *changing)


def describe_lists(data_dir: str | os.PathLike[str]) -> tuple[ProblemRow, ...]:
    """A line per candidate list in a folder; all of them are read."""
    return tuple(_row(_of_list(path)) for path in find_lists(data_dir).values())


def _row(problem: Problem) -> ProblemRow:
    return ProblemRow(
        name=problem.name,
        arms=problem.size,
        dimension=problem.dimension,
        noise=problem.noise,
        rounds=problem.protocol.rounds,
        trials=problem.protocol.trials,
        needs_data=False,
        description=problem.description,
    )


def _extreme_row(name: str) -> ProblemRow:
    """Without the payoffs of all trials, which take longer to draw than a list should."""
    known = EXTREMES[name]
    size, dimension = extremes.arms(name).shape
    return ProblemRow(
        name=name,
        arms=size,
        dimension=dimension,
        noise=known.noise,
        rounds=known.protocol.rounds,
        trials=known.protocol.trials,
        needs_data=False,
        description=known.description,
    )
