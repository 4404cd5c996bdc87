"""``windfall compare``: who is played, in which order they are printed, on equal luck."""

import json
from functools import partial

import numpy as np
import pytest
from made_up import made_up

import windfall as wf
from windfall.compare.statistics import ENOUGH_TRIALS

#: After the initial arms; a policy that finds nothing better has that gap.
MEDIANS = {"windfall": 0.6, "lw-ucb": 0.3, "v-ucb": 0.1, "gp-ucb": 0.5, "ei": 0.2, "ts": 0.4}
RANKED = ["v-ucb", "ei", "lw-ucb", "ts", "gp-ucb", "windfall"]


@pytest.fixture
def played(monkeypatch):
    """Replace the simulation; collects how it was called."""
    calls = []

    def simulate(problem, policy, *, rounds, trials, seed, workers, progress, label, **_):
        calls.append((label, policy, rounds, trials, seed, workers))
        progress(rounds * trials)
        return made_up(np.full((trials, rounds), MEDIANS[label]), label, problem=problem.name)

    def execute(experiments, folder, *, workers, executor, progress):
        [experiment] = experiments
        results = {
            run.label: simulate(
                experiment.problem, run.policy, rounds=run.rounds, trials=run.trials,
                seed=run.seed, workers=workers, progress=partial(progress, run), label=run.label,
            )
            for run in experiment.all_runs
        }  # fmt: skip
        return {experiment.name: results}

    monkeypatch.setattr(wf, "simulate", simulate)
    monkeypatch.setattr("windfall.compare.execute.execute", execute)
    return calls


def rows(stdout: str) -> list[list[str]]:
    lines = [line for line in stdout.splitlines() if line.startswith("│")]
    return [[cell.strip() for cell in line.strip("│").split("│")] for line in lines]


def test_plays_the_default_lw_ucb_and_the_baselines_with_one_seed(windfall, folder, played):
    done = windfall("compare", folder, "--rounds", "60", "--trials", "3", "--seed", "7")
    assert done.exit_code == 0, done.exception
    assert [call[0] for call in played] == list(MEDIANS)
    assert {call[2:] for call in played} == {(60, 3, 7, None)}


def test_settings_not_given_are_the_problem_s_own(windfall, folder, played):
    problem = wf.problems.load(folder)
    done = windfall("compare", folder)
    assert done.exit_code == 0, done.exception
    assert {call[2:4] for call in played} == {(problem.protocol.rounds, problem.protocol.trials)}
    weighted, plain = played[1][1].acquisition, played[2][1].acquisition
    assert (weighted.kappa, weighted.components) == (
        problem.protocol.kappa,
        problem.protocol.components,
    )
    assert plain.kappa == problem.protocol.kappa


def test_the_lowest_median_comes_first(windfall, folder, played):
    done = windfall("compare", folder, "--rounds", "60", "--trials", "3")
    table = rows(done.stdout)
    assert [row[0] for row in table] == RANKED
    earned = ["0.1", "0.1", "0", "0.1", "0.1", "0.1"]
    found = ["0.1", "-0.5", "0%", "100%"]
    assert table[0][1:] == [*earned, *found, f"{2 / (3 * 59):.2g}"]
    assert table[-1][7:9] == ["0.6", ""]  # the policy named first is what the others are held to
    heading = next(line for line in done.stdout.splitlines() if "policy" in line)
    assert [word for word in heading.split() if word.startswith("t=")] == ["t=10", "t=25", "t=50"]


def test_an_interval_takes_as_many_trials_as_a_verdict(windfall, folder, played):
    for trials in range(1, ENOUGH_TRIALS + 2):
        done = windfall("compare", folder, "--rounds", "12", "--trials", str(trials))
        interval = " [-0.5, -0.5]" if trials >= ENOUGH_TRIALS else ""
        assert f"-0.5{interval}" in rows(done.stdout)[0]
        assert "from six on, its 95 % bootstrap" in done.stdout
    assert ENOUGH_TRIALS == 6


def test_the_goal_decides_who_is_played_and_who_comes_first(windfall, folder, monkeypatch):
    """Who finds the best arm in the end comes first, whatever it paid on the way."""
    calls = []

    def simulate(problem, policy, *, rounds, trials, label, progress, **_):
        calls.append((label, policy.budget))
        regret = np.full((trials, rounds), 0.5 + 0.1 * len(calls))
        if label in ("ts", "gp-ucb"):
            regret[:, -1] = {"ts": 0.0, "gp-ucb": 0.2}[label]
        return made_up(regret, label, problem=problem.name)

    monkeypatch.setattr(wf, "simulate", simulate)
    arguments = ["compare", folder, "--goal", "best", "--budget", "40", "--trials", "2"]
    arguments += ["--workers", "1"]  # one after the other
    done = windfall(*arguments, "--rounds", "12")
    assert done.exit_code == 0, done.exception
    assert calls[0] == ("prospect", 40)
    assert {budget for _, budget in calls} == {40}
    assert [row[0] for row in rows(done.stdout)][:3] == ["ts", "gp-ucb", "prospect"]
    heading = next(line for line in done.stdout.splitlines() if "policy" in line)
    assert heading.index(" gap ") < heading.index("stuck") < heading.index("R_T/T")
    calls.clear()
    named = ["--policy", "ei", "--policy", "ts"]  # the goal orders those that are named, too
    said = json.loads(windfall(*arguments, *named, "--rounds", "12", "--json").stdout)
    assert (said["goal"], said["budget"]) == ("best", 40)
    assert [row["policy"] for row in said["results"]] == ["ts", "ei"]


def test_policies_can_be_chosen_and_take_the_settings_they_have(windfall, folder, played):
    chosen = ["--policy", "ei", "--policy", "lw-ucb", "--policy", "ei", "--kappa", "1.5"]
    done = windfall("compare", folder, *chosen, "--trials", "2", "--rounds", "4")
    assert done.exit_code == 0, done.exception
    assert [call[0] for call in played] == ["ei", "lw-ucb"]
    assert played[1][1].acquisition.kappa == 1.5


def test_json_holds_every_policy_in_order(windfall, folder, played):
    done = windfall("compare", folder, "--rounds", "12", "--trials", "2", "--json")
    said = json.loads(done.stdout)
    assert said["problem"] == "greenhouse"
    assert said["files"] == []
    assert [row["policy"] for row in said["results"]] == RANKED
    assert said["results"][0]["median"] == pytest.approx(0.1)
    assert said["results"][0]["median_at"] == {"10": pytest.approx(0.1)}
    assert said["results"][0]["gap"]["mean"] == pytest.approx(0.1)
    for quantity in ("regret", "gap"):
        pair = said["results"][0]["paired"][quantity]
        assert (pair["baseline"], pair["wins"]) == ("windfall", 2)
        assert pair["difference"] == pytest.approx(-0.5)


def test_policies_meet_the_same_luck(windfall, folder, tmp_path):
    """Really played: equal initial arms and, where the same arm is pulled, equal rewards."""
    chosen = ["--policy", "v-ucb", "--policy", "mean", "--rounds", "5", "--trials", "2"]
    done = windfall("compare", folder, *chosen, "--workers", "1", "--save", str(tmp_path / "out"))
    assert done.exit_code == 0, done.exception
    first, second = (
        wf.Result.load(tmp_path / "out" / f"greenhouse--{name}.json") for name in ("v-ucb", "mean")
    )
    np.testing.assert_array_equal(first.initial, second.initial)
    same = first.arms == second.arms
    assert same[:, 0].all()
    np.testing.assert_array_equal(first.rewards[same], second.rewards[same])
