"""The README's examples run, its commands exist, its links lead somewhere."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest
import typer

import windfall as wf
from windfall.cli import app

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL)


def test_the_python_examples_run_and_find_the_best_arm(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    namespace: dict = {}
    first, *others = blocks("python")
    assert len([line for line in first.splitlines() if line.strip()]) <= 12
    exec(compile(first, "README.md", "exec"), namespace)
    np.testing.assert_allclose(namespace["bandit"].best.features, [7.5, 60.0])
    assert capsys.readouterr().out.startswith("[ 7.5 60. ] highest mean reward")
    for block in others:
        exec(compile(block, "README.md", "exec"), namespace)
    assert (tmp_path / "reactor.png").stat().st_size > 10_000


COMMANDS = [
    shlex.split(line, comments=True)
    for block in blocks("console")
    for line in block.splitlines()
    if line.startswith("windfall ")
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_the_commands_are_understood(command):
    group = typer.main.get_command(app)
    _, name, *arguments = command
    known = group.commands[name]
    known.make_context(name, arguments)  # parses, and raises what it does not know


def test_the_make_targets_exist():
    makefile = (ROOT / "Makefile").read_text()
    targets = re.findall(r"^make (\S+)", "\n".join(blocks("console")), flags=re.MULTILINE)
    assert targets == ["demo", "test"]
    for target in targets:
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_and_names_on_the_pages_exist(page):
    text = page.read_text()
    for link in re.findall(r"\]\((?!https?:)([^)#]+)\)", text):
        assert (page.parent / link).exists(), link
    for name in re.findall(r"\bwf\.(\w+)", text):
        assert hasattr(wf, name), name
