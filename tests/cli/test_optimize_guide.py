"""The guide's example does what the guide says."""

import json
import re
import shlex
from pathlib import Path

import windfall as wf

GUIDE = (Path(__file__).parents[2] / "docs" / "guides" / "optimize.md").read_text()


def block(language: str) -> str:
    (text,) = re.findall(rf"^```{language}\n(.*?)^```", GUIDE, flags=re.MULTILINE | re.DOTALL)
    return text


def test_the_example_finds_a_good_loaf_and_leaves_its_files(windfall, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "oven.py").write_text(block("python"))
    program, *arguments = shlex.split(block("console"))
    assert program == "windfall"
    # More than 16 pulls before the policy decides: programs of one size instead of two.
    done = windfall(*arguments, "--initial", "17", "--json")
    assert done.exit_code == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["pulls"] == 30
    # A random loaf is this good once in 260: in 30 tries, in one study out of nine.
    assert facts["best"]["value"] > 0.95
    assert facts["best"]["parameters"]["flour"] == "rye"
    assert isinstance(facts["best"]["parameters"]["minutes"], int)
    assert (tmp_path / "bread.png").stat().st_size > 10_000
    with wf.Study("oven:bake", store=tmp_path / "bread.db") as study:
        assert len(study.outcomes()) == 30


def test_every_option_of_the_guide_exists(windfall):
    shown = windfall("optimize", "--help").stdout
    for option in set(re.findall(r"`(--[a-z]+)", GUIDE)):
        assert option in shown
