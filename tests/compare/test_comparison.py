"""The table's mathematics against loops over plain numbers."""

import dataclasses
import json
import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up import made_up

from windfall.compare.comparison import Comparison
from windfall.compare.multiples import floor, geometric_mean
from windfall.problems import Problem

PROBLEMS = ("cosine", "hill-3d", "needle-2d", "steps-1d")
LABELS = ("mine", "ei", "ts")


def compared(regrets: dict, floors=None, reference=("ei", "ts")) -> Comparison:
    """From (trials, rounds) regrets by problem and label."""
    results = {
        problem: {label: made_up(r, label, problem=problem) for label, r in row.items()}
        for problem, row in regrets.items()
    }
    floors = floors or dict.fromkeys(regrets, 0.01)
    return Comparison("extremes", results, floors, tuple(reference), "the best classical", {})


def by_lot(seed=0) -> dict:
    rng = np.random.default_rng(seed)
    return {p: {k: rng.exponential(size=(5, 7)) for k in LABELS} for p in PROBLEMS}


@pytest.fixture
def lot() -> dict:
    return by_lot()


def naive_medians(regrets: dict) -> dict:
    return {
        p: {k: statistics.median(sum(trial) / len(trial) for trial in r) for k, r in row.items()}
        for p, row in regrets.items()
    }


@given(
    seed=st.integers(0, 1000),
    height=st.sampled_from([1e-9, 0.5, 1.0, 100.0]),
    reference=st.sampled_from([("ei",), ("ei", "ts"), LABELS]),
)
def test_ratios_means_and_shares(seed, height, reference):
    regrets = by_lot(seed)
    table = compared(regrets, dict.fromkeys(PROBLEMS, height), reference)
    medians = naive_medians(regrets)
    products, near, worst = dict.fromkeys(LABELS, 1.0), dict.fromkeys(LABELS, 0), {}
    for i, problem in enumerate(PROBLEMS):
        raised = {k: max(m, height) for k, m in medians[problem].items()}
        best = min(raised[k] for k in reference)
        for j, label in enumerate(LABELS):
            ratio = raised[label] / best
            assert table.medians[i, j] == pytest.approx(medians[problem][label])
            assert table.ratios[i, j] == pytest.approx(ratio)
            products[label] *= ratio
            near[label] += raised[label] <= 1.05 * min(raised.values())
            worst[label] = max(worst.get(label, 0.0), ratio)
    summary = table.summary()
    for label in LABELS:
        mean = products[label] ** (1 / len(PROBLEMS))
        assert summary["geometric_mean"]["all problems"][label] == pytest.approx(mean)
        assert summary["within_5_percent"][label] == near[label] / len(PROBLEMS)
        assert summary["worst_ratio"][label] == pytest.approx(worst[label])


@given(scale=st.floats(1e-3, 1e3), seed=st.integers(0, 100))
def test_units_of_a_problem_do_not_matter(scale, seed):
    regrets = by_lot(seed)
    scaled = {p: {k: scale * r for k, r in row.items()} for p, row in regrets.items()}
    first = compared(regrets, dict.fromkeys(PROBLEMS, 0.3))
    second = compared(scaled, dict.fromkeys(PROBLEMS, 0.3 * scale))
    np.testing.assert_allclose(first.ratios, second.ratios)


def test_a_regret_of_zero_has_a_ratio():
    zero, some = np.zeros((3, 4)), np.full((3, 4), 0.2)
    table = compared({"cosine": {"mine": zero, "ei": some, "ts": zero}})
    np.testing.assert_allclose(table.ratios, [[1.0, 20.0, 1.0]])
    np.testing.assert_allclose(table.means()["all problems"], [1.0, 20.0, 1.0])


def test_regrets_below_the_floor_are_equal():
    table = compared(
        {"cosine": {k: np.full((2, 3), v) for k, v in zip(LABELS, (1e-9, 1e-3, 1e-2), strict=True)}}
    )
    np.testing.assert_array_equal(table.ratios, np.ones((1, 3)))
    np.testing.assert_array_equal(table.close, np.ones(3))


