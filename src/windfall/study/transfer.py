"""Studies on their way: from one store to another, and back from files."""

import csv
import io
import json
import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any

from windfall.errors import InputError
from windfall.naming import marked
from windfall.space import Context, Space
from windfall.space.parameter import from_text
from windfall.study.events import Event
from windfall.study.history import RESERVED, context_names
from windfall.study.stores import Conflict, Store
from windfall.study.stores.base import DecidingStore

__all__ = ["NUMBERS", "events_of", "put", "rewards_of"]

#: What is said of a reward; and in a table besides, when it came.
NUMBERS = ("reward", "noise", "count", "deviation")
_SAID = (*NUMBERS, "at")


def put(events: Sequence[Event], store: Store, name: str) -> None:
    """Make a study of events that happened elsewhere; it has its name once it is complete.

    Each event keeps its worker, its request and, in its contents, the time when it happened.
    """
    if isinstance(store, DecidingStore):
        raise InputError(
            "store is a server, which makes its choices itself; expected a file, postgresql://… or "
            "another Store to copy to"
        )
    if name in store.list():
        raise InputError(f"name is {name!r}; expected one that no other study has")
    created, *rest = events
    key = store.create(f"{name} (incomplete, {uuid.uuid4().hex[:8]})", _timed(created))
    try:
        for (worker, request), group in groupby(rest, lambda e: (e.worker, e.request)):
            drafts = [(event.kind, _timed(event)) for event in group]
            store.append(key, drafts, worker=worker, request=request)
        store.rename(key, name)
    except BaseException as error:
        store.delete(key)
        if isinstance(error, Conflict):  # somebody else was first
            raise InputError(f"name is {name!r}; expected one that no other study has") from error
        raise


def _timed(event: Event) -> dict[str, Any]:
    return {**event.contents, "time": event.contents.get("time", event.time)}


def events_of(path: Path) -> list[Event]:
    """The events of a file that ``export`` wrote (.jsonl)."""
    if path.suffix != ".jsonl":
        raise InputError(f"path is {str(path)!r}; expected a name that ends in .jsonl")
    events = []
    for number, line in enumerate(_text(path).splitlines()):
        try:
            events.append(_event(json.loads(line), number))
        except (ValueError, TypeError) as error:  # InputError is a ValueError
            raise InputError(f"{path}:{number + 1}: {error}; expected what export wrote") from error
    if not events or events[0].kind != "created":
        raise InputError(f"{path}:1: no study begins here; expected what export wrote")
    return events


def _event(line: Any, number: int) -> Event:
    event = Event.of(line, number)
    contents = dict(event.contents)
    worker, request = (contents.pop(name, None) for name in ("worker", "request"))
    time = contents.pop("time", None)
    seconds = None if time is None else datetime.fromisoformat(time).timestamp()
    return Event(number, event.kind, contents, worker, request, seconds)


def rewards_of(
    path: Path, space: Space, context: Context | None = None
) -> list[tuple[str, Any, dict[str, Any], dict[str, Any] | None]]:
    """The rows of a table (.csv): told or failed, what was chosen, its reward and its context.

    A table has a column for the arm or one for each parameter, one for each number of a context,
    and one for the reward; there may be others for noise, count, deviation and the time, and one
    for the kind: rows that are neither told nor failed are left out. ``export`` writes such tables.
    """
    if path.suffix != ".csv":
        raise InputError(f"path is {str(path)!r}; expected a name that ends in .csv")
    reader = csv.DictReader(io.StringIO(_text(path), newline=""), strict=True)
    columns = reader.fieldnames or []
    names = dict(zip(space.names, marked(dict.fromkeys(space.names), RESERVED), strict=True))
    known = context_names(space, context)
    by_arm = space.arms is not None and "arm" in columns
    for needed in ("reward", *(["arm"] if by_arm else names.values()), *known.values()):
        if needed not in columns:
            raise InputError(f"{path}:1: there is no column {needed!r}; expected one")
    rows = []
    try:
        for row in reader:
            kind = row.get("kind", "told")
            if kind in ("told", "failed"):
                chosen = from_text(None, row["arm"] or "") if by_arm else _read(row, names, space)
                space.point(chosen)
                here = None if context is None else _read(row, known, context.space)
                if context is not None:
                    context.point(here)
                said = {n: from_text(None, row[n]) for n in _SAID if row.get(n)}
                rows.append((kind, chosen, said, here))
    except (ValueError, csv.Error) as error:
        raise InputError(f"{path}:{reader.line_num}: {error}") from error
    return rows


def _read(
    row: Mapping[str, str | None], columns: Mapping[str, str], space: Space | None
) -> dict[str, Any]:
    """What a row says, by name; as the parameters of these names read it."""
    kinds = getattr(space, "parameters", {})
    return {n: from_text(kinds.get(n), row[column] or "") for n, column in columns.items()}


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise InputError(f"path {str(path)!r} cannot be read ({reason}); choose another") from error
