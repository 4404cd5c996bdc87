"""The lab's raw files: a small network written by the tests, with every fault of the real one."""

import gzip
from datetime import datetime, timedelta
from statistics import median

import numpy as np
import pytest

from windfall.errors import InputError
from windfall.problems import load
from windfall.problems.intel_lab import read_intel_lab

START = datetime(2004, 2, 28, 1, 0)
PLACES = {1: (21.5, 23.0), 2: (24.5, 20.0), 3: (19.5, 19.0), 4: (22.5, 15.0)}


def line(minutes, mote, temperature, voltage=2.7, light="45.08"):
    moment = START + timedelta(minutes=minutes)
    stamp = moment.strftime("%Y-%m-%d %H:%M:%S.%f")
    return f"{stamp} 3 {mote} {temperature:.4f} 37.0933 {light} {voltage:.5f}"


def network(snapshots=10, motes=PLACES, per_snapshot=3):
    """Readings 20 + mote + snapshot / 10, and two more around each, sorted by mote as published."""
    return [
        line(10 * s + 3 * k, mote, 20 + mote + s / 10 + (k - 1) * 0.5)
        for mote in motes
        for s in range(snapshots)
        for k in range(per_snapshot)
    ]


def expected(snapshots=10, motes=PLACES):
    return np.array([[20 + mote + s / 10 for mote in motes] for s in range(snapshots)])


@pytest.fixture
def read(tmp_path):
    """Write the two files and read them back."""

    def write_and_read(lines, places=PLACES, compressed=False):
        text = "".join(f"{each}\n" for each in lines).encode()
        data = tmp_path / ("data.txt.gz" if compressed else "data.txt")
        data.write_bytes(gzip.compress(text) if compressed else text)
        locations = "".join(f"{mote} {x} {y}\n" for mote, (x, y) in places.items())
        (tmp_path / "mote_locs.txt").write_text(locations)
        return read_intel_lab(data, tmp_path / "mote_locs.txt")

    return write_and_read


@pytest.mark.parametrize("compressed", [False, True])
def test_medians_of_ten_minutes(read, compressed):
    lab = read(network(), compressed=compressed)
    np.testing.assert_allclose(lab.readings, expected(), atol=1e-4)
    np.testing.assert_array_equal(lab.locations, list(PLACES.values()))
    assert lab.note == "0 of 120 lines malformed; 0 of 4 motes dropped"


def test_medians_against_a_plain_loop(read):
    """Motes with any number of readings, odd and even, in shuffled order."""
    rng = np.random.default_rng(0)
    cells = {
        (s, mote): rng.uniform(15, 30, rng.integers(1, 6)) for s in range(8) for mote in PLACES
    }
    lines = [
        line(10 * s + 9 * rng.random(), mote, value)
        for (s, mote), values in cells.items()
        for value in values
    ]
    lab = read([lines[i] for i in rng.permutation(len(lines))])
    naive = [
        [median(round(value, 4) for value in cells[s, mote]) for mote in PLACES] for s in range(8)
    ]
    np.testing.assert_allclose(lab.readings, naive, atol=1e-12)


def test_a_boundary_belongs_to_the_later_snapshot(read):
    lines = [line(10 * s, mote, 20 + s) for s in range(2) for mote in PLACES]
    lines += [line(10 - 1 / 60, mote, 20) for mote in PLACES]
    assert read(lines).readings.tolist() == [[20.0] * 4, [21.0] * 4]


TRUNCATED = [
    "2004-02-28 01:00:16.02785 3 1 19.9884 37.0933",  # cut before light and voltage
    "2004-02-28 01:00:16.02785 3 1",
    "2004-02-28 01:0",
    "",
    "2004-02-28 01:00:16.02785 3 1 19.9884 37.0933 45.08 ",
    "2004-02-28 01:00:16.02785 3 one 19.9884 37.0933 45.08 2.7",
    "2004-02-28 01:00:16.02785 3 1 warm 37.0933 45.08 2.7",
    "2004-13-28 01:00:16.02785 3 1 19.9884 37.0933 45.08 2.7",
    "2004-02-28 01:00:16.02785 3 1 19.9884 37.0933 45.08 2.7 9",
    "\udcff\udcfe".encode("utf-8", "surrogateescape").decode("latin-1"),
]


