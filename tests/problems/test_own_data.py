"""Anybody's own tables: the forms accepted, and what each complaint says."""

import csv

import numpy as np
import pytest

from windfall.errors import InputError
from windfall.problems import from_csv, load

LOCATIONS = "x,y\n0,0\n1,0\n0,2.5\n"
READINGS = "20,21,25\n22,20,21\n"


@pytest.fixture
def read(tmp_path):
    """Write the two tables and read them back, as they are."""

    def write_and_read(locations=LOCATIONS, readings=READINGS, **options):
        (tmp_path / "locations.csv").write_text(locations)
        (tmp_path / "readings.csv").write_text(readings)
        options = {"standardise": False} | options
        return from_csv(tmp_path / "locations.csv", tmp_path / "readings.csv", **options)

    return write_and_read


@pytest.mark.parametrize(
    ("locations", "readings"),
    [
        (LOCATIONS, READINGS),
        ("0,0\n1,0\n0,2.5", "20,21,25\n22,20,21"),
        ("x;y\n0;0\n1;0\n0;2,5\n", "20;21;25\n22;20,0;21\n"),
        ("\ufeff" + LOCATIONS, "a,b,c\n" + READINGS),
        (LOCATIONS.replace("\n", "\r\n"), "\n" + READINGS.replace("\n", "\n\n")),
        (LOCATIONS, "time,1,2,3\nnoon,20,21,25\n13:00,22,20,21\n"),
        ("arm,x,y\na,0,0\nb,1,0\nc,0,2.5\n", "b,c,a\n21,25,20\n20,21,22\n"),
        ("arm,x,y\n1,0,0\n2,1,0\n3,0,2.5\n", "3,1,2\n25,20,21\n21,22,20\n"),
        ("arm,x,y\na,0,0\nb,1,0\nc,0,2.5\n", "Time,b,c,a\n1,21,25,20\n2,20,21,22\n"),
    ],
)
def test_forms(read, locations, readings):
    problem = read(locations, readings, noise=0.5, name="mine")
    np.testing.assert_array_equal(problem.arms, [[0, 0], [1, 0], [0, 2.5]])
    np.testing.assert_array_equal(problem.payoff, [[20, 21, 25], [22, 20, 21]])
    assert (problem.noise, problem.name) == (0.5, "mine")
    assert (problem.optimum(0), problem.optimal_arm(1)) == (25.0, 0)


def test_the_header_names_the_features(read):
    assert read().feature_names == ("x", "y")
    assert read("arm,width\na,0\nb,1\nc,2\n", "a,b,c\n" + READINGS).feature_names == ("width",)
    assert read("0,0\n1,0\n0,2\n").feature_names == ("x1", "x2")


def test_readings_are_standardised_together(read):
    values = np.array([[20, 21, 25], [22, 20, 21]])
    problem = read(standardise=True)
    np.testing.assert_allclose(problem.payoff, (values - values.mean()) / values.std())


def test_protocol_is_that_of_sensors(read):
    protocol = read().protocol
    assert (protocol.rounds, protocol.trials, protocol.initial) == (50, 2, 3)
    assert (protocol.kappa, protocol.components) == (1.0, 2)


def test_a_folder_is_a_problem(tmp_path):
    """Written with full precision, read back to the last bit."""
    rng = np.random.default_rng(1)
    arms, readings = rng.normal(size=(7, 3)), rng.normal(size=(5, 7))
    folder = tmp_path / "my sensors"
    folder.mkdir()
    for name, rows in (("locations.csv", arms), ("readings.csv", readings)):
        with open(folder / name, "w", newline="") as file:
            csv.writer(file).writerows([[repr(float(value)) for value in row] for row in rows])
    problem = load(folder)
    assert problem.name == "my sensors"
    np.testing.assert_array_equal(problem.arms, arms)
    standardised = (readings - readings.mean()) / readings.std()
    np.testing.assert_array_equal(problem.payoff, standardised)
    np.testing.assert_array_equal(load(str(folder)).payoff, standardised)


LABELLED = "arm,x\na,0\nb,1\n"


@pytest.mark.parametrize(
    ("locations", "readings", "message"),
    [
        ("", READINGS, r"locations\.csv:1: the file is empty"),
        ("x,y\n", READINGS, r"locations\.csv:1: nothing below the header"),
        ("x,y\n0,0\n", READINGS, r"locations\.csv:2: 1 arms with 2 features.*at least 2 arms"),
        ("arm\na\nb\n", READINGS, r"locations\.csv:3: 2 arms with 0 features"),
        ("x,y\n0,0\n1\n", READINGS, r"locations\.csv:3: 1 columns; expected 2"),
        (
            "x,y\n0,0\n1,east\n",
            READINGS,
            r"locations\.csv:3: column 2 is 'east'; expected a finite",
        ),
        ("x,y\n0,0\n\n1,nan\n", READINGS, r"locations\.csv:4: column 2 is 'nan'"),
        ("0,west\n0,0\n1,1\n", READINGS, r"locations\.csv:1: column 2 is 'west'"),
        ("arm,x\na,0\na,1\n", READINGS, r"locations\.csv:3: arm 'a' stands there twice"),
        ('x,y\n"0,0\n', READINGS, r"locations\.csv:2: .*repair that line"),
        (LOCATIONS, "", r"readings\.csv:1: the file is empty"),
        (LOCATIONS, "a,b,c\n", r"readings\.csv:1: nothing below the header"),
        (LOCATIONS, "20,21\n22,20\n", r"readings\.csv:1: 2 readings in a line; expected 3"),
        (LOCATIONS, "time,a,b\n1,22,20\n", r"readings\.csv:1: 2 readings in a line; expected 3"),
        (LOCATIONS, "20,21,25\n22,20\n", r"readings\.csv:2: 2 columns; expected 3"),
        (LOCATIONS, "20,21,25\n22,,20\n", r"readings\.csv:2: column 2 is ''; expected a finite"),
        (LOCATIONS, "20,x,25\n22,1,20\n", r"readings\.csv:1: column 2 is 'x'; expected a finite"),
        (LOCATIONS, "20,21,25\n22,inf,20\n", r"readings\.csv:2: column 2 is 'inf'"),
        (LABELLED, "a,c\n1,2\n", r"readings\.csv:1: column is 'c'; expected every label"),
        (LABELLED, "a,a\n1,2\n", r"readings\.csv:1: column is 'a'; expected every label"),
        (LABELLED, "1,2\n3,4\n", r"readings\.csv:1: column is '1'; expected every label"),
    ],
)
def test_bad_tables(read, locations, readings, message):
    with pytest.raises(InputError, match=message) as caught:
        read(locations, readings)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("missing", ["locations.csv", "readings.csv"])
def test_a_missing_table_is_named(read, tmp_path, missing):
    read()
    (tmp_path / missing).unlink()
    with pytest.raises(InputError, match=f"cannot read .*{missing}: No such file"):
        load(tmp_path)
