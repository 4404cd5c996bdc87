"""The guides do what they say, and name only what exists."""

import doctest
import re
from pathlib import Path

import pytest

import windfall as wf

GUIDES = Path(__file__).parents[1] / "docs" / "guides"
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@pytest.mark.parametrize(
    ("guide", "examples"),
    [
        ("boxes", 21),
        ("cluster", 7),
        ("contexts", 18),
        ("evaluation", 20),
        ("models", 25),
        ("studies", 20),
    ],
)
def test_the_examples_give_what_the_guide_prints(guide, examples):
    path = GUIDES / f"{guide}.md"
    failed, tried = doctest.testfile(str(path), module_relative=False, optionflags=FLAGS)
    assert tried >= examples
    assert failed == 0


@pytest.mark.parametrize(
    "guide", ["boxes", "cluster", "contexts", "evaluation", "models", "optimize", "studies"]
)
def test_the_names_of_the_guide_exist(guide):
    text = (GUIDES / f"{guide}.md").read_text()
    for module, name in re.findall(r"\bwf\.(means|kernels)\.(\w+)", text):
        assert hasattr(getattr(wf, module), name), name
    for name in re.findall(r"\bwf\.(\w+)", text):
        assert hasattr(wf, name), name
