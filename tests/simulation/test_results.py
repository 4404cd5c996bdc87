import json

import numpy as np
import pytest
from made_up import made_up

from windfall.errors import InputError
from windfall.simulation.results import Result


def made(label: str = "lw-ucb", problem: str = "wheel-0.7") -> Result:
    regret = np.array([[3.0, 1.0, 2.0, 0.0], [1.0, 1.0, 1.0, 1.0], [4.0, 0.0, 0.0, 0.0]])
    arms = np.arange(12).reshape(3, 4)
    return Result(
        problem=problem, policy="Policy()", seed=3, regret=regret, arms=arms, rewards=-regret,
        initial=arms[:, :3], label=label, settings={"noise": 0.1}, versions={"jax": "x"},
    )  # fmt: skip


def test_running_mean_median_and_deviation_by_hand():
    result = made()
    np.testing.assert_allclose(result.mean_regret[0], [3.0, 2.0, 2.0, 1.5])
    np.testing.assert_allclose(result.median, [3.0, 2.0, 4 / 3, 1.0])
    np.testing.assert_allclose(result.deviation, [1.0, 0.0, 1 / 3, 0.0])
    summary = result.summary()
    assert summary["median"] == 1.0
    assert summary["found_best"] == pytest.approx(2 / 3)


def test_the_gap_is_of_the_best_arm_so_far():
    result = made()
    np.testing.assert_array_equal(
        result.gap, [[3.0, 1.0, 1.0, 0.0], [1.0, 1.0, 1.0, 1.0], [4.0, 0.0, 0.0, 0.0]]
    )
    np.testing.assert_array_equal(result.found, [True, False, True])
    gap = result.summary()["gap"]
    assert gap["mean"] == pytest.approx(1 / 3)
    assert (gap["median"], gap["percentile_90"]) == (0.0, pytest.approx(0.8))


def test_stuck_trials_miss_the_best_arm_and_have_stopped_coming_nearer():
    trials = {
        "settled early": ([8.0, 3.0, 3.0, 3.0, 3.0, 3.0], True),
        "settled at the start": ([8.0, 9.0, 9.0, 9.0, 9.0, 9.0], True),
        "a little nearer": ([8.0, 3.0, 3.0, 2.9, 2.0, 1.6], True),
        "on the way": ([8.0, 7.0, 7.0, 3.0, 2.0, 1.0], False),
        "found late": ([8.0, 8.0, 8.0, 8.0, 8.0, 0.0], False),
        "found early, then curious": ([8.0, 0.0, 5.0, 6.0, 7.0, 8.0], False),
        "next to the best": ([8.0, 0.07, 0.07, 0.07, 0.07, 0.07], False),  # 1 % of 8 is 0.08
        "not quite so near": ([8.0, 0.09, 0.09, 0.09, 0.09, 0.09], True),
    }
    regret = np.array([row for row, _ in trials.values()])
    for unit in (1.0, 1e-6, 1e6):
        stuck = made_up(unit * regret).stuck
        assert dict(zip(trials, stuck.tolist(), strict=True)) == {
            k: s for k, (_, s) in trials.items()
        }
    assert made_up(regret).summary()["stuck"] == 4 / 8
    assert not made_up([[0.0, 0.0]]).stuck.any()
    assert made_up([[2.0]]).stuck.all()


def test_results_saved_before_there_was_a_gap_can_be_loaded(tmp_path):
    path = made().save(tmp_path)
    manifest = json.loads(path.read_text())
    for key in ("gap", "stuck"):
        del manifest["summary"][key]
    path.write_text(json.dumps(manifest))
    assert Result.load(path).summary() == made().summary()


def test_saved_and_loaded_results_are_equal(tmp_path):
    result = made()
    path = result.save(tmp_path / "new" / "folder")
    assert path.name == "wheel-0.7--lw-ucb.json"
    for name in (path, path.with_name("wheel-0.7--lw-ucb")):
        loaded = Result.load(name)
        for array in ("regret", "arms", "rewards", "initial"):
            np.testing.assert_array_equal(getattr(loaded, array), getattr(result, array))
        assert loaded.settings == result.settings
        assert loaded.summary() == result.summary()
    assert sorted(p.name for p in path.parent.iterdir()) == [
        "wheel-0.7--lw-ucb.json",
        "wheel-0.7--lw-ucb.npz",
    ]


@pytest.mark.parametrize("damage", ["truncate", "swap", "manifest", "missing", "key"])
def test_damaged_results_are_named(tmp_path, damage):
    path = made().save(tmp_path)
    arrays = path.with_name("wheel-0.7--lw-ucb.npz")
    if damage == "truncate":
        arrays.write_bytes(arrays.read_bytes()[:-7])
    elif damage == "swap":
        arrays.write_bytes(made().save(tmp_path / "b").with_name(arrays.name).read_bytes()[::-1])
    elif damage == "manifest":
        path.write_text(path.read_text()[:50])
    elif damage == "key":
        path.write_text(json.dumps({"sha256": json.loads(path.read_text())["sha256"]}))
    else:
        arrays.unlink()
    with pytest.raises(InputError, match=r"wheel-0\.7--lw-ucb") as error:
        Result.load(path)
    assert "\n" not in str(error.value)


def test_a_folder_that_is_a_file_is_an_error(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        made().save(tmp_path / "taken")
