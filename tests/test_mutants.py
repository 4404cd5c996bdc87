"""The tool that changes the code finds code to change, and tests to try."""

import pytest
from tools.mutants import ROOMS, ROOT, mutants, tests_of


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_has_changes_and_tests_for_them(room):
    files = sorted((ROOT / "src" / "windfall" / room).rglob("*.py"))
    found = [next(mutants(file), None) for file in files]
    changes = [mutant for mutant in found if mutant is not None]
    assert changes
    for mutant in changes:
        assert mutant.before != mutant.after
        groups = tests_of(mutant.path)
        assert all((ROOT / test).exists() for group in groups for test in group)
        assert ["tests"] not in groups  # not all of them
