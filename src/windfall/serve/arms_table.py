"""The table of arms, a page at a time: sorted and filtered here, as there may be a million."""

import operator
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from windfall.errors import InputError
from windfall.serve.served import ServedStudy
from windfall.space import Arms

__all__ = ["BELIEFS", "OWN", "columns", "page"]

BELIEFS = ("mean", "std", "ratio", "acquisition")
#: Columns that are no features; a feature that is called like one of them is marked.
OWN = ("arm", "title", "pulls", *BELIEFS)

_COMPARISONS = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
    "=": operator.eq,
}
_CONDITION = re.compile(r"(?P<name>.+?)\s*(?P<sign><=|>=|<|>|=)\s*(?P<value>[^<>=]*)")


def columns(study: ServedStudy, beliefs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """One row per arm; without arms, per point told.

    Args:
        study: Whose arms.
        beliefs: More columns, a number per row each.
    """
    space, means = study.space, study.means
    if isinstance(space, Arms):
        described = dict(zip(space.names, space.arms.T, strict=True))
        pulls = np.zeros(space.size, int)
        pulls[[*means]] = [count for _, count in means.values()]
    else:
        described = space.columns_of(space.listed(means))
        pulls = np.array([count for _, count in means.values()], int)
    titles = getattr(space, "titles", None)
    return {
        "arm": np.arange(len(pulls)),
        **({} if titles is None else {"title": np.asarray(titles)}),
        **{f"{k} (parameter)" if k in OWN else k: np.asarray(v) for k, v in described.items()},
        "pulls": pulls,
        **beliefs,
    }


def page(
    table: Mapping[str, np.ndarray],
    *,
    offset: int = 0,
    limit: int = 100,
    sort: str | None = None,
    ascending: bool = False,
    filter: str | None = None,
) -> dict[str, Any]:
    """Some rows of a table.

    Args:
        table: By column.
        offset: How many rows come before.
        limit: How many rows.
        sort: By which column; None, or one that is not there, for the order of the arms.
        ascending: Smallest first.
        filter: Conditions with commas between: ``dose > 5``, or text that the title has, or a
            number that is the arm's or one of its features.

    Example:
        >>> table = {"arm": np.arange(3), "dose": np.array([0.5, 2.5, 1.5])}
        >>> found = page(table, sort="dose", filter="dose > 1")
        >>> found["matching"], found["columns"]["arm"].tolist()
        (2, [1, 2])
    """
    rows = len(table["arm"])
    order = np.flatnonzero(_matching(table, filter)) if filter else np.arange(rows)
    if sort is not None and sort in table:
        ranked = np.argsort(table[sort][order], kind="stable")
        order = order[ranked if ascending else ranked[::-1]]
    shown = order[offset : offset + limit]
    return {
        "total": rows,
        "matching": len(order),
        "columns": {name: column[shown] for name, column in table.items()},
    }


def _matching(table: Mapping[str, np.ndarray], filter: str) -> np.ndarray:
    kept = np.ones(len(table["arm"]), bool)
    for part in (part.strip() for part in filter.split(",")):
        condition = _CONDITION.fullmatch(part)
        if condition is not None and condition["name"] in table:
            kept &= _compared(table[condition["name"]], condition["sign"], condition["value"])
        elif part:
            kept &= _having(table, part)
    return kept


def _compared(column: np.ndarray, sign: str, value: str) -> np.ndarray:
    if column.dtype.kind not in "iuf":
        if sign != "=":
            raise InputError(f"filter has {sign!r} and text; expected '=', as text has no order")
        return column.astype(str) == value
    try:
        return _COMPARISONS[sign](column, float(value))
    except ValueError:
        raise InputError(f"filter has {value!r:.80}; expected a number after {sign!r}") from None


def _having(table: Mapping[str, np.ndarray], text: str) -> np.ndarray:
    """Rows whose title has a text, or that have a number."""
    found = np.zeros(len(table["arm"]), bool)
    try:
        number = float(text)
    except ValueError:
        number = np.nan
    for name, column in table.items():
        if column.dtype.kind not in "iuf":
            found |= np.char.find(np.char.lower(column.astype(str)), text.lower()) >= 0
        elif name not in BELIEFS:
            found |= column == number
    return found