def test_each_suite_among_the_problems_has_a_mean_of_its_own(lot):
    table = compared(lot)
    means = table.means()
    assert list(means) == ["paper", "extremes-tune", "extremes-report", "all problems"]
    for part, rows in (("paper", [0]), ("extremes-tune", [1, 2]), ("extremes-report", [3])):
        for j in range(len(LABELS)):
            logs = [math.log(table.ratios[i, j]) for i in rows]
            assert means[part][j] == pytest.approx(math.exp(sum(logs) / len(logs)))
    alone = compared({p: lot[p] for p in PROBLEMS[1:3]})
    assert list(alone.means()) == ["all problems"]


def test_lists_of_one_s_own_belong_to_no_suite_whatever_they_are_called(lot):
    assert list(dataclasses.replace(compared(lot), name="real").means()) == ["all problems"]


def test_the_floor_is_a_hundredth_of_a_random_arm_s_regret():
    payoff = np.array([[0.0, 1.0, 5.0], [0.0, 0.0, 9.0], [50.0, 0.0, 100.0]])
    problem = Problem(arms=[[0.0], [1.0], [2.0]], payoff=payoff)
    gaps = [statistics.mean(max(row) - value for value in row) for row in payoff]
    assert floor(problem, 2) == pytest.approx(0.01 * statistics.mean(gaps[:2]))
    assert floor(problem, 3) == floor(problem, 30) == pytest.approx(0.01 * statistics.mean(gaps))


def test_the_geometric_mean_is_the_exponential_of_mean_logarithms():
    np.testing.assert_allclose(geometric_mean(np.array([[1.0], [2.0], [4.0]])), [2.0])
    np.testing.assert_allclose(geometric_mean(np.array([[1.0, 8.0], [4.0, 2.0]])), [2.0, 4.0])


def test_the_table_says_the_numbers_and_marks_the_lowest(lot):
    lot["cosine"]["ts"] = np.full((5, 7), 1e-5)
    table = compared(lot)
    facts = table.table()
    assert facts.columns == ("problem", *LABELS)
    by_name = {row[0]: row[1:] for row in facts.rows}
    for i, problem in enumerate(PROBLEMS):
        for j, cell in enumerate(by_name[problem]):
            mean = np.mean(lot[problem][LABELS[j]])
            expected = f"{table.medians[i, j]:.3g} ×{table.ratios[i, j]:.2f} ({mean:.3g})"
            lowest = table.medians[i, j] == min(table.medians[i])
            assert cell == (f"**{expected}**" if lowest else expected)
    assert by_name["cosine"][2] == "**1e-05 ×1.00 (1e-05)**"
    means = [float(cell.strip("×")) for cell in by_name["geometric mean, all problems"]]
    np.testing.assert_allclose(means, table.means()["all problems"], atol=6e-4)
    worst = [float(cell.strip("×")) for cell in by_name["worst"]]
    np.testing.assert_allclose(worst, table.ratios.max(axis=0), atol=6e-3)
    shares = [float(cell.strip("%")) / 100 for cell in by_name["within 5 % of the best"]]
    np.testing.assert_allclose(shares, table.close, atol=6e-3)
    assert "the best classical" in facts.caption


def test_the_summary_is_plain_and_has_the_percentiles(lot, tmp_path):
    table = compared(lot)
    files = table.save(tmp_path, "compare-extremes")
    assert [f.name for f in files] == ["compare-extremes.json", "compare-extremes.md"]
    summary = json.loads(files[0].read_text())
    assert summary == table.summary()
    one = summary["problems"]["hill-3d"]["policies"]["ts"]
    finals = sorted(np.mean(lot["hill-3d"]["ts"], axis=1))
    # The 90th percentile of five is 60 % of the way from the fourth to the fifth.
    assert one["percentile_90"] == pytest.approx(0.4 * finals[3] + 0.6 * finals[4])
    assert one["ratio"] == pytest.approx(table.ratios[1, 2])
    assert one["gap_ratio"] == pytest.approx(table.gap_ratios[1, 2])
    assert table.table().markdown() in files[1].read_text()
    assert table.gap_table().markdown() in files[1].read_text()


