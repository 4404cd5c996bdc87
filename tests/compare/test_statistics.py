"""Comparisons against naive loops and SciPy's bootstrap; verdicts follow from the numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from made_up import made_up
from scipy import stats

from windfall.compare.statistics import (
    Comparison,
    bootstrap_interval,
    curve_gap,
    first_trials,
    listed,
    paired,
    paired_gap,
    standing,
)
from windfall.errors import InputError

regrets = arrays(float, (7, 4), elements=st.floats(0.0, 10.0, allow_subnormal=False))


@pytest.mark.parametrize("centre", [np.median, np.mean])
@pytest.mark.parametrize("trials", [6, 25, 100])
def test_interval_agrees_with_scipy(trials, centre):
    values = np.random.default_rng(trials).normal(0.3, 1.0, trials)
    oracle = stats.bootstrap(
        (values,), centre, n_resamples=40000, method="percentile", rng=1
    ).confidence_interval
    # A percentile of 4,000 centres: its own scatter, from ten independent sets of 4,000.
    sets = [
        stats.bootstrap((values,), centre, n_resamples=4000, method="percentile", rng=s)
        for s in range(10)
    ]
    scatter = [
        np.ptp([getattr(s.confidence_interval, end) for s in sets]) for end in ("low", "high")
    ]
    low, high = bootstrap_interval(values, centre)
    assert abs(low - oracle.low) <= scatter[0] + 1e-9
    assert abs(high - oracle.high) <= scatter[1] + 1e-9
    assert low < centre(values) < high


def test_interval_is_the_same_every_time_and_moves_with_the_values():
    values = np.random.default_rng(0).normal(size=30)
    low, high = bootstrap_interval(values)
    assert bootstrap_interval(values) == (low, high)
    assert bootstrap_interval(2 * values + 1) == pytest.approx((2 * low + 1, 2 * high + 1))


def naive(ours, other) -> tuple[float, int, int, int]:
    differences, wins, ties, losses = [], 0, 0, 0
    for a, b in zip(ours.regret, other.regret, strict=True):
        mean_a, mean_b = sum(a) / len(a), sum(b) / len(b)
        differences.append(mean_a - mean_b)
        if abs(mean_a - mean_b) <= 1e-6 * max(abs(mean_a), abs(mean_b)):
            ties += 1
        elif mean_a < mean_b:
            wins += 1
        else:
            losses += 1
    return float(np.median(differences)), wins, ties, losses


@given(regrets, regrets)
def test_paired_agrees_with_loops_and_turns_round(a, b):
    a, b = made_up(a, "lw-ucb"), made_up(b, "ei")
    one, other = paired(a, b), paired(b, a)
    difference, wins, ties, losses = naive(a, b)
    assert one.difference == pytest.approx(difference, abs=1e-12)
    assert (one.wins, one.ties, one.losses) == (wins, ties, losses)
    assert one.low <= one.high
    assert (other.wins, other.ties, other.losses) == (losses, ties, wins)
    assert other.difference == pytest.approx(-difference, abs=1e-12)


@given(regrets, regrets)
def test_paired_gaps_are_the_means_of_what_the_best_pulls_missed(a, b):
    gaps = [[min(trial) for trial in regret] for regret in (a, b)]
    pair = paired_gap(made_up(a, "lw-ucb"), made_up(b, "ei"))
    differences = [x - y for x, y in zip(*gaps, strict=True)]
    assert pair.difference == pytest.approx(sum(differences) / len(differences), abs=1e-12)
    assert pair.wins + pair.ties + pair.losses == pair.trials == len(a)
    assert pair.wins <= sum(d < 0 for d in differences)
    assert pair.summary()["verdict"] == pair.verdict


def test_a_needle_found_in_half_of_the_trials_more_is_seen_by_the_mean():
    """The median of the differences is 0: it would call the two policies equal."""
    never = np.full((40, 5), 10.0)
    often = never.copy()
    often[:18, 3] = 0.0
    pair = paired_gap(made_up(often), made_up(never, "ei"))
    assert pair.verdict == "better"
    assert pair.difference == pytest.approx(-4.5)
    assert (pair.wins, pair.ties, pair.losses) == (18, 22, 0)
    with pytest.raises(InputError, match="not paired"):
        paired_gap(made_up(often), made_up(never[:5], "ei"))


def test_verdicts():
    rng = np.random.default_rng(2)
    base = rng.uniform(1.0, 2.0, (40, 10))
    better, worse = made_up(base - 0.5), made_up(base + 0.5)
    plain = made_up(base, "ei")
    assert paired(better, plain).verdict == "better"
    assert paired(worse, plain).verdict == "worse"
    assert paired(made_up(base), plain).verdict == "undecided"
    assert paired(made_up(base), plain).ties == 40
    noise = made_up(base + rng.normal(0, 0.5, (40, 1)))
    assert paired(noise, plain).verdict == "undecided"
    assert Comparison("ei", 5, -1.0, -2.0, -0.5, 5, 0, 0).verdict == "undecided"  # too few trials
    assert Comparison("ei", 6, -1.0, -2.0, -0.5, 6, 0, 0).verdict == "better"


def test_runs_that_are_not_paired_are_refused():
    with pytest.raises(InputError, match="lw-ucb and ei are not paired"):
        paired(made_up(np.ones((3, 4))), made_up(np.ones((3, 5)), "ei"))
    with pytest.raises(InputError, match="same problem, seed, trials and rounds"):
        paired(made_up(np.ones((3, 4))), made_up(np.ones((3, 4)), "ei", seed=1))


def test_standing_against_naive_numbers():
    rng = np.random.default_rng(3)
    theirs = rng.uniform(1, 3, (9, 20))
    running = np.cumsum(theirs, axis=1) / np.arange(1, 21)
    median = np.median(running, axis=0)
    mad = np.median(np.abs(running - median), axis=0)
    for shift, place in ((-1.5, "below"), (0.9, "within"), (1.5, "above")):
        # one trial whose R_t/t is their median, moved by so many of their last MADs
        curve = median + shift * mad[-1]
        ours = made_up(np.diff(curve * np.arange(1, 21), prepend=0.0)[None])
        got = standing(ours, made_up(theirs))
        assert got.place == place
        assert (got.median, got.mad, got.trials) == (median[-1], mad[-1], 9)
        assert got.inside == pytest.approx(np.mean(abs(shift) * mad[-1] <= mad))
        assert got.gap == pytest.approx(np.mean(np.abs(np.log10(curve) - np.log10(median))))


def test_first_trials_are_whole_trials():
    result = made_up(np.random.default_rng(5).uniform(size=(7, 4)))
    some = first_trials(result, 3)
    np.testing.assert_array_equal(some.regret, result.regret[:3])
    assert (some.trials, some.label, some.seed) == (3, result.label, result.seed)
    assert some.arms.shape == some.rewards.shape == (3, 4)
    assert first_trials(result, 99).trials == 7


def test_gap_is_a_distance():
    rng = np.random.default_rng(4)
    a, b, c = rng.uniform(0.1, 10, (3, 30))
    assert curve_gap(a, a) == 0.0
    assert curve_gap(a, b) == pytest.approx(curve_gap(b, a))
    assert curve_gap(a, c) <= curve_gap(a, b) + curve_gap(b, c)
    assert np.isfinite(curve_gap(np.zeros(3), np.ones(3)))


def test_listed():
    assert listed(["EI"]) == "EI"
    assert listed(name for name in ("EI", "TS")) == "EI and TS"
