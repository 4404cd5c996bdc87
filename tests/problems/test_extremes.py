"""The suite: what it covers, that every trial is another instance, and that nothing drifts."""

import re
from pathlib import Path

import numpy as np
import pytest

from windfall.problems import describe, load, suite
from windfall.problems.extremes import EXTREMES, SNAPSHOTS
from windfall.problems.problem import Problem
from windfall.space import Arms

ROOT = Path(__file__).resolve().parent.parent.parent
TUNE, REPORT = suite("extremes-tune"), suite("extremes-report")
#: The first payoff of trial 0 and the last of trial 19.
KNOWN = {
    "hill-3d": (-0.8512079, 1.025064),
    "needle-2d": (-0.17371754, -0.17544491),
    "spikes-2d": (-0.55034718, -0.50048032),
    "plateaus-4d": (-0.56171653, 0.18702366),
    "ridge-5d": (-0.42284308, -0.25111733),
    "rugged-1d": (0.20798253, 0.56637239),
    "menu-7d": (-0.82857867, 0.77789882),
    "pareto-2d": (0.43468537, -0.25349297),
    "hill-8d": (-0.78011606, 2.2901106),
    "needle-3d": (-0.24213566, -0.21177496),
    "spikes-4d": (-0.72202413, -0.80244155),
    "steps-1d": (-0.015077281, -1.3891183),
    "valley-2d": (0.64668539, 0.5115915),
    "rugged-6d": (0.51588716, -1.3337058),
    "decoy-2d": (1.2293095, -0.88323985),
    "recipe-5d": (-0.17256565, -0.1533595),
    "student-6d": (0.63997322, -0.19455879),
    "helix-3d": (-0.80525882, -0.73246514),
    "handful-4d": (1.0811378, 0.15240956),
}


@pytest.fixture(scope="module")
def problems() -> dict[str, Problem]:
    return {name: load(name) for name in suite("extremes")}


def test_the_halves_are_disjoint_and_make_the_whole():
    assert len(TUNE) == 8
    assert len(REPORT) >= 8
    assert suite("extremes") == TUNE + REPORT
    assert not set(TUNE) & set(REPORT)
    assert not set(suite("extremes")) & set(suite("paper"))


def test_the_suite_covers_what_it_is_for(problems):
    rows = list(problems.values())
    assert {p.dimension for p in rows} == set(range(1, 9))
    assert (min(p.size for p in rows), max(p.size for p in rows)) == (20, 20_000)
    words = " ".join(p.description for p in rows)
    for kind in ("hill", "needle", "spikes", "plateaus", "ridge", "valley", "rugged", "steps",
                 "narrow high spike far away", "no structure, Pareto", "no structure, Student",
                 "clusters", "holes", "helix", "scaled", "one-hot", "whole numbers",
                 "grid"):  # fmt: skip
        assert kind in words
    for half in (TUNE, REPORT):
        assert {0.1, 0.5} <= {problems[name].noise for name in half}
        assert len({problems[name].dimension for name in half}) >= 5
        assert len({problems[name].size for name in half}) >= 7
        assert any("no structure" in problems[name].description for name in half)


def test_no_problem_is_in_both_halves_under_two_names():
    def identity(name):
        known = EXTREMES[name]
        return known.landscape, load(name).dimension

    assert not {identity(n) for n in TUNE} & {identity(n) for n in REPORT}


def test_protocols_are_in_range(problems):
    for problem in problems.values():
        protocol = problem.protocol
        assert 40 <= protocol.rounds <= 100
        assert protocol.trials == 20
        assert 1 <= protocol.initial <= 10


@pytest.mark.parametrize("name", suite("extremes"))
def test_payoffs_are_standardised_in_every_trial(problems, name):
    payoff = problems[name].payoff
    assert payoff.shape == (SNAPSHOTS, problems[name].size)
    np.testing.assert_allclose(payoff.mean(axis=1), 0.0, atol=1e-10)
    np.testing.assert_allclose(payoff.std(axis=1), 1.0, rtol=1e-10)
    assert np.abs(payoff).max() < np.sqrt(problems[name].size)


