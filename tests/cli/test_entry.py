"""Finding one's way: version, help, the table of problems; nothing heavy is imported for them."""

import re
import subprocess
import sys

import pytest

import windfall
from windfall.problems import describe

HEAVY = {"jax", "equinox", "matplotlib", "scipy", "loky"}

IMPORTED = """
import sys
from windfall.cli import main
sys.argv = ["windfall", *sys.argv[1:]]
try:
    main()
finally:
    print("imported:", *sorted({name.partition(".")[0] for name in sys.modules}), file=sys.stderr)
"""


def call(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize("argument", ["--version", "--help", "problems"])
def test_quick_commands_import_nothing_heavy(argument):
    done = call("-c", IMPORTED, argument)
    assert done.returncode == 0
    imported = set(done.stderr.split("imported:")[1].split())
    assert "typer" in imported  # the list is not empty for another reason
    assert not imported & HEAVY
    if argument != "problems":
        assert "numpy" not in imported


def test_python_m_windfall_is_the_same_command():
    done = call("-m", "windfall", "--version")
    assert (done.returncode, done.stdout) == (0, f"windfall {windfall.__version__}\n")
    usage = call("-m", "windfall", "run", "--help").stdout
    assert "Usage: windfall run" in usage


def test_help_names_every_command(windfall):
    done = windfall("--help")
    assert done.exit_code == 0
    for command in ("run", "compare", "problems"):
        assert re.search(rf"\b{command}\b", done.stdout)


def test_nothing_at_all_prints_the_help(windfall):
    done = windfall()
    assert done.exit_code == 2
    assert "Usage: windfall" in done.stdout + done.stderr
    assert "windfall:" not in done.stderr


def test_problems_lists_them_all(windfall):
    done = windfall("problems")
    assert done.exit_code == 0
    lines = [line.strip("│ ").split("│") for line in done.stdout.splitlines()]
    table = [[cell.strip() for cell in line] for line in lines]
    for row in describe():
        (cells,) = [cells for cells in table if cells[0].rstrip("*") == row.name]
        assert cells[0] == row.name + ("*" if row.needs_data else "")
        assert cells[1] == f"{row.arms:,}"
        assert [int(cells[4]), int(cells[5])] == [row.rounds, row.trials]
        assert cells[6] == row.description
