"""Sentences about an experiment, composed from its numbers and from nothing else."""

from collections.abc import Mapping, Sequence
from typing import Any

from windfall.compare.statistics import ENOUGH_TRIALS, listed

__all__ = ["experiment_verdict", "shown", "variant_verdict"]

Row = Mapping[str, Any]


def shown(label: str) -> str:
    """A run's label as the paper prints policies.

    Example:
        >>> shown("gp-ucb (scaled β)")
        'GP-UCB (scaled β)'
    """
    policy, space, rest = label.partition(" ")
    return policy.upper() + space + rest


def experiment_verdict(policies: Sequence[Row], paired: Sequence[Row]) -> str:
    """What the five policies' numbers say, LW-UCB's first in ``policies``."""
    ours = policies[0]
    sentences = [_rank(ours, policies), _pairs(paired), _against_authors(ours)]
    others = [p for p in policies[1:] if p["authors"] and p["authors"]["like_for_like"]]
    for place in ("below", "within", "above"):
        names = [shown(p["label"]) for p in others if p["authors"]["place"] == place]
        if names:
            lie = "lies" if len(names) == 1 else "lie"
            sentences.append(f"{listed(names)} {lie} {place} the authors' MAD band.")
    return " ".join(sentences)


def variant_verdict(variant: Row) -> str:
    """How far one departure moves our curve to the authors'."""
    median, before = _number(variant["median"]), _number(variant["base_median"])
    moved = f"{median} instead of {before}" if median != before else f"{median} as before"
    begin = f"{shown(variant['label'])}: R_T/T {moved}"
    authors = variant["authors"]
    if not authors:
        return f"{begin}; there are no saved runs of the authors to compare with."
    return (
        f"{begin}; the mean distance to the authors' curve "
        f"{_change(variant['gap_before'], authors['gap'])} in log10, and at T it lies "
        f"{authors['place']} the MAD band of {_number(authors['median'])} ± "
        f"{_number(authors['mad'])}."
    )


def _rank(ours: Row, policies: Sequence[Row]) -> str:
    lower = [p for p in policies[1:] if p["median"] < ours["median"]]
    best = min(policies[1:], key=lambda p: p["median"])
    begin = (
        f"Over {ours['trials']} trials of {ours['rounds']} rounds {shown(ours['label'])}'s median "
        f"R_T/T is {_number(ours['median'])}"
    )
    if not lower:
        return f"{begin}, the lowest of all; next is {_quoted(best)}."
    verb = "is" if len(lower) == 1 else "are"
    return f"{begin}; {listed(_quoted(p) for p in sorted(lower, key=_median))} {verb} lower."


def _pairs(paired: Sequence[Row]) -> str:
    if paired[0]["trials"] < ENOUGH_TRIALS:
        return f"Fewer than {ENOUGH_TRIALS} trials cannot decide between policies."
    words = {
        "better": "better than",
        "worse": "worse than",
        "undecided": "not told apart from",
    }
    groups = []
    for verdict, phrase in words.items():
        names = [shown(p["baseline"]) for p in paired if p["verdict"] == verdict]
        if names:
            groups.append(f"{phrase} {listed(names)}")
    return f"Compared trial by trial it is {listed(groups)}."


def _against_authors(ours: Row) -> str:
    authors = ours["authors"]
    if not authors:
        return "There are no saved runs of the authors to compare with."
    return (
        f"At T it lies {authors['place']} the MAD band of the authors' saved runs, "
        f"{_number(authors['median'])} ± {_number(authors['mad'])}, and its curve is inside that "
        f"band in {100 * authors['inside']:.0f} % of the rounds."
    )


def _change(before: float, after: float) -> str:
    first, second = f"{before:.3f}", f"{after:.3f}"
    if first == second:
        return f"stays at {first}"
    return f"{'falls' if after < before else 'rises'} from {first} to {second}"


def _quoted(row: Row) -> str:
    return f"{shown(row['label'])} ({_number(row['median'])})"


def _median(row: Row) -> float:
    return row["median"]


def _number(value: float) -> str:
    return f"{value:.3g}"
