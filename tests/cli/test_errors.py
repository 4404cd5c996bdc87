"""Bad input: exit code 2, one line on standard error that names the trouble, and no computation."""

import numpy as np
import pytest

import windfall as wf


@pytest.fixture
def no_computation(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("computed in spite of bad input")

    monkeypatch.setattr(wf, "simulate", refuse)


def one_line(done) -> str:
    assert done.exit_code == 2, done.exception
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("windfall: ")
    return line


@pytest.mark.usefixtures("no_computation")
@pytest.mark.parametrize("command", ["run", "compare"])
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["cosin"], ["'cosin'", "did you mean 'cosine'"]),
        (["cosine", "--policy", "lw-ubc"], ["'lw-ubc'", "did you mean 'lw-ucb'", "gp-ucb"]),
        (["cosine", "--policy", "zzz"], ["policy is 'zzz'", "v-ucb"]),
        (["cosine", "--rounds", "0"], ["rounds is 0", "at least 1"]),
        (["cosine", "--trials", "0"], ["trials is 0", "at least 1"]),
        (["cosine", "--trials", "-2"], ["trials is -2"]),
        (["cosine", "--workers", "0"], ["workers is 0"]),
        (["cosine", "--seed", "-1"], ["seed is -1"]),
        (["cosine", "--rounds", "ten"], ["--rounds", "'ten'", "whole number", "--help"]),
        (["cosine", "--kappa", "two"], ["--kappa", "'two'", "number"]),
        (["cosine", "--policy", "lw-ucb", "--kappa", "-1"], ["kappa is -1"]),
        (["cosine", "--policy", "v-ucb", "--kappa", "nan"], ["kappa is nan"]),
        (["cosine", "--policy", "lw-ucb", "--components", "99"], ["components is 99", "64"]),
        (["cosine", "--policy", "ei", "--kappa", "1"], ["kappa is 1.0", "ei has no kappa"]),
        (["cosine", "--policy", "ts", "--components", "3"], ["components is 3", "ts has no"]),
        (["cosine", "--plot", "figure.gif"], ["'figure.gif'", ".png, .pdf, .svg"]),
        (["cosine", "--plot", "figure"], ["'figure'", ".png"]),
        (["cosine", "--plot", "no/such/folder/a.png"], ["no/such/folder/a.png", "no existing"]),
        (["cosine", "--save", "/dev/null/x"], ["--save", "/dev/null/x", "Not a directory"]),
        (["temperature", "--data-dir", "no/such"], ["temperature", "no/such"]),
        (["cosine", "--wrong"], ["--wrong", "--help"]),
        ([], ["PROBLEM", "--help"]),
        (["cosine", "another"], ["another"]),
    ],
)
def test_one_line_names_the_trouble(windfall, command, arguments, words):
    line = one_line(windfall(command, *arguments))
    for word in words:
        assert word in line


def test_an_unknown_command_or_option(windfall):
    assert "'runn'" in one_line(windfall("runn", "cosine"))
    assert "--wrong" in one_line(windfall("--wrong"))


@pytest.mark.usefixtures("no_computation")
def test_a_folder_without_data_names_the_file(windfall, tmp_path):
    assert "locations.csv" in one_line(windfall("run", str(tmp_path)))


@pytest.mark.usefixtures("no_computation")
@pytest.mark.parametrize("option", ["--save", "--plot"])
def test_a_folder_that_cannot_be_written_is_found_before_the_computation(
    windfall, folder, tmp_path, monkeypatch, option
):
    def deny(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("windfall.cli.experiment.tempfile.TemporaryFile", deny)
    target = tmp_path / ("out" if option == "--save" else "a.png")
    line = one_line(windfall("run", folder, option, str(target)))
    assert str(tmp_path) in line
    assert "Permission denied" in line


def test_a_numerical_error_is_a_line_too(windfall, folder, monkeypatch):
    def fail(*args, **kwargs):
        raise wf.NumericalError("no finite prediction:\nuse another kernel")

    monkeypatch.setattr(wf, "simulate", fail)
    assert one_line(windfall("run", folder)).endswith("no finite prediction: use another kernel")


def test_a_mistake_of_windfall_itself_is_not_hidden(windfall, folder, monkeypatch):
    def fail(*args, **kwargs):
        return np.zeros(3)[7]

    monkeypatch.setattr(wf, "simulate", fail)
    assert isinstance(windfall("run", folder).exception, IndexError)
