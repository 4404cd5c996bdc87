"""The authors' file: found, cut to what was played, or left out with a reason."""

from dataclasses import replace

import numpy as np
import pytest

from windfall.errors import InputError
from windfall.paper.plan import paper
from windfall.paper.reference import FILE, Reference
from windfall.problems import load


def test_cut_to_the_rounds_and_to_the_snapshots_played(reference_dir, data_dir):
    saved = Reference.load(reference_dir)
    whole = np.load(reference_dir / FILE)
    (cosine,) = paper("quick", only="cosine", trials=2, rounds=6)
    (rooms,) = paper("quick", only="temperature", trials=2, rounds=6, data_dir=str(data_dir))
    found = saved.beside(cosine.runs[0], cosine.problem)
    np.testing.assert_array_equal(found.regret, whole["cosine/lw-ucb-gmm2"][:, :6].astype(float))
    # Trial i of a sensor problem is snapshot i: only the same ones compare.
    found = saved.beside(rooms.runs[0], rooms.problem)
    np.testing.assert_array_equal(found.regret, whole["temperature/lw-ucb-gmm2"][:2, :6])
    assert found.median.shape == (6,)


def test_longer_runs_than_saved_keep_what_there_is(reference_dir):
    saved = Reference.load(reference_dir)
    (cosine,) = paper("quick", only="cosine", trials=2, rounds=50)
    assert saved.beside(cosine.runs[0], cosine.problem).rounds == 8


def test_a_run_of_another_formula_is_shown_beside_the_policy_of_its_name(reference_dir):
    saved = Reference.load(reference_dir)
    (cosine,) = paper("quick", only="cosine")
    ei = next(run for run in cosine.runs if run.label == "ei")
    assert ei.reference == ""
    assert saved.beside(ei, cosine.problem) is not None
    assert saved.beside(replace(ei, label="unheard-of"), cosine.problem) is None


def test_environment_variable(reference_dir, monkeypatch):
    monkeypatch.setenv("WINDFALL_REFERENCE", str(reference_dir))
    assert Reference.load().missing == ""
    monkeypatch.delenv("WINDFALL_REFERENCE")
    assert "WINDFALL_REFERENCE" in Reference.load().missing
    assert Reference.load().regret == {}


def test_missing_folder_is_a_note(tmp_path):
    found = Reference.load(tmp_path / "nowhere")
    assert "does not exist" in found.missing


def test_damaged_file_is_named(tmp_path):
    (tmp_path / FILE).write_bytes(b"not an archive")
    with pytest.raises(InputError, match=r"authors_regret.npz is not a readable .npz file"):
        Reference.load(tmp_path)
    np.savez(tmp_path / FILE, **{"cosine/ei": np.array([[1.0, np.nan]])})
    with pytest.raises(InputError, match="cosine/ei is float64 of shape"):
        Reference.load(tmp_path)


def test_the_real_file_has_every_key_that_the_plan_names(shared):
    saved = Reference.load(shared / "reference")
    for name in ("cosine", "michalewicz", "modified-michalewicz", "wheel-0.5", "temperature"):
        (experiment,) = paper("full", only=name, data_dir=str(shared / "data"))
        problem = load(name, shared / "data")
        for run in experiment.all_runs:
            found = saved.beside(run, problem)
            assert found is not None, run.label
            snapshots = problem.snapshots > 1  # else trials are not paired with the authors'
            trials = run.trials if snapshots else problem.protocol.trials
            assert found.regret.shape == (trials, run.rounds)
