"""Madrid's published formats: hourly readings and stations, written by the tests."""

import numpy as np
import pytest

from windfall.errors import InputError
from windfall.problems import load
from windfall.problems.madrid import read_madrid

HEADER = "PROVINCIA;MUNICIPIO;ESTACION;MAGNITUD;PUNTO_MUESTREO;ANO;MES;DIA;" + ";".join(
    f"H{hour:02};V{hour:02}" for hour in range(1, 25)
)
STATIONS = """CODIGO;CODIGO_CORTO;ESTACION;LONGITUD_ETRS89;LATITUD_ETRS89;ALTITUD;LONGITUD;LATITUD
28079004;4;Plaza de España;"3°42'43.91""O";"40°25'25.98""N";635;-3.7122567;40.4238823
28079008;8;Escuelas Aguirre;"3°40'56.22""O";"40°25'17.63""N";670;-3.6823158;40.4215533
28079011;11;Ramón y Cajal;"3°40'38.48""O";"40°27'05.30""N";708;-3.6773491;40.4514734
28079099;99;Without readings;"3°O";"40°N";999;-9.0;49.0
"""
NUMBERS = (4, 8, 11)


def day(station, number=1, values=None, flags=None, magnitude=8, month=3):
    values = values or [f"{station + hour}" for hour in range(24)]
    flags = flags or ["V"] * 24
    pairs = ";".join(f"{value};{flag}" for value, flag in zip(values, flags, strict=True))
    return f"28;079;{station};{magnitude};28079{station:03}_8_8;2018;{month:02};{number:02};{pairs}"


def table(*lines):
    return "\n".join([HEADER, *lines]) + "\n"


@pytest.fixture
def read(tmp_path):
    """Write readings and stations, and read them back."""

    def write_and_read(text, stations=STATIONS, encoding="utf-8"):
        (tmp_path / "air_quality.csv").write_bytes(text.encode(encoding))
        (tmp_path / "stations.csv").write_bytes(stations.encode(encoding))
        return read_madrid([tmp_path / "air_quality.csv"], tmp_path / "stations.csv")

    return write_and_read


def expected(hours=range(24), stations=NUMBERS):
    return np.array([[float(station + hour) for station in stations] for hour in hours])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1"])
def test_no2_by_hour_and_station(read, encoding):
    city = read(table(*(day(station) for station in (11, 4, 8))), encoding=encoding)
    np.testing.assert_array_equal(city.readings, expected())
    assert city.note == "0 of 24 hours and 0 of 3 stations dropped"


def test_locations_are_scaled_to_the_unit_box(read):
    """By hand, from the decimal degrees and metres of the three stations with readings."""
    city = read(table(*map(day, NUMBERS)))
    width, height = 3.7122567 - 3.6773491, 40.4514734 - 40.4215533
    by_hand = [
        [0, (40.4238823 - 40.4215533) / height, 0],
        [(3.7122567 - 3.6823158) / width, 0, 35 / 73],
        [1, 1, 1],
    ]
    np.testing.assert_allclose(city.locations, by_hand, atol=1e-9)


def test_days_and_months_are_put_in_order(read, tmp_path):
    days = [(4, 1), (3, 2), (3, 1)]  # month, day
    lines = [
        day(station, number, [f"{100 * place}"] * 24, month=month)
        for place, (month, number) in enumerate(days)
        for station in NUMBERS
    ]
    assert read(table(*lines)).readings[::24, 0].tolist() == [200.0, 100.0, 0.0]


def test_other_pollutants_are_ignored(read):
    lines = [day(station, magnitude=m) for station in NUMBERS for m in (8, 1)]
    lines.append(day(77, magnitude=12, values=["?"] * 24))
    np.testing.assert_array_equal(read(table(*lines)).readings, expected())


def test_hours_with_an_invalid_flag_are_dropped(read):
    """Whatever the value says, empty or absurd; the other hours keep their order."""
    values = [f"{8 + hour}" for hour in range(24)]
    flags = ["V"] * 24
    values[3], flags[3] = "-999", "N"
    values[7], flags[7] = "", ""
    city = read(table(day(4), day(8, values=values, flags=flags), day(11)))
    np.testing.assert_array_equal(city.readings, expected(h for h in range(24) if h not in (3, 7)))
    assert city.note.startswith("2 of 24 hours")


@pytest.mark.parametrize(("invalid", "kept"), [(4, True), (5, False)])
def test_a_station_valid_in_fewer_than_four_hours_of_five_is_dropped(read, invalid, kept):
    flags = ["N"] * invalid + ["V"] * (24 - invalid)
    city = read(table(day(4), day(8, flags=flags), day(11)))
    if kept:  # 20 of 24 hours: 83 %
        np.testing.assert_array_equal(city.readings, expected(range(4, 24)))
    else:  # 19 of 24 hours: 79 %
        np.testing.assert_array_equal(city.readings, expected(stations=(4, 11)))
        np.testing.assert_array_equal(city.locations, [[0, 0, 0], [1, 1, 1]])