@pytest.mark.parametrize(
    ("goal", "first"), [("reward", ["earning", "finding"]), ("best", ["finding", "earning"])]
)
def test_what_the_goal_asks_for_comes_first(lot, goal, first, tmp_path):
    table = dataclasses.replace(compared(lot), goal=goal)
    assert list(table.tables()) == first
    assert table.summary()["goal"] == goal
    _, file = table.save(tmp_path, "compare")
    written = [file.read_text().index(facts.caption) for facts in table.tables().values()]
    assert written == sorted(written)


def naive_gap(regrets) -> float:
    """What the best arm pulled misses, in the mean over trials."""
    return sum(min(trial) for trial in regrets) / len(regrets)


@given(seed=st.integers(0, 1000), height=st.sampled_from([1e-9, 0.5, 100.0]))
def test_gaps_have_the_same_arithmetic(seed, height):
    regrets = by_lot(seed)
    table = compared(regrets, dict.fromkeys(PROBLEMS, height))
    products = np.ones(len(LABELS))
    for i, problem in enumerate(PROBLEMS):
        gaps = [naive_gap(regrets[problem][label]) for label in LABELS]
        raised = [max(gap, height) for gap in gaps]
        np.testing.assert_allclose(table.gaps[i], gaps)
        np.testing.assert_allclose(table.gap_ratios[i], np.array(raised) / min(raised[1:]))
        products *= table.gap_ratios[i]
    np.testing.assert_allclose(table.gap_means()["all problems"], products ** (1 / len(PROBLEMS)))


def test_the_gap_s_table_has_shares_verdicts_and_marks_the_lowest():
    trials = 8
    found, near, far = (np.full((trials, 6), v) for v in (0.0, 0.5, 2.0))
    far[:, 0] = near[:, 0] = found[:, 0] = 3.0
    half = np.where(np.arange(trials)[:, None] % 2 == 0, found, far)
    facts = compared({"cosine": {"mine": found, "ei": near, "ts": far},
                      "hill-3d": {"mine": far, "ei": near, "ts": half}}).gap_table()  # fmt: skip
    rows = {row[0]: row[1:] for row in facts.rows}
    assert rows["cosine"] == ("**0 ×0.02 100%**", "0.5 ×1.00 0%", "2 ×4.00 0%")
    assert rows["hill-3d"] == ("2 ×4.00 0%", "**0.5 ×1.00 0%**", "1 ×2.00 50%")
    # On each, against ei; half of ts' trials are better than ei's and the others worse by more.
    assert rows["better : worse"] == ("1 : 1", "0 : 0", "0 : 1")
    assert rows["stuck"] == ("50%", "100%", "75%")
    pair = compared({"cosine": {"mine": found, "ei": near, "ts": far}}).gap_pairs["cosine"]["mine"]
    assert (pair.baseline, pair.difference, pair.wins) == ("ei", -0.5, trials)
    assert "fewer than 6 trials decide nothing" in facts.caption


def test_both_quantities_are_compared_within_trials_with_the_best_reference():
    """Who earns most of the references need not be who finds most."""
    steady, late = np.full((8, 4), 1.0), np.tile([3.0, 3.0, 3.0, 0.5], (8, 1))
    table = compared({"cosine": {"mine": steady - 0.25, "ei": steady, "ts": late}})
    said = table.summary()["problems"]["cosine"]["policies"]["mine"]
    for quantity, pairs, baseline, difference in (
        ("", table.pairs, "ei", -0.25),
        ("gap_", table.gap_pairs, "ts", 0.25),
    ):
        pair = pairs["cosine"]["mine"]
        assert said[f"{quantity}against_best"] == pair.summary()
        assert (pair.baseline, pair.difference) == (baseline, difference)
        assert (pair.low, pair.high, pair.trials) == (difference, difference, 8)
