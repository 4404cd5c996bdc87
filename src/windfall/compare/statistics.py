"""Which policy is better, by how much, and how sure that is: every verdict from numbers.

Runs with one seed share initial arms and noise trial by trial, so that policies are compared by the
differences within trials: of R_T/T, what was lost on the way, by their median; of the gap of the
best arm pulled, by their mean, because a needle that half of the trials find has no median.
"""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from windfall.errors import InputError
from windfall.simulation.results import Result

__all__ = [
    "Comparison",
    "Standing",
    "bootstrap_interval",
    "curve_gap",
    "first_trials",
    "listed",
    "paired",
    "paired_gap",
    "standing",
]

RESAMPLES = 4000
CONFIDENCE = 0.95
#: With fewer, even a policy that wins every trial has p = 2 · 2⁻ⁿ > 0.05 in a sign test.
ENOUGH_TRIALS = 6
_TIE = 1e-6
_SEED = 20220


@dataclass(frozen=True)
class Comparison:
    """A policy against one baseline, trial by trial.

    Attributes:
        baseline: Its label.
        trials: How many pairs there are.
        difference: What the policy lost minus what the baseline lost, the median (or for gaps the
            mean) over trials; below 0 is better.
        low: Lower end of its bootstrap interval.
        high: Upper end.
        wins: Trials in which the policy lost less.
        ties: Trials in which they are equal.
        losses: The others.
    """

    baseline: str
    trials: int
    difference: float
    low: float
    high: float
    wins: int
    ties: int
    losses: int

    @property
    def enough(self) -> bool:
        """Whether there are so many trials that the interval says something."""
        return self.trials >= ENOUGH_TRIALS

    @property
    def verdict(self) -> Literal["better", "worse", "undecided"]:
        """Better or worse only if the whole interval is on one side of 0 and trials suffice.

        Example:
            >>> Comparison("ei", 100, -0.2, -0.3, -0.1, 80, 0, 20).verdict
            'better'
        """
        if not self.enough:
            return "undecided"
        return "better" if self.high < 0 else "worse" if self.low > 0 else "undecided"

    def summary(self) -> dict[str, Any]:
        """All numbers and the verdict, as plain ones."""
        return asdict(self) | {"verdict": self.verdict}


@dataclass(frozen=True)
class Standing:
    """Where our median curve lies relative to the authors' median ± MAD.

    Attributes:
        median: The authors' R_T/T, median over trials.
        mad: Its median absolute deviation.
        trials: The authors' trials.
        place: Of our R_T/T: "below", "within" or "above" their band.
        inside: Share of the rounds in which our median is within their band.
        gap: Mean over rounds of |log10 of our median − log10 of theirs|.
    """

    median: float
    mad: float
    trials: int
    place: Literal["below", "within", "above"]
    inside: float
    gap: float


def paired(ours: Result, baseline: Result) -> Comparison:
    """Compare R_T/T within trials; both must have the same trials of the same problem."""
    _check_paired(ours, baseline)
    a, b = ours.mean_regret[:, -1], baseline.mean_regret[:, -1]
    return _compare(baseline.label, a, b, np.median)


def paired_gap(ours: Result, baseline: Result) -> Comparison:
    """Compare the gap of the best arm pulled within trials, by the mean of the differences."""
    _check_paired(ours, baseline)
    return _compare(baseline.label, ours.gap[:, -1], baseline.gap[:, -1], np.mean)


def _check_paired(ours: Result, baseline: Result) -> None:
    if (ours.problem, ours.seed, ours.regret.shape) != (
        baseline.problem,
        baseline.seed,
        baseline.regret.shape,
    ):
        raise InputError(
            f"{ours.label} and {baseline.label} are not paired: expected the same problem, seed, "
            f"trials and rounds, got {ours.problem!r} {ours.regret.shape} and "
            f"{baseline.problem!r} {baseline.regret.shape}"
        )


def _compare(label: str, a: np.ndarray, b: np.ndarray, centre: Callable[..., Any]) -> Comparison:
    """Losses of a policy against a baseline's; ``centre`` is the median or the mean."""
    tied = np.abs(a - b) <= _TIE * np.maximum(np.abs(a), np.abs(b))
    low, high = bootstrap_interval(a - b, centre)
    return Comparison(
        baseline=label,
        trials=len(a),
        difference=float(centre(a - b)),
        low=low,
        high=high,
        wins=int(np.sum((a < b) & ~tied)),
        ties=int(np.sum(tied)),
        losses=int(np.sum((a > b) & ~tied)),
    )


def bootstrap_interval(
    values: np.ndarray, centre: Callable[..., Any] = np.median
) -> tuple[float, float]:
    """Percentile bootstrap interval of the median or another centre, 95 %, from a fixed seed.

    Example:
        >>> bootstrap_interval(np.ones(9))
        (1.0, 1.0)
    """
    draws = np.random.default_rng(_SEED).integers(0, len(values), (RESAMPLES, len(values)))
    centres = centre(values[draws], axis=1)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(centres, [tail, 1 - tail])
    return float(low), float(high)


def standing(ours: Result, authors: Result) -> Standing:
    """Our median beside the authors' band, over the rounds that both have."""
    rounds = min(ours.rounds, authors.rounds)
    median, theirs, mad = (a[:rounds] for a in (ours.median, authors.median, authors.deviation))
    inside = np.abs(median - theirs) <= mad
    away = "below" if median[-1] < theirs[-1] else "above"
    return Standing(
        median=float(theirs[-1]),
        mad=float(mad[-1]),
        trials=authors.trials,
        place="within" if inside[-1] else away,
        inside=float(np.mean(inside)),
        gap=curve_gap(median, theirs),
    )


def first_trials(result: Result, trials: int) -> Result:
    """The first trials of a result: of two runs with one seed they are the same ones.

    A variant may be played fewer times than the run it departs from.
    """
    kept = {k: getattr(result, k)[:trials] for k in ("regret", "arms", "rewards", "initial")}
    return replace(result, **kept)


def curve_gap(first: np.ndarray, second: np.ndarray) -> float:
    """Mean distance of two curves of positive numbers on a log10 scale.

    Example:
        >>> curve_gap(np.array([1.0, 10.0]), np.array([10.0, 10.0]))
        0.5
    """
    floor = 1e-12  # a median regret of 0 has no logarithm
    return float(np.mean(np.abs(np.log10(np.maximum(first, floor) / np.maximum(second, floor)))))


def listed(words: Iterable[str]) -> str:
    """Words as a sentence lists them.

    Example:
        >>> listed(["EI", "TS", "V-UCB"])
        'EI, TS and V-UCB'
    """
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last
