"""The tool that changes the code makes real changes, and finds the tests that may notice them."""

import ast
import json

import pytest
from tools import changes, mutants
from tools.entered import ROOT

CODE = '''
"""A docstring with 3 and a < b."""
__all__ = ["f"]
LIMIT: float = 0.5


def f(x: "int", n: int = 2) -> "tuple[int, 7]":
    """Not 5."""
    if n < 1:
        raise ValueError(f"n is {n + 1}; expected " + "more")
    return np.sum(np.where(x > LIMIT, x, -x), axis=-1)


class Box:
    size = 4

    def half(self):
        def inner(y):
            return not y

        return inner(self.rows[0].shape[0] is None)
'''


@pytest.fixture
def found(tmp_path):
    path = tmp_path / "code.py"
    path.write_text(CODE)
    return {(m.before, m.after): m for m in changes.mutants(path, tmp_path)}


def test_changes_are_of_what_computes(found):
    assert set(found) == {
        ("0.5", "1.0"),
        ("2", "3"),
        ("n < 1", "n <= 1"),
        ("1", "2"),
        ("np.sum(np.where(x > LIMIT, x, -x), axis=-1)",
         "np.mean(np.where(x > LIMIT, x, -x), axis=-1)"),
        ("np.where(x > LIMIT, x, -x)", "np.where(x > LIMIT, -x, x)"),
        ("x > LIMIT", "x <= LIMIT"),
        ("-x", "x"),
        ("4", "5"),
        ("not y", "y"),
        ("self.rows[0].shape[0] is None", "self.rows[0].shape[0] is not None"),
        ("0", "1"),
    }  # fmt: skip


def test_a_change_is_the_only_one_and_has_its_scope(found):
    for mutant in found.values():
        lines = zip(mutant.source.splitlines(), CODE.splitlines(), strict=True)
        assert [n for n, (new, old) in enumerate(lines, 1) if new != old] == [mutant.line]
        assert ast.dump(ast.parse(mutant.source)) != ast.dump(ast.parse(CODE))
    scopes = {before: mutant.scope for (before, _), mutant in found.items()}
    assert scopes["0.5"] == ""
    assert scopes["4"] == "Box"
    assert scopes["n < 1"] == "f"
    assert scopes["not y"] == "Box.half.<locals>.inner"


def test_tests_that_enter_the_function_come_first_the_cheap_ones_before(tmp_path, found):
    def entry(seconds, *functions):
        return {"seconds": seconds, "functions": {"code.py": list(functions)}}

    tests = {
        "tests/test_a.py::dear": entry(5.0, "Box.half", "f"),
        "tests/test_a.py::cheap": entry(1.0, "f"),
        "tests/test_a.py::traced": entry(0.5),
        "tests/test_b.py::other": entry(0.1, "Box.half"),
    }
    (tmp_path / "a.json").write_text(json.dumps({"digest": "", "tests": tests}))
    known = mutants.Tests(tmp_path)
    names = [known.of(found["n < 1", "n <= 1"], budget) for budget in (60.0, 1.5)]
    assert names[0] == [f"tests/test_a.py::{name}" for name in ("cheap", "dear", "traced")]
    assert names[1] == [f"tests/test_a.py::{name}" for name in ("cheap", "traced")]
    assert len(known.of(found["0.5", "1.0"], 60.0)) == 4  # what stands outside concerns all


@pytest.mark.parametrize("room", mutants.ROOMS)
def test_every_room_has_changes_and_tests(room):
    files = sorted((ROOT / "src" / "windfall" / room).rglob("*.py"))
    every = [mutant for file in files for mutant in changes.mutants(file, ROOT)]
    assert len(every) > 50
    for mutant in every[::20]:
        ast.parse(mutant.source)
    assert [name for name in mutants.test_files() if name.startswith("tests/study/test_")]
