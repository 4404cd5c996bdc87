"""Estimates of a policy's value from logged rows, and how far each may be off: plain formulas.

A row has a context x, the arm a that was pulled with probability p, and its reward r. The target
policy pulls a with probability π(a|x); w = π(a|x)/p is the row's weight, q̂(x, a) what a model
predicts, which has not seen the row, and v = Σ_a π(a|x) q̂(x, a).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy.special import stdtrit

__all__ = ["ESTIMATORS", "INTERVALS", "Estimate", "Rows", "effective_size"]

#: Resampled logs behind a bootstrap interval.
RESAMPLED = 2000


@dataclass(frozen=True)
class Rows:
    """What the estimators need of every row.

    Attributes:
        reward: r.
        weight: w.
        predicted: q̂(x, a) of the arm that was pulled.
        value: v.
    """

    reward: np.ndarray
    weight: np.ndarray
    predicted: np.ndarray
    value: np.ndarray

    def __len__(self) -> int:
        return len(self.reward)

    def __getitem__(self, rows: np.ndarray) -> "Rows":
        """Some of the rows; with a table of row numbers, a log in each line."""
        return Rows(self.reward[rows], self.weight[rows], self.predicted[rows], self.value[rows])


@dataclass(frozen=True)
class Estimate:
    """A policy's value per pull.

    Attributes:
        value: The estimate.
        error: Its standard error; NaN where a log cannot tell.
        low: Lower end of the interval.
        high: Upper end.
    """

    value: float
    error: float = np.nan
    low: float = np.nan
    high: float = np.nan

    def __str__(self) -> str:
        interval = "" if np.isnan(self.low) else f" ({self.low:.4g} to {self.high:.4g})"
        return f"{self.value:.4g}{interval}"


#: A value (of each log, if there are several), and what each row adds to its error, if rows tell.
Found: TypeAlias = tuple[Any, np.ndarray | None]


def direct(rows: Rows) -> Found:
    """The mean of v: as right as the model is. What it gets wrong no row shows: no error."""
    return rows.value.mean(axis=-1), None


def ips(rows: Rows) -> Found:
    """The mean of w r (inverse propensity scores): unbiased, whatever the payoffs are."""
    return _mean(rows.weight * rows.reward)


def snips(rows: Rows) -> Found:
    """Σ w r / Σ w (self-normalised): nearly unbiased, never outside the rewards that were seen.

    To first order its error is that of the mean of w (r − V)/w̄.
    """
    total = rows.weight.mean(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):  # no weight at all: NaN, as it should be
        value = (rows.weight * rows.reward).mean(axis=-1) / total
        spread = rows.weight * (rows.reward - value[..., None]) / total[..., None]
    return value, spread


def doubly_robust(rows: Rows) -> Found:
    """The mean of v + w (r − q̂): unbiased like IPS, and the less noisy the better the model is."""
    return _mean(rows.value + rows.weight * (rows.reward - rows.predicted))


def _mean(terms: np.ndarray) -> Found:
    value = terms.mean(axis=-1)
    return value, terms - value[..., None]


#: By name.
ESTIMATORS: dict[str, Callable[[Rows], Found]] = {
    "direct": direct,
    "ips": ips,
    "snips": snips,
    "doubly_robust": doubly_robust,
}


def normal(estimator: str, rows: Rows, confidence: float, seed: int) -> Estimate:
    """V̂ ± t·s/√n: s the deviation of what rows add, t Student's quantile for n − 1 of them."""
    del seed
    value, spread = ESTIMATORS[estimator](rows)
    if spread is None:
        return Estimate(float(value))
    n = len(rows)
    error = float(np.sqrt(np.sum(spread**2) / (n - 1) / n))
    reach = error * float(stdtrit(n - 1, 0.5 + confidence / 2))
    return Estimate(float(value), error, float(value) - reach, float(value) + reach)


def bootstrap(estimator: str, rows: Rows, confidence: float, seed: int) -> Estimate:
    """Quantiles of the estimate over logs whose rows are drawn from this one's, with repeats."""
    value, spread = ESTIMATORS[estimator](rows)
    if spread is None:
        return Estimate(float(value))
    rng, n = np.random.default_rng(seed), len(rows)
    block = max(1, 2**20 // n)  # a few megabytes at a time
    parts = [min(block, RESAMPLED - done) for done in range(0, RESAMPLED, block)]
    values = [ESTIMATORS[estimator](rows[rng.integers(0, n, (part, n))])[0] for part in parts]
    again = np.concatenate(values)
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    low, high = (float(q) for q in np.nanquantile(again, tails))
    return Estimate(float(value), float(np.nanstd(again)), low, high)


#: Ways to an interval, by name.
INTERVALS: dict[str, Callable[[str, Rows, float, int], Estimate]] = {
    "normal": normal,
    "bootstrap": bootstrap,
}


def effective_size(weight: np.ndarray) -> float:
    """(Σw)²/Σw²: how many rows of equal weight would tell as much.

    Example:
        >>> effective_size(np.array([1.0, 1.0, 0.0, 0.0]))
        2.0
    """
    squares = np.sum(weight**2)
    return float(np.sum(weight) ** 2 / squares) if squares > 0 else 0.0
