"""From finished runs to the table: earning and finding as multiples of the best classical policy's.

Losses are *means* over trials: a needle that half of the trials find has no median. With fewer
trials than the others (BoTorch's, while it is being played) a policy is held to the reference's
first trials, which started from the same arms.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.real import plan
from windfall.compare.multiples import floor, geometric_mean
from windfall.compare.statistics import first_trials
from windfall.problems import Problem
from windfall.simulation.results import Result

#: By problem and label.
Results = Mapping[str, Mapping[str, Result]]


def earning(result: Result) -> float:
    """R_T/T, mean over trials."""
    return float(result.mean_regret[:, -1].mean())


def finding(result: Result) -> float:
    """Gap of the best arm pulled, mean over trials."""
    return float(result.gap[:, -1].mean())


def random_gap(payoff: np.ndarray, initial: int, pulls: int) -> float:
    r"""Expected gap of blind search: distinct initial arms, then arms drawn with replacement.

    With gaps sorted, :math:`0 = g_1 \le g_2 \le \dots \le g_M`, none of the k best arms is pulled
    with probability :math:`q_k = \binom{M-k}{n} / \binom{M}{n} \cdot (1 - k/M)^{pulls}`, and the
    expected gap is :math:`\sum_k (g_{k+1} - g_k) q_k`.
    """
    size = len(payoff)
    gaps = np.sort(payoff.max() - payoff)
    k = np.arange(1, size)
    drawn = np.arange(initial)
    missed = np.prod((size - k[:, None] - drawn).clip(0) / (size - drawn), axis=1)
    return float(np.sum(np.diff(gaps) * missed * (1 - k / size) ** pulls))


@dataclass(frozen=True)
class Line:
    """A policy over all lists that it played.

    Attributes:
        label: Its name.
        earned: (lists,) R_T/T as a multiple of the reference's.
        found: (lists,) gap as a multiple of the reference's.
        blind: Lists on which blind search finds a better arm.
        ahead: Lists on which its gap is below BoTorch's, and of how many.
    """

    label: str
    earned: np.ndarray
    found: np.ndarray
    blind: int
    ahead: tuple[int, int]


def line(label: str, results: Results, problems: Mapping[str, Problem]) -> Line:
    """What a policy did on the lists that it played."""
    rows = {name: row for name, row in results.items() if label in row}
    both = [row for row in rows.values() if plan.BOTORCH in row]
    return Line(
        label,
        np.array([_ratio(label, row, problems[name], earning) for name, row in rows.items()]),
        np.array([_ratio(label, row, problems[name], finding) for name, row in rows.items()]),
        sum(_blind_is_better(row[label], problems[name]) for name, row in rows.items()),
        (sum(_ahead(row[label], row[plan.BOTORCH]) for row in both), len(both)),
    )


def _ratio(
    label: str, row: Mapping[str, Result], problem: Problem, loss: Callable[[Result], float]
) -> float:
    trials = row[label].trials
    least = floor(problem, trials)
    best = min(loss(first_trials(row[name], trials)) for name in plan.REFERENCE)
    return max(loss(row[label]), least) / max(best, least)


def _blind(result: Result, problem: Problem) -> float:
    """Blind search's expected gap in the same trials."""
    initial, pulls = result.initial.shape[1], result.rounds - 1
    rows = [problem.payoffs(trial) for trial in range(result.trials)]
    return float(np.mean([random_gap(payoff, initial, pulls) for payoff in rows]))


def _blind_is_better(result: Result, problem: Problem) -> bool:
    least = floor(problem, result.trials)
    return max(_blind(result, problem), least) < max(finding(result), least)


def _ahead(result: Result, peer: Result) -> bool:
    trials = min(result.trials, peer.trials)
    return finding(first_trials(result, trials)) < finding(first_trials(peer, trials))


def markdown(results: Results, problems: Mapping[str, Problem]) -> str:
    """The table over all lists, then one with every list."""
    labels = list(dict.fromkeys(label for row in results.values() for label in row))
    lines = [line(label, results, problems) for label in labels]
    head = [
        "policy",
        "lists",
        "R_T/T",
        "worst",
        "gap",
        "worst",
        "random better",
        "ahead of BoTorch",
    ]
    rows = [
        [
            each.label,
            str(len(each.earned)),
            f"{geometric_mean(each.earned[:, None])[0]:.2f}",
            f"{each.earned.max():.2f}",
            f"{geometric_mean(each.found[:, None])[0]:.2f}",
            f"{each.found.max():.2f}",
            f"{each.blind} of {len(each.earned)}",
            f"{each.ahead[0]} of {each.ahead[1]}"
            if each.ahead[1] and each.label != plan.BOTORCH
            else "",
        ]
        for each in lines
    ]
    parts = [_table(head, rows), _lists(labels, results, problems)]
    return "\n\n".join(parts) + "\n"


def _lists(labels: Sequence[str], results: Results, problems: Mapping[str, Problem]) -> str:
    """Mean R_T/T, mean gap and share of trials that found the best arm, by list."""
    head = ["list", "trials", *labels, "random"]
    rows = []
    for name, row in results.items():
        cells = [_cell(row[label]) if label in row else "" for label in labels]
        any_result = next(iter(row.values()))
        blind = f"{_blind(any_result, problems[name]):.3g}"
        rows.append([name, str(any_result.trials), *cells, blind])
    return _table(head, rows)


def _cell(result: Result) -> str:
    return f"{earning(result):.3g}, {finding(result):.3g}, {result.found.mean():.0%}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
