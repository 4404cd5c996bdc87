"""The guide to models does what it says, and names only what exists."""

import doctest
import re
from pathlib import Path

import windfall as wf

GUIDE = Path(__file__).parents[1] / "docs" / "guides" / "models.md"


def test_the_examples_give_what_the_guide_prints():
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    failed, tried = doctest.testfile(str(GUIDE), module_relative=False, optionflags=flags)
    assert tried > 15
    assert failed == 0


def test_the_names_of_the_guide_exist():
    text = GUIDE.read_text()
    for module, name in re.findall(r"\bwf\.(means|kernels)\.(\w+)", text):
        assert hasattr(getattr(wf, module), name), name
    for name in re.findall(r"\bwf\.(\w+)", text):
        assert hasattr(wf, name), name
