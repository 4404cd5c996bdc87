import json

import numpy as np
import pytest

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
