"""Logs of earlier versions are read, and what is wrong with one is said."""

import json

import pytest

from windfall.errors import InputError
from windfall.study.function_study import Call
from windfall.study.log import logged

SETTINGS = {"function": "lab:run", "parameters": {"x": "Real(0.0, 1.0)"}, "minimize": False}
HEADER = {
    "windfall_study": 1,
    "settings": {**SETTINGS, "policy": "Policy(...)", "seed": 0, "initial": 4, "batch": 2},
    "versions": {"windfall": "0.1.0"},
}


def line(number, value, failed=None):
    return {
        "number": number, "first": 1, "size": 3, "parameters": {"x": 0.1 * number},
        "value": value, "failed": failed, "seconds": 0.25,
    }  # fmt: skip


@pytest.fixture
def path(tmp_path):
    """A log as version 0.1 wrote it: a batch whose calls ended in another order."""
    file = tmp_path / "study.jsonl"
    lines = [HEADER, line(2, 0.1 + 0.2), line(1, None, "ValueError: cold"), line(3, 1e-320)]
    file.write_text("".join(json.dumps(entry) + "\n" for entry in lines))
    return file


EXPECTED = [
    Call(1, {"x": 0.1}, None, "ValueError: cold"),
    Call(2, {"x": 0.2}, 0.1 + 0.2, None),
    Call(3, {"x": 0.1 * 3}, 1e-320, None),
]


def test_calls_come_in_the_order_of_their_numbers(path):
    assert logged(path, SETTINGS) == EXPECTED


@pytest.mark.parametrize("kept", range(1, 20, 6))
def test_a_line_cut_short_is_left_out(path, kept):
    with path.open("a") as file:
        file.write(json.dumps(line(4, 1.0))[:kept])
    assert logged(path, SETTINGS) == EXPECTED


def test_another_study_is_refused(path):
    for change, words in [
        ({"function": "lab:other"}, "begun with function lab:run, this study has lab:other; use"),
        ({"minimize": True}, "begun with minimize false, this study has true; use the same"),
        ({"parameters": {}}, "begun with parameters {"),
    ]:
        with pytest.raises(InputError) as error:
            logged(path, SETTINGS | change)
        assert words in str(error.value)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "is no log of windfall optimize; choose another file"),
        (b"dose,heat\n1,2\n", "is no log of windfall optimize"),
        (b'{"windfall_study": 9}\n', "is no log of windfall optimize"),
        (b"WHOLE{}\n", "is damaged in line 5; mend it or choose another file"),
        (b"WHOLE[1]\n", "is damaged in line 5"),
    ],
)
def test_what_is_no_log(path, content, complaint):
    path.write_bytes(content.replace(b"WHOLE", path.read_bytes()))
    with pytest.raises(InputError) as error:
        logged(path, SETTINGS)
    assert complaint in str(error.value)


def test_a_log_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match=r"cannot be read \(No such file"):
        logged(tmp_path / "no.jsonl", SETTINGS)
