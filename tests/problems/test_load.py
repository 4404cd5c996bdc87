"""The list of problems: names, table, loading by name, and the weight of the import."""

import subprocess
import sys

import pytest

from windfall.errors import InputError
from windfall.problems import describe, load, names, suite

MEASURED = {
    *("temperature", "air-quality-2d", "air-quality-3d", "temperature-hours", "temperature-drift"),
    "buchwald-hartwig-halides",
}


def test_names_are_the_suites_one_after_the_other():
    assert names() == suite("all") == suite("paper") + suite("extremes") + suite("varying")
    assert len(set(names())) == len(names())


def test_the_paper_s_nine():
    assert suite("paper") == (
        "cosine",
        "michalewicz",
        "modified-michalewicz",
        "wheel-0.5",
        "wheel-0.7",
        "wheel-0.9",
        "temperature",
        "air-quality-2d",
        "air-quality-3d",
    )


def test_describe_agrees_with_the_problems():
    rows = describe()
    assert tuple(row.name for row in rows) == names()
    for row in rows:
        assert row.needs_data == (row.name in MEASURED)
        assert row.description
        if not row.needs_data:
            problem = load(row.name)
            assert row.name == problem.name
            assert (row.arms, row.dimension) == (problem.size, problem.dimension)
            assert row.noise == problem.noise
            assert row.rounds == problem.protocol.rounds
            assert row.trials == problem.protocol.trials


def test_describe_agrees_with_the_real_data(shared):
    for row in describe():
        if row.needs_data:
            lists = row.name.startswith("buchwald")
            problem = load(row.name, shared / "data" / ("real" if lists else ""))
            assert (row.arms, row.dimension) == (problem.size, problem.dimension)
            assert (row.noise, row.rounds) == (problem.noise, problem.protocol.rounds)
            assert row.trials == problem.protocol.trials


def test_describe_reads_no_data(tmp_path, monkeypatch):
    monkeypatch.setenv("WINDFALL_DATA", str(tmp_path / "nowhere"))
    assert len(describe()) == len(names())


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("extreme", r"suite is 'extreme' \(did you mean 'extremes'\?\); expected one of paper, "),
        ("zzz", "suite is 'zzz'; expected one of paper, extremes, extremes-tune, "),
    ],
)
def test_an_unknown_suite_lists_the_known_ones(name, message):
    with pytest.raises(InputError, match=message):
        suite(name)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("cosin", r"problem is 'cosin' \(did you mean 'cosine'\?\)"),
        ("Michalewitz", r"problem is 'Michalewitz' \(did you mean 'michalewicz'\?\)"),
        ("air-quality", r"did you mean 'air-quality-"),
        ("zzz", "problem is 'zzz'; expected a folder"),
        ("", "problem is ''; expected a folder"),
        ("no/such/folder", "problem is 'no/such/folder'"),
        ("nul\0byte", "problem is"),
    ],
)
def test_an_unknown_name_lists_the_known_ones(name, message):
    with pytest.raises(InputError, match=message) as caught:
        load(name)
    assert ", ".join(names()) in str(caught.value)


WITHOUT_THE_REST = """
import importlib.util, sys, types
package = types.ModuleType("windfall")  # the real one may import JAX: leave its __init__ out
package.__path__ = importlib.util.find_spec("windfall").submodule_search_locations
sys.modules["windfall"] = package
import windfall.problems
windfall.problems.load("cosine")
loaded = {name.partition(".")[0] for name in sys.modules}
print(sorted(loaded & {"jax", "equinox", "pandas", "scipy", "matplotlib", "numpy"}))
"""


def test_problems_need_nothing_heavier_than_numpy():
    command = [sys.executable, "-c", WITHOUT_THE_REST]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "['numpy']"
