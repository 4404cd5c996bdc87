"""A study's log: what is appended is found again, whatever the moment of a kill."""

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windfall.errors import InputError
from windfall.study.log import Call, StudyLog

SETTINGS = {"function": "lab:run", "parameters": {"x": "Real(0.0, 1.0)"}, "seed": 0}

values = st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False))
parameters = st.dictionaries(
    st.text(min_size=1), st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.text())
)
pulls = st.builds(
    Call,
    number=st.integers(1, 99),
    first=st.integers(1, 99),
    size=st.integers(1, 9),
    parameters=parameters,
    value=values,
    failed=st.one_of(st.none(), st.text()),
    seconds=st.floats(0, 1e6),
)


def a_pull(number: int, value: float | None = 0.1) -> Call:
    return Call(number, number, 1, {"x": 0.1 * number}, value, None, 0.01)


@pytest.fixture
def path(tmp_path):
    """A log of three pulls."""
    file = tmp_path / "study.jsonl"
    with StudyLog(file, SETTINGS, {"windfall": "1"}) as log:
        for number in (1, 2, 3):
            log.append(a_pull(number))
    return file


@given(told=st.lists(pulls, max_size=5))
def test_what_was_appended_is_read_exactly(tmp_path_factory, told):
    file = tmp_path_factory.mktemp("log") / "study.jsonl"
    with StudyLog(file, SETTINGS) as log:
        assert log.calls == []
        for pull in told:
            log.append(pull)
        assert log.calls == told
    with StudyLog(file, SETTINGS) as log:
        assert log.calls == told


def test_one_line_each_and_a_header(path):
    header, *lines = path.read_text().splitlines()
    assert json.loads(header)["settings"] == SETTINGS
    assert json.loads(header)["versions"] == {"windfall": "1"}
    assert [json.loads(line)["number"] for line in lines] == [1, 2, 3]


def test_cut_short_at_any_byte_the_whole_lines_remain_and_work_goes_on(path):
    data = path.read_bytes()
    ends = [i + 1 for i, byte in enumerate(data) if byte == ord("\n")]
    for cut in range(len(data) + 1):
        path.write_bytes(data[:cut])
        whole = max(sum(end <= cut for end in ends) - 1, 0)
        with StudyLog(path, SETTINGS) as log:
            assert [pull.number for pull in log.calls] == [1, 2, 3][:whole]
            log.append(a_pull(whole + 1, 7.0))
        with StudyLog(path, SETTINGS) as log:
            assert [pull.number for pull in log.calls] == [1, 2, 3, 4][: whole + 1]
            assert log.calls[-1].value == 7.0


def test_a_line_is_in_the_file_as_soon_as_append_returns(tmp_path):
    file = tmp_path / "study.jsonl"
    with StudyLog(file, SETTINGS) as log:
        log.append(a_pull(1))
        assert len(file.read_bytes().splitlines()) == 2


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (SETTINGS | {"seed": 1}, "begun with seed 0, this study has 1"),
        (SETTINGS | {"function": "lab:other"}, "function lab:run, this study has lab:other"),
        (SETTINGS | {"parameters": {"x": "Real(0.0, 2.0)"}}, r"parameters .*0, 1.*0, 2"),
        (SETTINGS | {"batch": 2}, "batch null, this study has 2"),
        ({"function": "lab:run", "seed": 0}, "parameters .* this study has null"),
    ],
)
def test_other_settings_are_refused_and_nothing_is_changed(path, settings, words):
    words = words.replace("0, 1", r"Real\(0.0, 1.0\)").replace("0, 2", r"Real\(0.0, 2.0\)")
    before = path.read_bytes()
    with pytest.raises(InputError, match=words), StudyLog(path, settings):
        pass
    assert path.read_bytes() == before


def test_versions_may_differ(path):
    with StudyLog(path, SETTINGS, {"windfall": "2"}) as log:
        assert len(log.calls) == 3


@pytest.mark.parametrize("damage", [b"nonsense", b"[1]", b'{"number": 1}', b"\xff\x00"])
def test_a_damaged_line_is_named(path, damage):
    lines = path.read_bytes().split(b"\n")
    lines[2] = damage
    path.write_bytes(b"\n".join(lines))
    with pytest.raises(InputError, match="is damaged in line 3; mend it"):
        StudyLog(path, SETTINGS)


@pytest.mark.parametrize("first", [b"{}", b'{"windfall_study": 99, "settings": {}}'])
def test_another_file_is_not_taken_for_a_log(path, first):
    path.write_bytes(first + b"\n")
    with pytest.raises(InputError, match="no study log of this version"):
        StudyLog(path, SETTINGS)
    assert path.read_bytes() == first + b"\n"


@pytest.mark.parametrize("data", [b"milk, eggs", b"\n", b"\nmilk, eggs", b'{"windfalls": 3}'])
def test_what_is_no_header_cut_short_is_not_written_over(tmp_path, data):
    file = tmp_path / "notes.txt"
    file.write_bytes(data)
    with pytest.raises(InputError, match="no study log of this version"):
        StudyLog(file, SETTINGS)
    assert file.read_bytes() == data


def test_a_file_that_cannot_be_written(tmp_path):
    with pytest.raises(InputError, match=r"cannot be written .*directory"):
        StudyLog(tmp_path, SETTINGS)


HOLD = """
import sys
from windfall.study.log import StudyLog
with StudyLog(sys.argv[1], {"seed": 0}):
    print("open", flush=True)
    sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="file locks are POSIX")
def test_two_processes_cannot_write_one_log(tmp_path):
    file = tmp_path / "study.jsonl"
    command = [sys.executable, "-c", HOLD, str(file)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"open\n"
        with pytest.raises(InputError, match="in use by another process"):
            StudyLog(file, {"seed": 0})
        process.stdin.close()
        process.wait(timeout=30)
    StudyLog(file, {"seed": 0}).__exit__(None, None, None)