def test_truncated_lines_are_skipped_and_counted(read):
    lines = network()
    for place, bad in enumerate(TRUNCATED):
        lines.insert(11 * place, bad)
    lab = read(lines)
    np.testing.assert_allclose(lab.readings, expected(), atol=1e-4)
    assert lab.note.startswith("10 of 130 lines malformed")


def test_too_many_malformed_lines_are_an_error(read, tmp_path):
    lines = network(per_snapshot=1)  # 40 sound lines: 4 of 44 is below a tenth, 5 of 45 above it
    assert "4 of 44" in read([*lines, *TRUNCATED[:4]]).note
    with pytest.raises(InputError, match=r"data\.txt:41: the first of 5 malformed lines of 45"):
        read([*lines, *TRUNCATED[:5]])


def test_a_line_without_light_is_sound(read):
    lines = [line(10 * s, mote, 20, light="") for s in range(3) for mote in PLACES]
    assert read(lines).note.startswith("0 of 12 lines malformed")


@pytest.mark.parametrize(
    "fault",
    [
        {"temperature": 122.153},
        {"temperature": -38.4},
        {"temperature": float("nan")},
        {"temperature": 45.0, "voltage": 2.29},
        {"temperature": 45.0, "voltage": float("nan")},
        {"temperature": 45.0, "mote": 65407},
    ],
)
def test_faulty_readings_do_not_count(read, fault):
    """They outnumber the sound ones of their snapshot, and would move its median."""
    faulty = [line(minute, **({"mote": 2} | fault)) for minute in range(9)]
    np.testing.assert_allclose(read(faulty + network()).readings, expected(), atol=1e-4)


def test_limits_of_sound_readings(read):
    lines = [line(0, mote, value, 2.3) for mote, value in ((1, 0.0), (2, 50.0), (3, 0.1), (4, 9.0))]
    assert read(lines).readings.tolist() == [[0.0, 50.0, 0.1, 9.0]]


def test_gaps_are_interpolated_in_time(read):
    """Mote 3 is silent in snapshots 0, 4, 5 and 19 of 20 (80 % remain): ends take the nearest."""
    values = {s: 20.0 + s**2 / 100 for s in range(20)}
    lines = [
        line(10 * s, mote, values[s])
        for s in values
        for mote in PLACES
        if mote != 3 or s not in (0, 4, 5, 19)
    ]
    lab = read(lines)
    assert lab.readings.shape == (20, 4)
    full = np.array(list(values.values()))
    np.testing.assert_allclose(lab.readings[:, 0], full)
    full[[0, 19]] = full[[1, 18]]
    full[4] = full[3] + (full[6] - full[3]) / 3
    full[5] = full[3] + 2 * (full[6] - full[3]) / 3
    np.testing.assert_allclose(lab.readings[:, 2], full)


def test_a_mote_that_reports_too_seldom_is_dropped(read):
    """Snapshots 0, 4, 5, 6 and 19 of 20 missing: 75 %."""
    lines = [
        line(10 * s, mote, 20 + mote)
        for s in range(20)
        for mote in PLACES
        if mote != 3 or s not in (0, 4, 5, 6, 19)
    ]
    lab = read(lines)
    assert lab.readings[0].tolist() == [21.0, 22.0, 24.0]
    assert lab.locations.tolist() == [list(PLACES[mote]) for mote in (1, 2, 4)]
    assert lab.note.endswith("1 of 4 motes dropped")


