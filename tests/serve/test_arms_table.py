"""The table of arms against a naive one, row by row."""

import pytest

from windfall.errors import InputError
from windfall.serve.arms_table import columns, page
from windfall.serve.served import ServedStudy
from windfall.space import Arms
from windfall.study.stores import MemoryStore

TITLES = ["steel", "Brass", "<b>tin</b>", "steel 2"]
ROWS = [
    {"arm": 0, "title": "steel", "dose": 0.5, "ratio (parameter)": 3.0, "pulls": 0},
    {"arm": 1, "title": "Brass", "dose": 2.0, "ratio (parameter)": 1.0, "pulls": 3},
    {"arm": 2, "title": "<b>tin</b>", "dose": 1.0, "ratio (parameter)": 2.0, "pulls": 1},
    {"arm": 3, "title": "steel 2", "dose": 2.0, "ratio (parameter)": 0.0, "pulls": 0},
]


@pytest.fixture
def table():
    features = [[row["dose"], row["ratio (parameter)"]] for row in ROWS]
    space = Arms(features, names=["dose", "ratio"], titles=TITLES)
    study = ServedStudy("alloy", space, store=MemoryStore())
    study.tell(2, 0.1)
    study.tell(1, 0.4, count=3, deviation=0.1)
    return columns(study, {})


def rows(found) -> list[dict]:
    listed = zip(*(column.tolist() for column in found["columns"].values()), strict=True)
    return [dict(zip(found["columns"], row, strict=True)) for row in listed]


def test_the_table_has_a_row_for_every_arm(table):
    assert rows(page(table)) == ROWS


@pytest.mark.parametrize("name", ["arm", "title", "dose", "pulls"])
@pytest.mark.parametrize("ascending", [True, False])
def test_sorted_by_any_column(table, name, ascending):
    found = rows(page(table, sort=name, ascending=ascending))
    values = [row[name] for row in ROWS]
    assert [row[name] for row in found] == sorted(values, reverse=not ascending)


@pytest.mark.parametrize(
    ("filter", "good"),
    [
        ("dose > 1", lambda r: r["dose"] > 1),
        ("dose >= 1, dose<2", lambda r: 1 <= r["dose"] < 2),
        ("ratio (parameter) <= 1", lambda r: r["ratio (parameter)"] <= 1),
        ("pulls = 0", lambda r: r["pulls"] == 0),
        ("title = steel", lambda r: r["title"] == "steel"),
        ("STEEL", lambda r: "steel" in r["title"].lower()),
        ("<b>", lambda r: "<b>" in r["title"]),
        ("2", lambda r: 2 in (r["arm"], r["dose"], r["ratio (parameter)"]) or "2" in r["title"]),
        ("nothing like it", lambda r: False),
        (" , ", lambda r: True),
    ],
)
def test_filtered(table, filter, good):
    found = page(table, filter=filter)
    wanted = [row for row in ROWS if good(row)]
    assert rows(found) == wanted
    assert (found["total"], found["matching"]) == (4, len(wanted))


def test_a_page_of_what_matches(table):
    found = page(table, offset=1, limit=1, sort="pulls", filter="dose > 0.6")
    assert [row["arm"] for row in rows(found)] == [2]
    assert found["matching"] == 3


@pytest.mark.parametrize("filter", ["dose > many", "title < steel"])
def test_a_condition_that_makes_no_sense_is_refused(table, filter):
    with pytest.raises(InputError, match=r"^filter has .*; expected"):
        page(table, filter=filter)
