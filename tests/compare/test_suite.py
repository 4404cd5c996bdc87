"""A suite is planned with every problem's own settings, played once, and found again."""

from pathlib import Path

import numpy as np
import pytest
from by_chance import by_chance
from small_problems import line, snapshots

import windfall as wf
from windfall.compare.ablation import FULL, variants
from windfall.compare.multiples import floor
from windfall.compare.suite import Contest, compare_suite
from windfall.errors import InputError
from windfall.problems import load, suite

SMALL = {"rounds": 4, "trials": 2}


@pytest.fixture
def no_play(monkeypatch):
    """Runs by lot instead of simulations; collects the folders."""
    folders = []

    def execute(experiments, folder, *, workers, executor, progress, complain):
        folders.append(folder)
        for run in (run for e in experiments for run in e.runs):
            progress(run, run.rounds * run.trials)
        return {e.name: {r.label: by_chance(r, e.problem) for r in e.runs} for e in experiments}

    monkeypatch.setattr("windfall.compare.suite.execute", execute)
    return folders


def test_every_problem_has_its_own_protocol():
    contest = Contest.prepare("extremes", ["ei", "v-ucb"])
    assert [e.name for e in contest.experiments] == list(suite("extremes"))
    for experiment in contest.experiments:
        protocol = load(experiment.name).protocol
        assert [run.label for run in experiment.runs] == ["ei", "v-ucb"]
        assert experiment.all_runs == experiment.runs
        for run in experiment.runs:
            assert (run.rounds, run.trials, run.seed) == (protocol.rounds, protocol.trials, 0)
        assert experiment.runs[1].policy.acquisition.kappa == protocol.kappa


def test_given_sizes_hold_everywhere():
    contest = Contest.prepare("extremes-tune", ["v-ucb"], **SMALL, seed=5, kappa=0.5)
    for experiment in contest.experiments:
        (run,) = experiment.runs
        assert (run.rounds, run.trials, run.seed) == (4, 2, 5)
        assert run.policy.acquisition.kappa == 0.5


def test_sensor_problems_without_data_are_left_out_with_the_reason(tmp_path, data_dir):
    contest = Contest.prepare("paper", ["ei"], data_dir=tmp_path)
    assert [e.name for e in contest.experiments] == list(suite("paper")[:6])
    assert list(contest.missing) == list(suite("paper")[6:])
    assert "needs data" in contest.missing["temperature"]
    found = Contest.prepare(["temperature", line()], ["ei"], data_dir=data_dir)
    assert [e.name for e in found.experiments] == ["temperature", "line"]
    assert found.missing == {}


def test_a_suite_of_changing_rounds_is_played_without_what_nobody_has(no_play, tmp_path):
    contest = Contest.prepare("varying", ["ei"], **SMALL, data_dir=tmp_path)
    assert list(contest.missing) == [
        "temperature-hours", "temperature-drift", "buchwald-hartwig-halides",
    ]  # fmt: skip
    assert [e.name for e in contest.experiments] == list(suite("varying")[:-3])


@pytest.mark.parametrize(
    ("policies", "reference", "expected", "measure"),
    [
        (["lw-ucb", "ei", "v-ucb"], None, ("ei", "v-ucb"), "the best classical baseline"),
        (["v-ucb-1", "mean"], None, ("v-ucb-1",), "the best classical baseline"),
        ({"ei": wf.EI(), "mine": wf.Mean()}, None, ("ei",), "the best classical baseline"),
        ({"curious": "v-ucb-2", "a": "mean"}, None, ("curious",), "the best classical baseline"),
        (["lw-ucb", "mean"], None, ("lw-ucb", "mean"), "the best policy"),
        (["lw-ucb", "ei"], ["lw-ucb"], ("lw-ucb",), "lw-ucb"),
        (["lw-ucb", "ei", "ts"], "ts", ("ts",), "ts"),
        (["lw-ucb", "ei", "ts"], ["ei", "ts"], ("ei", "ts"), "the best of ei, ts"),
    ],
)
def test_the_measure_of_all(policies, reference, expected, measure):
    contest = Contest.prepare([line()], policies, reference=reference)
    assert (contest.reference, contest.measure) == (expected, measure)


