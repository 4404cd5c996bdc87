"""MODULE:NAME leads to a thing of the user's own, or to a line that says why not."""

import sys

import pytest

from windfall.cli.imports import named
from windfall.errors import InputError

MODULE = """
def run(x):
    return x

number = 3
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A new module in the current folder, which is not on the path before."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [p for p in sys.path if p not in ("", str(tmp_path))])
    name = f"lab_{abs(hash(str(tmp_path)))}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    yield name
    sys.modules.pop(name, None)


def test_the_current_folder_is_searched(module):
    assert named("function", f"{module}:run", "a:b")(5) == 5


@pytest.mark.parametrize("text", ["", "run", ":run", "lab:", "lab:run()", "lab.run", "lab:a.b"])
def test_the_form(text):
    with pytest.raises(InputError, match=r"function is .*; expected MODULE:NAME, such as a:b"):
        named("function", text, "a:b")


def test_a_missing_name_and_a_near_miss(module):
    with pytest.raises(InputError, match=rf"module '{module}' has no 'ruin' \(did you mean 'run'"):
        named("function", f"{module}:ruin", "a:b")


@pytest.mark.parametrize("name", ["no_such_module", "no_such.module", "windfall.no_such"])
def test_a_missing_module(name):
    with pytest.raises(InputError, match=r"there is no module .*no_such.*PYTHONPATH"):
        named("function", f"{name}:run", "a:b")


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import no_such_thing", "ModuleNotFoundError: No module named 'no_such_thing'"),
        ("def run(:", "SyntaxError"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("raise SystemExit(3)", "SystemExit: 3"),
    ],
)
def test_a_module_that_does_not_load(module, tmp_path, code, words):
    (tmp_path / f"{module}.py").write_text(code)
    with pytest.raises(InputError, match=rf"importing '{module}' fails with {words}"):
        named("function", f"{module}:run", "a:b")