@pytest.mark.parametrize("name", suite("extremes"))
def test_the_optimum_is_the_best_arm_s_payoff(problems, name):
    problem = problems[name]
    for trial in (0, 7, SNAPSHOTS + 7):
        best, where = -np.inf, -1
        for arm, payoff in enumerate(problem.payoffs(trial).tolist()):
            if payoff > best:
                best, where = payoff, arm
        assert problem.optimum(trial) == best
        assert problem.optimal_arm(trial) == where
    assert problem.optimum(7) == problem.optimum(SNAPSHOTS + 7)


@pytest.mark.parametrize("name", suite("extremes"))
def test_every_trial_has_another_landscape(problems, name):
    problem = problems[name]
    distinct = {row.tobytes() for row in problem.payoff}
    assert len(distinct) == SNAPSHOTS
    # Also the best arm moves. Twenty arms, or a whole step that pays the same, leave fewer places.
    places = {problem.optimal_arm(trial) for trial in range(SNAPSHOTS)}
    assert len(places) >= min(15, problem.size // 2)


@pytest.mark.parametrize("name", suite("extremes"))
def test_loading_twice_gives_the_same(problems, name):
    again = load(name)
    np.testing.assert_array_equal(again.arms, problems[name].arms)
    np.testing.assert_array_equal(again.payoff, problems[name].payoff)


def test_the_problems_are_the_same_on_every_machine_and_version(problems):
    """A few payoffs, so that results saved today stay comparable."""
    looked_at = {name: problem.payoff[[0, 19], [0, -1]] for name, problem in problems.items()}
    for name, expected in KNOWN.items():
        np.testing.assert_allclose(looked_at[name], expected, rtol=1e-6, err_msg=name)
    assert looked_at.keys() == KNOWN.keys()


def test_unstructured_payoffs_ignore_the_features(problems):
    """A payoff tells nothing about its nearest neighbour's; the correlation's deviation is 1/√M."""
    for name in ("pareto-2d", "student-6d"):
        problem = problems[name]
        distance = ((problem.arms[:, None] - problem.arms) ** 2).sum(axis=-1)
        np.fill_diagonal(distance, np.inf)
        neighbour = distance.argmin(axis=1)
        ranks = problem.payoff.argsort(axis=1).argsort(axis=1)
        correlations = [np.corrcoef(row, row[neighbour])[0, 1] for row in ranks]
        assert abs(np.mean(correlations)) < 5 / np.sqrt(problem.size * SNAPSHOTS)


def test_structured_payoffs_do_not_ignore_the_features(problems):
    for name in ("hill-3d", "spikes-2d", "plateaus-4d", "rugged-1d", "ridge-5d", "helix-3d"):
        problem = problems[name]
        unit = Arms(problem.arms).points
        first = unit[:300]
        distance = ((first[:, None] - unit) ** 2).sum(axis=-1)
        distance[np.arange(len(first)), np.arange(len(first))] = np.inf
        row = problem.payoffs(0)
        assert np.corrcoef(row[: len(first)], row[distance.argmin(axis=1)])[0, 1] > 0.2


def test_all_payoffs_together_stay_small(problems):
    assert sum(problem.payoff.nbytes for problem in problems.values()) < 32e6


def table() -> str:
    """The table that docs/suite.md holds."""
    lines = [
        "| problem | half | features | arms | noise | T | initial | landscape | arms are |",
        "|---|---|--:|--:|--:|--:|--:|---|---|",
    ]
    rows = {row.name: row for row in describe()}
    for name, known in EXTREMES.items():
        row = rows[name]
        lines.append(
            f"| `{name}` | {known.half} | {row.dimension} | {row.arms:,} | {row.noise:g} "
            f"| {row.rounds} | {known.initial} | {known.landscape} | {known.arm_set} |"
        )
    return "\n".join(lines)


def test_the_documentation_s_table_is_the_suite():
    page = (ROOT / "docs" / "suite.md").read_text()
    (found,) = re.findall(r"^\| problem \| half .*?(?=\n\n)", page, re.MULTILINE | re.DOTALL)
    assert found == table()
