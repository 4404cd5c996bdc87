"""What the page of a study is told to draw."""

import numpy as np
import pytest

import windfall as wf
from windfall.serve import view
from windfall.serve.served import ServedStudy
from windfall.space import Arms
from windfall.study.stores import MemoryStore


def served(space) -> ServedStudy:
    return ServedStudy("alloy", space, "v-ucb", store=MemoryStore())


def grid(columns: int, rows: int) -> np.ndarray:
    return np.stack(np.meshgrid(np.arange(columns), np.arange(rows)), axis=-1).reshape(-1, 2) * 1.0


@pytest.mark.parametrize(
    ("arms", "cells"),
    [
        (grid(5, 4), True),
        (np.random.default_rng(0).uniform(size=(30, 2)), False),  # every row and column its own
        (np.column_stack([grid(5, 4), np.arange(20)]), False),  # three features
    ],
)
def test_arms_on_a_grid_are_cells_of_a_map(arms, cells):
    assert view.shape(served(arms))["grid"] is cells


def test_more_arms_than_a_map_has_cells_are_none(monkeypatch):
    monkeypatch.setattr(view, "_CELLS", 19)
    assert view.shape(served(grid(5, 4)))["grid"] is False


def test_a_map_shows_features_that_take_many_values_first():
    features = np.column_stack([np.arange(9) % 2, np.full(9, 3.0), np.arange(9), np.arange(9) % 4])
    found = view.shape(served(Arms(features, names=["a", "mean", "c", "d"])))
    assert found["across"] == [2, 3]
    assert found["geometry"]
    assert found["columns"] == ["a", "mean (parameter)", "c", "d"]
    assert [(axis["low"], axis["high"]) for axis in found["axes"]] == [
        (0, 1), (2.5, 3.5), (0, 8), (0, 3),
    ]  # fmt: skip


def test_features_of_yes_and_no_have_no_geometry():
    assert not view.shape(served(np.eye(5)))["geometry"]


def test_parameters_are_axes_of_their_kinds():
    rate, n, kind = wf.Real(0.1, 10, log=True), wf.Integer(1, 4), wf.Categorical(["a", "b"])
    space = wf.Parameters({"rate": rate, "n": n, "kind": kind})
    found = view.shape(served(space))
    assert found["size"] is None
    assert found["across"] == [0, 1]
    assert found["axes"] == [
        {"name": "rate", "low": 0.1, "high": 10.0, "log": True, "whole": False, "labels": None},
        {"name": "n", "low": 1, "high": 4, "log": False, "whole": True, "labels": None},
        {"name": "kind", "low": 0, "high": 1, "log": False, "whole": False, "labels": ["a", "b"]},
    ]


def test_the_digest_has_rewards_points_notes_and_fits():
    study = served(Arms(grid(3, 2), names=["dose", "heat"], titles=list("abcdef")))
    for arm, reward in ((1, 0.5), (4, 0.25), (1, 1.5)):
        study.tell(arm, reward)
    study.note("first")
    study.note("second")
    study.ask()
    found = view.digest(study, after=1)
    assert (found["total"], found["rewards"]) == (3, [0.25, 1.5])
    assert found["points"] == [
        {"arm": 1, "name": "b", "values": [1.0, 0.0], "mean": 1.0, "pulls": 2},
        {"arm": 4, "name": "e", "values": [1.0, 1.0], "mean": 0.25, "pulls": 1},
    ]
    assert [note["text"] for note in found["notes"]] == ["second", "first"]
    hyper = study._record.belief["hyper"]
    assert found["hyper"]["pulls"] == [3]
    columns = found["hyper"]["columns"]
    assert columns["length scale, dose"] == [hyper[0][0]]
    assert columns["length scale, heat"] == [hyper[0][1]]
    assert columns["noise"] == [hyper[-1]]