def test_lower_case_decimal_commas_and_carriage_returns(read):
    text = table(*(day(s, values=[f"{s},5"] * 24) for s in NUMBERS)).lower().replace("\n", "\r\n")
    stations = STATIONS.replace(".", ",").lower()
    assert read(text, stations).readings[0].tolist() == [4.5, 8.5, 11.5]


def test_the_long_code_will_do(read):
    stations = "codigo;longitud;latitud;altitud\n28079004;0;0;0\n28079008;1;0;0\n28079011;0;2;0\n"
    city = read(table(*map(day, NUMBERS)), stations)
    np.testing.assert_array_equal(city.locations, [[0, 0, 0], [1, 0, 0], [0, 1, 0]])


def test_named_problems(read, tmp_path):
    read(table(*map(day, NUMBERS)))
    plane, space = load("air-quality-2d", tmp_path), load("air-quality-3d", tmp_path)
    assert plane.feature_names == ("longitude", "latitude")
    assert space.feature_names == ("longitude", "latitude", "elevation")
    np.testing.assert_array_equal(plane.arms, space.arms[:, :2])
    values = expected()
    np.testing.assert_allclose(space.payoff, (values - values.mean()) / values.std(), atol=1e-12)
    assert "0 of 24 hours" in space.description


def test_published_names_and_several_months(tmp_path):
    (tmp_path / "mar_mo18.csv").write_text(table(*map(day, NUMBERS)))
    (tmp_path / "abr_mo18.csv").write_text(table(*(day(s, month=4) for s in NUMBERS)))
    (tmp_path / "informacion_estaciones_red_calidad_aire.csv").write_text(STATIONS, "utf-8")
    assert load("air-quality-3d", tmp_path).snapshots == 48


def test_overlapping_months_are_an_error(tmp_path):
    for name in ("air_quality_1.csv", "air_quality_2.csv"):
        (tmp_path / name).write_text(table(*map(day, NUMBERS)))
    (tmp_path / "stations.csv").write_text(STATIONS, "utf-8")
    with pytest.raises(InputError, match=r"_2\.csv:2: same station and day as .*_1\.csv:2; keep"):
        load("air-quality-2d", tmp_path)


BROKEN_VALUE = ["5"] * 23 + ["much"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"air_quality\.csv:1: the file is empty"),
        ("a;b\n1;2\n", r"air_quality\.csv:1: no column ESTACION; expected a header with"),
        (table(day(4)).replace("V24", "W24"), r"air_quality\.csv:1: no column V24"),
        (table(day(4), day(8)[:50]), r"air_quality\.csv:3: \d+ columns; expected 56"),
        (table(day(4), day(8, values=BROKEN_VALUE)), r"csv:3: column 55 is 'much'; expected a fin"),
        (table(day(4), "", day(8, values=BROKEN_VALUE)), r"air_quality\.csv:4: column 55"),
        (table(day(4), day(4)), r"csv:3: same station and day as .*air_quality\.csv:2; keep one"),
        (table(day(4, 31), day(8, 32)), r"csv:3: 2018-3-32 is not a date; correct ANO, MES, DIA"),
        (table(day(5)), r"csv:2: station 5 is not in .*stations\.csv; add its line there"),
        (table(day(4, magnitude=8.5)), r"csv:2: column 4 is 8\.5; expected a whole number"),
        (table(day(4, magnitude=1)), r"air_quality\.csv: no valid NO2 reading"),
        (table(day(4, flags=["N"] * 24)), r"air_quality\.csv: no valid NO2 reading"),
        (table(day(4)), r"air_quality\.csv: no hour in which two or more stations are valid"),
        (table('28;"unfinished'), r"air_quality\.csv:2: unexpected end of data; repair"),
    ],
)
def test_bad_readings(read, text, message):
    with pytest.raises(InputError, match=message) as caught:
        read(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("stations", "message"),
    [
        (STATIONS.replace("ALTITUD", "HEIGHT"), r"stations\.csv:1: no column ALTITUD"),
        (
            STATIONS.replace("708", "high"),
            r"stations\.csv:4: column 6 is 'high'; expected a finite",
        ),
        (STATIONS.replace("28079011;11", "28079004;4"), r"stations\.csv:4: station 4 stands there"),
        (STATIONS.replace(";708;", ";"), r"stations\.csv:4: 7 columns; expected 8"),
    ],
)
def test_bad_stations(read, stations, message):
    with pytest.raises(InputError, match=message):
        read(table(*map(day, NUMBERS)), stations)


def test_missing_stations(read, tmp_path):
    read(table(*map(day, NUMBERS)))
    (tmp_path / "stations.csv").unlink()
    with pytest.raises(InputError, match=r"cannot read .*stations\.csv: No such file"):
        load("air-quality-2d", tmp_path)
