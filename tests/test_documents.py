"""Numbers that several documents quote are the recorded ones."""

import importlib.util
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
spec = importlib.util.spec_from_file_location("quoted", ROOT / "docs" / "quoted.py")
assert spec is not None
assert spec.loader is not None
quoted = importlib.util.module_from_spec(spec)
spec.loader.exec_module(quoted)
VALUES = quoted.recorded()


@pytest.mark.parametrize("page", quoted.PAGES, ids=lambda page: page.name)
def test_bound_numbers_are_the_recorded_ones(page):
    """If not, ``python docs/quoted.py`` writes them; then check the sentences around them."""
    text = page.read_text()
    bound = quoted.BOUND.findall(text)
    assert len(bound) == len(quoted.MARKER.findall(text)), "a marker that no number is in front of"
    wrong = {
        name: (text, VALUES.get(name, "no such record"))
        for text, _, name in bound
        if name not in VALUES or quoted.written(VALUES[name], like=text) != text
    }
    assert not wrong


def test_every_record_says_what_it_is_and_is_quoted():
    records = json.loads((ROOT / "docs" / "measured.json").read_text())
    pages = "".join(page.read_text() for page in quoted.PAGES)
    for name, record in records.items():
        assert record.keys() == {"value", "unit", "how", "date"}, name
        assert f"<!--measured:{name}-->" in pages, name


def test_a_changed_record_changes_the_number_and_nothing_else():
    page = "lost **0.310**<!--measured:a--> of 690,000<!--measured:b-->, 38 %<!--measured:c-->."
    new = quoted.update(page, {"a": 0.1, "b": 681900, "c": 40.4})
    assert new == page.replace("0.310", "0.100").replace("690,000", "681,900").replace("38", "40")


def test_policy_rounds_leave_out_the_entry_of_the_initial_arms():
    """By hand: trials × (rounds − 1), five policies each and two more for n_GMM on three."""
    synthetic, wheels, sensors = 7 * 3 * 100 * 149, 5 * 3 * 100 * 99, 5 * (500 + 200 + 200) * 49
    assert VALUES["policy-rounds"] == synthetic + wheels + sensors == 681_900


def test_who_beats_whom_in_the_readme_is_what_the_record_says():
    paired = {
        name: {pair["baseline"]: pair["verdict"] for pair in experiment["paired"]}
        for name, experiment in json.loads((ROOT / "docs" / "paper" / "summary.json").read_text())[
            "experiments"
        ].items()
    }
    assert {name for name, of in paired.items() if set(of.values()) == {"better"}} == {
        "cosine", "temperature",
    }  # fmt: skip
    assert {name for name, of in paired.items() if of["v-ucb"] == "undecided"} == {
        "air-quality-2d", "air-quality-3d",
    }  # fmt: skip
    readme = re.sub(r"\s+", " ", (ROOT / "README.md").read_text())
    assert "it beats EI, TS, GP-UCB and V-UCB on `cosine` and `temperature`" in readme
    assert "against V-UCB the two air-quality problems are undecided" in readme
