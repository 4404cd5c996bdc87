"""The sensor problems from prepared files, the data folder, and what is said when data lack."""

import numpy as np
import platformdirs
import pytest

from windfall.errors import InputError
from windfall.problems import load
from windfall.problems.datafolder import data_folder

NAMES = ("temperature", "air-quality-2d", "air-quality-3d")


def write(folder, name="temperature.npz", snapshots=6, sensors=5, dimension=3):
    """A prepared file with random numbers; returns its arrays."""
    rng = np.random.default_rng(0)
    locations = rng.uniform(0, 40, (sensors, dimension))
    readings = rng.normal(22, 3, (snapshots, sensors))
    np.savez(folder / name, locations=locations, readings=readings)
    return locations, readings


def test_a_prepared_file_comes_back_standardised(tmp_path):
    locations, readings = write(tmp_path, dimension=2)
    problem = load("temperature", tmp_path)
    np.testing.assert_array_equal(problem.arms, locations)
    for trial in range(8):
        row = (readings[trial % 6] - readings.mean()) / readings.std()
        np.testing.assert_allclose(problem.payoffs(trial), row, atol=1e-12)
        assert problem.optimal_arm(trial) == readings[trial % 6].argmax()
        assert problem.optimum(trial) == pytest.approx(row.max())
    assert abs(problem.payoff.mean()) < 1e-12
    assert abs(problem.payoff.std() - 1) < 1e-12
    assert (problem.name, problem.noise, problem.snapshots) == ("temperature", 1e-4, 6)
    assert problem.box is None


def test_the_air_problems_share_a_file(tmp_path):
    locations, _ = write(tmp_path, "air_quality.npz")
    np.testing.assert_array_equal(load("air-quality-2d", tmp_path).arms, locations[:, :2])
    np.testing.assert_array_equal(load("air-quality-3d", tmp_path).arms, locations)


@pytest.mark.parametrize(
    ("name", "file", "trials"),
    [
        ("temperature", "temperature.npz", 500),
        ("air-quality-2d", "air_quality.npz", 200),
        ("air-quality-3d", "air_quality.npz", 200),
    ],
)
def test_protocol(tmp_path, name, file, trials):
    _, readings = write(tmp_path, file, snapshots=trials + 1)
    problem = load(name, tmp_path)
    np.testing.assert_allclose(problem.payoff, (readings - readings.mean()) / readings.std())
    protocol = problem.protocol
    assert (protocol.rounds, protocol.trials, protocol.initial) == (50, trials, 3)
    assert (protocol.kappa, protocol.components) == (1.0, 2)
    write(tmp_path, file, snapshots=7)
    assert load(name, tmp_path).protocol.trials == 7


def test_a_prepared_file_goes_before_raw_ones(tmp_path):
    write(tmp_path)
    (tmp_path / "data.txt").write_text("not looked at")
    assert load("temperature", tmp_path).snapshots == 6


def test_the_folder_is_the_argument_then_the_variable_then_the_users(tmp_path, monkeypatch):
    monkeypatch.setenv("WINDFALL_DATA", str(tmp_path / "variable"))
    assert data_folder(tmp_path / "argument") == tmp_path / "argument"
    assert data_folder() == tmp_path / "variable"
    monkeypatch.setenv("WINDFALL_DATA", "")
    assert data_folder() == platformdirs.user_data_path("windfall", appauthor=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert data_folder("~/here") == tmp_path / "here"


def test_the_variable_is_used(tmp_path, monkeypatch):
    write(tmp_path)
    monkeypatch.setenv("WINDFALL_DATA", str(tmp_path))
    assert load("temperature").snapshots == 6


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("folder", [".", "no/such/folder"])
def test_missing_data_say_where_and_what(tmp_path, name, folder):
    with pytest.raises(InputError) as caught:
        load(name, tmp_path / folder)
    message = str(caught.value)
    file = "temperature.npz" if name == "temperature" else "air_quality.npz"
    for part in (repr(name), str(tmp_path / folder), file, "data_dir", "WINDFALL_DATA"):
        assert part in message
    assert "\n" not in message


LOCATIONS, READINGS = np.eye(3), np.ones((4, 3))


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"locations": LOCATIONS}, r"lacks an array; expected locations and readings"),
        ({"locations": np.ones(3), "readings": READINGS}, r"locations has shape \(3,\)"),
        ({"locations": LOCATIONS * np.nan, "readings": READINGS}, r"locations\[0, 0\] is nan"),
        ({"locations": LOCATIONS, "readings": READINGS.T}, r"expected \(snapshots, 3\)"),
        ({"locations": LOCATIONS, "readings": READINGS[:0]}, r"expected \(snapshots, 3\)"),
        ({"locations": LOCATIONS, "readings": READINGS * np.inf}, r"readings\[0, 0\] is inf"),
        ({"locations": LOCATIONS[:, :2], "readings": READINGS}, r"\(3, 2\); expected 3 columns"),
        ({"locations": np.array([{}] * 3), "readings": READINGS}, "is damaged; expected a"),
    ],
)
def test_a_prepared_file_with_bad_arrays(tmp_path, arrays, message):
    np.savez(tmp_path / "air_quality.npz", **arrays)
    with pytest.raises(InputError, match=rf"air_quality\.npz:? .*{message}"):
        load("air-quality-3d", tmp_path)


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[: len(data) // 2],
        lambda data: b"",
        lambda data: b"locations, readings",
        lambda data: data[:150] + b"\xff" * 40 + data[190:],
    ],
)
def test_a_corrupt_prepared_file_is_named(tmp_path, damage):
    write(tmp_path)
    path = tmp_path / "temperature.npz"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(InputError, match=r"temperature\.npz is damaged; expected a readable"):
        load("temperature", tmp_path)


@pytest.fixture(scope="module")
def data(shared):
    """The real data's folder."""
    return shared / "data"


@pytest.mark.parametrize(
    ("name", "arms", "dimension", "snapshots"),
    [("temperature", 46, 2, 864), ("air-quality-2d", 24, 2, 223), ("air-quality-3d", 24, 3, 223)],
)
def test_real_data(data, name, arms, dimension, snapshots):
    problem = load(name, data)
    assert (problem.size, problem.dimension, problem.snapshots) == (arms, dimension, snapshots)
    assert abs(problem.payoff.mean()) < 1e-12
    assert abs(problem.payoff.std() - 1) < 1e-12
    file = "temperature.npz" if name == "temperature" else "air_quality.npz"
    readings = np.load(data / file)["readings"]
    best = [problem.optimal_arm(trial) for trial in range(snapshots)]
    assert best == [row.index(max(row)) for row in readings.tolist()]


def test_first_regrets_of_the_authors_are_gaps_of_these_snapshots(data, shared):
    """Entry 0 of their trial s is a gap of snapshot s, noise-free, in single precision.

    With any other standardisation (the first 500 snapshots only, per sensor, per snapshot) the
    largest distance is above 0.08.
    """
    saved = np.load(shared / "reference" / "authors_regret.npz")["temperature/lw-ucb-gmm2"]
    problem = load("temperature", data)
    for trial in range(500):
        gaps = problem.optimum(trial) - problem.payoffs(trial)
        assert abs(gaps - saved[trial, 0]).min() < 1e-6
