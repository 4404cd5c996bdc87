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


def halide_contexts(formulas: list[str]) -> tuple[dict[str, list[str]], np.ndarray]:
    """The halogens and the rings there are; and a line for each halide, with their numbers.

    >>> options, contexts = halide_contexts(["Brc1ccccn1", "CCc1ccc(Cl)cc1", "Clc1ccccn1"])
    >>> options
    {'halogen': ['Br', 'Cl'], 'ring': ['CCc1ccc(X)cc1', 'Xc1ccccn1']}
    >>> contexts.tolist()
    [[0, 1], [1, 0], [1, 1]]
    """
    parts = [_parted(formula) for formula in formulas]
    halogens, rings = (sorted({part[i] for part in parts}) for i in range(2))
    numbers = [[halogens.index(halogen), rings.index(ring)] for halogen, ring in parts]
    return {"halogen": halogens, "ring": rings}, np.array(numbers)


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
    pulls: int,
    last: int,
) -> Rounds:
    """Other halides, each in a block of pulls, in any order; then ``last`` pulls of a new one."""
    others = rng.permutation(np.delete(np.arange(len(payoffs)), new))
    early = max(pulls - last, 0)
    order = others[np.arange(early) * len(others) // max(early, 1)]
    order = np.concatenate([order, np.full(pulls - early, new)])
    return Rounds(payoffs[order], contexts[order])