def test_a_snapshot_in_which_the_network_sleeps_is_dropped(read):
    """In snapshot 3 one mote of four reports, in snapshot 5 none; two of four are enough."""
    lines = [
        line(10 * s, mote, 20 + s)
        for s in range(20)
        for mote in PLACES
        if s != 5 and (s != 3 or mote == 1) and (s != 7 or mote <= 2)
    ]
    lab = read(lines)
    assert lab.readings[:, 0].tolist() == [20.0 + s for s in range(20) if s not in (3, 5)]
    assert lab.readings[5].tolist() == [27.0] * 4  # snapshot 7, filled in for motes 3 and 4


def test_the_window_is_six_days_from_when_half_of_the_motes_report(read):
    """A stray early date, a lone mote before the start, and readings after the end: all ignored."""
    early = [line(-600_000, 1, 20), line(-20, 1, 30), line(-10, 2, 30)]
    inside = [line(10 * s, mote, 20) for s in range(0, 864, 3) for mote in PLACES]
    late = [line(8640 + 10 * s, mote, 40) for s in range(3) for mote in PLACES]
    lab = read([*late, *inside, *early])
    assert lab.readings.shape == (288, 4)
    assert (lab.readings == 20).all()


def test_the_named_problem(read, tmp_path):
    read([*network(), TRUNCATED[0]])
    problem = load("temperature", tmp_path)
    values = expected()
    np.testing.assert_allclose(problem.payoff, (values - values.mean()) / values.std(), atol=1e-4)
    np.testing.assert_array_equal(problem.arms, list(PLACES.values()))
    assert "1 of 121 lines malformed" in problem.description
    assert problem.protocol.trials == 10


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 2.0 3.0\n2 4.0\n", r"mote_locs\.txt:2: '2 4\.0'; expected a mote's number, x and y"),
        ("1 2.0 3.0\n\n2 4.0 north\n", r"mote_locs\.txt:3: '2 4\.0 north'"),
        ("1 2.0 3.0\n2.5 4.0 5.0\n", r"mote_locs\.txt:2"),
        ("1 2.0 nan\n2 4.0 5.0\n", r"mote_locs\.txt:1"),
        ("1 2.0 3.0\n1 4.0 5.0\n", r"mote_locs\.txt:2: mote 1 stands there twice"),
        ("1 2.0 3.0\n", r"mote_locs\.txt:1: 1 motes; expected .* for 2 or more"),
        ("", r"mote_locs\.txt:1: 0 motes"),
    ],
)
def test_bad_locations(read, tmp_path, text, message):
    read(network())
    (tmp_path / "mote_locs.txt").write_text(text)
    with pytest.raises(InputError, match=message):
        load("temperature", tmp_path)


def test_missing_locations(read, tmp_path):
    read(network())
    (tmp_path / "mote_locs.txt").unlink()
    with pytest.raises(InputError, match=r"cannot read .*mote_locs\.txt: No such file"):
        load("temperature", tmp_path)


@pytest.mark.parametrize("lines", [[], [line(0, 1, 20)], [line(0, mote, 99) for mote in PLACES]])
def test_no_snapshot_at_all(read, lines):
    with pytest.raises(InputError, match=r"data\.txt: in no ten minutes do half of the 4 motes"):
        read(lines)


def test_no_mote_reports_often(read):
    """Every snapshot has two of four motes, and every mote half of the snapshots."""
    lines = [line(10 * s, 1 + (s + k) % 4, 20) for s in range(20) for k in range(2)]
    with pytest.raises(InputError, match=r"data\.txt: 0 motes report in 80% of the snapshots"):
        read(lines)


@pytest.mark.parametrize("damage", [lambda data: data[:-20], lambda data: b"not gzip" + data])
def test_a_corrupt_archive_names_file_and_line(read, tmp_path, damage):
    read(network(), compressed=True)
    path = tmp_path / "data.txt.gz"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(InputError, match=r"data\.txt\.gz:\d+: .*get the file again"):
        load("temperature", tmp_path)
