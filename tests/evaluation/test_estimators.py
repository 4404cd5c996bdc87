"""Estimators and intervals: against naive loops, all logs there are, SciPy, and simulated logs."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from windfall.evaluation.estimators import ESTIMATORS, INTERVALS, RESAMPLED, Rows, effective_size


def some_rows(n: int = 40, seed: int = 0) -> Rows:
    rng = np.random.default_rng(seed)
    return Rows(rng.normal(size=n), rng.gamma(1.0, size=n), rng.normal(size=n), rng.normal(size=n))


def one_by_one(rows: Rows) -> dict[str, float]:
    """Every estimator as a loop over rows."""
    direct = weighted = weights = robust = 0.0
    for r, w, q, v in zip(rows.reward, rows.weight, rows.predicted, rows.value, strict=True):
        direct += v
        weighted += w * r
        weights += w
        robust += v + w * (r - q)
    n = len(rows)
    return {
        "direct": direct / n,
        "ips": weighted / n,
        "snips": weighted / weights,
        "doubly_robust": robust / n,
    }


@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_estimators_are_those_of_a_loop(name):
    rows = some_rows()
    value, _ = ESTIMATORS[name](rows)
    assert value == pytest.approx(one_by_one(rows)[name], rel=1e-12)


#: Two contexts, three arms, rewards 0 or 1: everything that two rows can be.
CONTEXTS = np.array([0.3, 0.7])
LOGGING = np.array([[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]])
TARGET = np.array([[0.7, 0.1, 0.2], [0.0, 0.9, 0.1]])
PAYS = np.array([[0.1, 0.8, 0.5], [0.3, 0.6, 0.9]])
#: A model, wrong everywhere, that has seen none of these rows.
MODEL = np.array([[0.4, 0.4, 0.1], [0.9, 0.2, 0.3]])
TRUTH = float(CONTEXTS @ np.sum(TARGET * PAYS, axis=1))


def expected(name: str) -> float:
    """The estimator's mean over all logs of two rows, each as probable as it is."""
    row = list(product(range(2), range(3), (0.0, 1.0)))
    total = 0.0
    for log in product(row, repeat=2):
        x, a, r = map(np.array, zip(*log, strict=True))
        paid = np.where(r == 1.0, PAYS[x, a], 1.0 - PAYS[x, a])
        probability = float(np.prod(CONTEXTS[x] * LOGGING[x, a] * paid))
        weight = TARGET[x, a] / LOGGING[x, a]
        value = np.sum(TARGET * MODEL, axis=1)[x]
        with np.errstate(invalid="ignore"):
            found, _ = ESTIMATORS[name](Rows(r, weight, MODEL[x, a], value))
        total += probability * np.nan_to_num(float(found))
    return total


@pytest.mark.parametrize("name", ["ips", "doubly_robust"])
def test_over_all_logs_there_are_the_bias_is_nothing(name):
    """144 logs, each term at most 1/0.1: what is left is rounding."""
    assert abs(expected(name) - TRUTH) < 144 * 10 * np.finfo(float).eps


def test_over_all_logs_the_others_have_the_bias_that_they_must_have():
    model = float(CONTEXTS @ np.sum(TARGET * MODEL, axis=1))
    assert expected("direct") == pytest.approx(model, rel=1e-12)
    assert abs(model - TRUTH) > 0.1
    assert abs(expected("snips") - TRUTH) > 0.01


@pytest.mark.parametrize("name", ["ips", "doubly_robust"])
def test_the_normal_interval_of_a_mean_is_students(name):
    rows = some_rows()
    terms = rows.weight * rows.reward
    if name == "doubly_robust":
        terms = rows.value + rows.weight * (rows.reward - rows.predicted)
    theirs = stats.ttest_1samp(terms, 0.0).confidence_interval(0.9)
    ours = INTERVALS["normal"](name, rows, 0.9, 0)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), rel=1e-10)
    assert ours.error == pytest.approx(stats.sem(terms), rel=1e-12)


def test_what_a_row_adds_to_the_error_of_snips_is_its_derivative():
    """n times the slope of the estimate in how often row i counts, by central differences."""
    rows, step = some_rows(), 1e-5
    _, spread = ESTIMATORS["snips"](rows)
    assert spread is not None
    for i in (0, 7, 39):
        ends = []
        for sign in (1, -1):
            count = np.ones(len(rows))
            count[i] += sign * step
            w = count * rows.weight
            ends.append(np.sum(w * rows.reward) / np.sum(w))
        slope = len(rows) * (ends[0] - ends[1]) / (2 * step)
        # Rounding 1e-16/1e-5, and the third derivative times 1e-10.
        assert spread[i] == pytest.approx(slope, abs=1e-7)


def test_the_direct_method_has_no_interval():
    for way in INTERVALS.values():
        assert np.isnan(way("direct", some_rows(), 0.95, 0).low)


@pytest.mark.parametrize("name", ["ips", "snips", "doubly_robust"])
def test_a_bootstrap_is_quantiles_over_resampled_logs(name):
    rows = some_rows(20)
    numbers = np.random.default_rng(3).integers(0, 20, (RESAMPLED, 20))
    again = [one_by_one(rows[chosen])[name] for chosen in numbers]
    ours = INTERVALS["bootstrap"](name, rows, 0.8, 3)
    assert (ours.low, ours.high) == pytest.approx(np.quantile(again, [0.1, 0.9]), rel=1e-9)
    assert ours.error == pytest.approx(np.std(again), rel=1e-9)


def test_a_long_log_is_resampled_a_few_times_at_once():
    rows = some_rows(2000)
    normal, bootstrap = (way("ips", rows, 0.95, 0) for way in INTERVALS.values())
    # The relative error of a deviation from 2,000 samples is 1/√4000; of a quantile, half more.
    assert bootstrap.error == pytest.approx(normal.error, rel=5 / np.sqrt(2 * RESAMPLED))


def simulated(rng, n: int) -> Rows:
    x = (rng.random(n) < CONTEXTS[1]).astype(int)
    a = np.sum(rng.random(n)[:, None] > np.cumsum(LOGGING, axis=1)[x], axis=1)
    r = (rng.random(n) < PAYS[x, a]).astype(float)
    value = np.sum(TARGET * MODEL, axis=1)[x]
    return Rows(r, TARGET[x, a] / LOGGING[x, a], MODEL[x, a], value)


@pytest.mark.parametrize("name", ["ips", "snips", "doubly_robust"])
def test_intervals_hold_the_truth_as_often_as_they_say(name):
    """1,000 logs of 400 rows: binomial error ±0.7 points.

    Besides that, t intervals of skewed means are off by terms of order skew²/n (Hall 1992): weights
    are 9 at most, the terms' skew is below 6, so that 36/400 times φ(z)z³/9 ≈ 0.05 stays below half
    a point.
    """
    rng, logs = np.random.default_rng(1), 1000
    hits = 0
    for _ in range(logs):
        found = INTERVALS["normal"](name, simulated(rng, 400), 0.95, 0)
        hits += found.low <= TRUTH <= found.high
    assert abs(hits / logs - 0.95) < 4 * np.sqrt(0.95 * 0.05 / logs) + 0.005


def test_the_effective_size():
    assert effective_size(np.ones(7)) == pytest.approx(7.0)
    assert effective_size(np.array([5.0, 0.0, 0.0])) == pytest.approx(1.0)
    assert effective_size(np.zeros(3)) == 0.0
    w = some_rows().weight
    assert effective_size(w) == pytest.approx(len(w) / (1 + np.var(w) / np.mean(w) ** 2))
