"""The guide to boxes does what it says, and names only what exists."""

import doctest
import re
from pathlib import Path

import windfall as wf

GUIDE = Path(__file__).parents[1] / "docs" / "guides" / "boxes.md"


def test_the_examples_give_what_the_guide_prints():
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    failed, tried = doctest.testfile(str(GUIDE), module_relative=False, optionflags=flags)
    assert tried > 20
    assert failed == 0


def test_the_names_of_the_guide_exist():
    for name in re.findall(r"\bwf\.(\w+)", GUIDE.read_text()):
        assert hasattr(wf, name), name