def test_a_comparison_holds_the_runs_and_the_floors(no_play, tmp_path):
    seen = []
    problems = [line(), snapshots(), "handful-4d"]
    compared = compare_suite(
        problems, ["ei", "ts"], **SMALL, folder=tmp_path, progress=lambda r, n: seen.append(n)
    )
    assert compared.problems == ("line", "network", "handful-4d")
    assert compared.labels == ("ei", "ts")
    assert seen == [8] * 6
    assert no_play == [tmp_path]
    assert compared.floors["network"] == floor(snapshots(), 2)
    for i, problem in enumerate(compared.problems):
        for j, label in enumerate(compared.labels):
            expected = np.median(compared.results[problem][label].regret.mean(axis=1))
            assert compared.medians[i, j] == pytest.approx(expected)


def test_without_a_folder_nothing_is_kept(no_play):
    compare_suite([line()], ["ei"], **SMALL)
    (folder,) = no_play
    assert not Path(folder).exists()


def test_finished_runs_are_found_and_luck_is_equal(tmp_path):
    """Really played, twice: the second time only what is new."""
    first = compare_suite([line()], ["v-ucb-1"], **SMALL, folder=tmp_path, workers=1)
    stamps = {p.name: p.stat().st_mtime_ns for p in tmp_path.iterdir()}
    assert len(stamps) == 2
    both = compare_suite([line()], ["v-ucb-1", "mean"], **SMALL, folder=tmp_path, workers=1)
    assert {n: (tmp_path / n).stat().st_mtime_ns for n in stamps} == stamps
    assert len(list(tmp_path.iterdir())) == 4
    again, other = (both.results["line"][label] for label in both.labels)
    np.testing.assert_array_equal(again.arms, first.results["line"]["v-ucb-1"].arms)
    np.testing.assert_array_equal(again.initial, other.initial)
    renamed = compare_suite([line()], {"mine": wf.VUCB(kappa=1.0)}, **SMALL, folder=tmp_path)
    assert len(list(tmp_path.iterdir())) == 4  # the same policy under another name
    assert renamed.summary()["problems"]["line"]["policies"]["mine"]["policy"] == "mine"
    alone = wf.simulate(line(), wf.VUCB(kappa=1.0), **SMALL, workers=1)
    np.testing.assert_array_equal(again.regret, alone.regret)


FLAT = wf.Problem(arms=[[0.0], [1.0]], payoff=[2.0, 2.0], name="flat")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"suite": "extreme"}, "suite is 'extreme'"),
        ({"suite": [FLAT]}, "problem 'flat' pays the same at every arm"),
        ({"suite": ["cosin"]}, "problem is 'cosin'"),
        ({"suite": []}, "no problem of the suite can be played: it is empty"),
        ({"suite": ["cosine", "cosine"]}, "problem 'cosine' is in the suite twice"),
        ({"suite": ["temperature"], "data_dir": "nowhere"}, "can be played: problem 'temperature'"),
        ({"policies": ["zzz"]}, "policy is 'zzz'"),
        ({"policies": []}, "policies is empty"),
        ({"reference": ["lw-ucb"]}, "reference is 'lw-ucb'; expected some of .* ei, ts"),
        ({"reference": []}, r"reference is \(\); expected some"),
        ({"rounds": 0}, "rounds is 0"),
        ({"trials": -2}, "trials is -2"),
        ({"seed": -1}, "seed is -1"),
        ({"workers": 0}, "workers is 0"),
        ({"kappa": 1.0}, "kappa is 1.0, but ei, ts has no kappa to set"),
    ],
)
@pytest.mark.usefixtures("no_play")
def test_bad_input_is_named(arguments, message):
    with pytest.raises(InputError, match=message):
        compare_suite(**{"suite": ["handful-4d"], "policies": ["ei", "ts"]} | arguments)


def test_an_ablation_measures_everything_by_the_whole_policy(no_play):
    compared = compare_suite([line()], variants(), **SMALL, reference=[FULL])
    assert compared.labels[0] == FULL
    assert len({repr(policy) for policy in variants().values()}) == len(variants())
    np.testing.assert_allclose(compared.ratios[:, 0], 1.0)
    assert compared.measure == FULL
