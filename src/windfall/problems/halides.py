"""Aryl halides as contexts: which halogen leaves, and what it leaves.

The list ``buchwald_hartwig`` has a line of readings for each of fifteen aryl halides, and a file
``names.json`` whose ``snapshots`` are their formulas (SMILES). Every halide is one of three
halogens on one of five rings, so that another halide is known by halves.
"""

import json
import os
from pathlib import Path

import numpy as np

from windfall.errors import InputError
from windfall.problems.changing import Rounds

__all__ = ["halide_contexts", "halide_rounds", "read_halides"]

#: Longest first: the "I" of no other formula is looked for.
HALOGENS = ("Br", "Cl", "I")


def read_halides(path: str | os.PathLike[str]) -> list[str]:
    """The formulas, in the order of the lines of readings."""
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))["snapshots"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{path} cannot be read; expected a JSON file with the halides as snapshots"
        ) from error
    return [str(formula) for formula in found]


def halide_contexts(formulas: list[str]) -> tuple[tuple[str, ...], np.ndarray]:
    """Names of columns, and a line for each halide: its halogen and its ring, one-hot each.

    >>> names, contexts = halide_contexts(["Brc1ccccn1", "CCc1ccc(Cl)cc1", "Clc1ccccn1"])
    >>> names
    ('Br', 'Cl', 'CCc1ccc(X)cc1', 'Xc1ccccn1')
    >>> contexts.astype(int).tolist()
    [[1, 0, 0, 1], [0, 1, 1, 0], [0, 1, 0, 1]]
    """
    parts = [_parted(formula) for formula in formulas]
    halogens, rings = (sorted({part[i] for part in parts}) for i in range(2))
    lines = [[*(h == x for x in halogens), *(r == x for x in rings)] for h, r in parts]
    return (*halogens, *rings), np.array(lines, float)


def _parted(formula: str) -> tuple[str, str]:
    for halogen in HALOGENS:
        if halogen in formula:
            return halogen, formula.replace(halogen, "X", 1)
    raise InputError(f"halide is {formula!r}; expected one with {', '.join(HALOGENS)}")


def halide_rounds(
    rng: np.random.Generator,
    payoffs: np.ndarray,
    contexts: np.ndarray,
    new: int,
    rounds: int,
    last: int,
) -> Rounds:
    """Other halides, each in a block of rounds, in any order; then ``last`` rounds of a new one."""
    others = rng.permutation(np.delete(np.arange(len(payoffs)), new))
    early = others[np.arange(rounds - last) * len(others) // (rounds - last)]
    order = np.concatenate([early, np.full(last, new)])
    return Rounds(payoffs[order], contexts[order])
