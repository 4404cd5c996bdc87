"""``--executor`` reaches the engine, which is opened once."""

import json
import sys
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from lottery import Lottery

from windfall.errors import InputError
from windfall.problems import suite
from windfall.simulation.engines import ENGINES


@pytest.fixture
def opened(monkeypatch):
    """Every engine that was opened by name, with the number of its workers."""
    engines = []

    @contextmanager
    def lottery(workers):
        engines.append((workers, Lottery()))
        yield engines[-1][1]

    monkeypatch.setitem(sys.modules, "lottery_engine", SimpleNamespace(lottery=lottery))
    for name in ENGINES:
        monkeypatch.setitem(ENGINES, name, "lottery_engine:lottery")
    return engines


@pytest.mark.parametrize(
    ("command", "runs"),
    [
        ("run cosine --executor ray", 1),
        ("compare cosine --policy ei --policy ts --executor dask", 2),
        ("compare --suite extremes-tune --policy ei --executor ray", len(suite("extremes-tune"))),
    ],
)
def test_a_command_opens_one_engine(windfall, opened, command, runs):
    done = windfall(
        *command.split(), *["--trials", "3", "--rounds", "4", "--workers", "2", "--json"]
    )
    assert done.exit_code == 0, done.stderr
    json.loads(done.stdout)
    ((workers, engine),) = opened
    assert workers == 2
    played = [number for numbers in engine.submitted for number in numbers]
    assert sorted(played) == sorted([0, 1, 2] * runs)


def test_the_paper_is_played_on_it(windfall, monkeypatch, tmp_path):
    def stop(experiments, folder, *, executor, **_):
        raise InputError(f"to be played on {executor}")

    monkeypatch.setattr("windfall.compare.execute.execute", stop)
    done = windfall("paper", "--only", "cosine", "--report", tmp_path, "--executor", "ray")
    assert done.exit_code == 2
    assert done.stderr.endswith("windfall: to be played on ray\n")


def test_an_unknown_engine_is_a_line(windfall):
    done = windfall("run", "cosine", "--executor", "spark")
    assert done.exit_code == 2
    assert "spark" in done.stderr
    assert done.stderr.count("\n") == 1
