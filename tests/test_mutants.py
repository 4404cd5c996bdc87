"""The tool that changes the code finds code to change, and tests to try."""

import pytest
from tools import mutants as tool


@pytest.mark.parametrize("room", tool.ROOMS)
def test_every_room_has_changes_and_tests_for_them(room):
    files = sorted((tool.ROOT / "src" / "windfall" / room).rglob("*.py"))
    found = [next(tool.mutants(file), None) for file in files]
    changes = [mutant for mutant in found if mutant is not None]
    assert changes
    for mutant in changes:
        assert mutant.before != mutant.after
        groups = tool.tests_of(mutant.path)
        assert all((tool.ROOT / test).exists() for group in groups for test in group)
        assert ["tests"] not in groups  # not all of them
