"""``windfall run``, with real trials of a small problem."""

import json
import subprocess
import sys

import numpy as np
import pytest

import windfall as wf

SMALL = ["--rounds", "5", "--trials", "2", "--workers", "1"]
#: One mixture for all tests, so that they share compiled programs.
ATTENTIVE = ["--policy", "lw-ucb", "--components", "3"]


def test_the_table_says_what_the_library_says(windfall, folder):
    done = windfall("run", folder, "--policy", "v-ucb", *SMALL, "--seed", "3")
    assert done.exit_code == 0, done.exception
    assert done.stderr == ""
    problem = wf.problems.load(folder)
    expected = wf.simulate(problem, "v-ucb", rounds=5, trials=2, seed=3, workers=1).summary()
    (row,) = [line for line in done.stdout.splitlines() if "v-ucb" in line]
    cells = [cell.strip() for cell in row.strip("│").split("│")]
    earned = [f"{expected['median']:.3g}", f"{expected['mean']:.3g}", f"{expected['mad']:.2g}"]
    assert cells[:4] == ["v-ucb", *earned]
    assert cells[4] == f"{expected['gap']['mean']:.3g}"
    assert cells[5:7] == [f"{expected[share]:.0%}" for share in ("found_best", "stuck")]


def test_a_goal_stands_for_a_policy(windfall, folder):
    arguments = ["run", folder, *SMALL, "--goal", "best", "--budget", "7"]
    said = json.loads(windfall(*arguments, "--json").stdout)
    assert (said["policy"], said["goal"], said["budget"]) == ("prospect", "best", 7)
    problem = wf.problems.load(folder)
    library = wf.simulate(problem, goal="best", budget=7, rounds=5, trials=2, workers=1)
    expected = library.summary() | {"policy": "prospect"}
    assert {name: said[name] for name in expected} == expected
    assert library.found.all()  # three at random and four others: all six were tried


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (["--goal", "best", "--policy", "ei"], "goal is 'best' and policy is 'ei'"),
        (["--goal", "bset"], "goal is 'bset' (did you mean 'best'?)"),
        (["--budget", "0"], "budget is 0; expected a whole number, at least 1"),
    ],
)
def test_wishes_that_make_no_sense(windfall, folder, wrong, message):
    done = windfall("run", folder, *SMALL, *wrong)
    assert done.exit_code != 0
    assert message in f"{done.exception} {done.stderr}"


def test_json_is_one_object_and_nothing_else(folder, tmp_path):
    """In a process of its own, with worker processes, where stray output would show."""
    out = tmp_path / "out"
    command = ["run", folder, "--policy", "v-ucb", "--rounds", "5", "--trials", "2", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "windfall", *command, "--workers", "2", "--save", str(out)],
        capture_output=True, text=True, timeout=240, check=True,
    )  # fmt: skip
    said = json.loads(done.stdout)
    assert (said["problem"], said["policy"]) == ("greenhouse", "v-ucb")
    assert (said["rounds"], said["trials"], said["seed"]) == (5, 2, 0)
    assert said["timings"]["trial_rounds"] == 8
    (file,) = said["files"]
    saved = wf.Result.load(file)
    assert saved.summary() == {k: said[k] for k in saved.summary()}
    assert sorted(p.suffix for p in out.iterdir()) == [".json", ".npz"]


def test_the_seed_decides_and_settings_reach_the_policy(windfall, folder, tmp_path):
    def saved(name: str, *arguments: str) -> wf.Result:
        done = windfall("run", folder, *SMALL, "--save", str(tmp_path / name), *arguments)
        assert done.exit_code == 0, done.exception
        return wf.Result.load(tmp_path / name / "greenhouse--lw-ucb.json")

    settings = [*ATTENTIVE, "--kappa", "0.5"]
    first, again = saved("a", *settings), saved("b", *settings)
    assert "LWUCB(kappa=0.5, components=3," in first.policy
    np.testing.assert_array_equal(first.arms, again.arms)
    np.testing.assert_array_equal(first.rewards, again.rewards)
    other = saved("c", *settings, "--seed", "1")
    assert not np.array_equal(first.initial, other.initial)


@pytest.mark.parametrize("policy", [ATTENTIVE, ["--policy", "v-ucb"]], ids=["ratio", "none"])
def test_plot_writes_a_figure(windfall, folder, tmp_path, policy):
    target = tmp_path / "figure.png"
    done = windfall("run", folder, *policy, *SMALL, "--plot", str(target))
    assert done.exit_code == 0, done.exception
    assert target.read_bytes().startswith(b"\x89PNG")
    assert f"wrote {target}" in done.stdout
    assert sorted(p.name for p in tmp_path.iterdir()) == ["figure.png", "greenhouse"]
