"""The events of a study as a table, and as files."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from windfall.errors import InputError
from windfall.naming import marked
from windfall.runtime.files import write_atomically
from windfall.space import Context, Space
from windfall.study.events import Event
from windfall.study.record import Record

__all__ = ["RESERVED", "columns", "context_names", "export"]

_BEFORE = ("number", "time", "kind", "worker", "id", "arm")
_AFTER = ("reward", "noise", "count", "deviation", "at", "propensity", "among", "text")
#: A feature of such a name is marked in a table.
RESERVED = (*_BEFORE, *_AFTER)


def columns(record: Record, events: Sequence[Event], after: int = 0) -> dict[str, list[Any]]:
    """One row per event and a column each for what events have; None where one has it not.

    Args:
        record: Knows what was chosen from, and in which contexts.
        events: All that happened, less the study's creation.
        after: Only rows of events with a higher number.
    """
    space = record.space
    asked = {e.contents["id"]: e.contents for e in events if e.kind == "asked"}
    told = {e.number: e.contents.get("id") for e in events if e.kind == "told"}
    rows = [_row(record, event, asked, told) for event in events if event.number > after]
    before = [name for name in _BEFORE if name != "arm" or space.arms is not None]
    own = marked(dict.fromkeys(space.names), RESERVED)
    known = dict.fromkeys(context_names(space, record.context).values())
    names = [*before, *own, *known, *_AFTER]
    return {name: [row.get(name) for row in rows] for name in names}


def context_names(space: Space, context: Context | None) -> dict[str, str]:
    """What the columns of a context are called in a table: marked where others have their names.

    >>> from windfall.space import Box
    >>> context_names(Box([0], [1], ["dose"]), Context(["dose", "load"]))
    {'dose': 'dose (context)', 'load': 'load'}
    """
    taken = {*RESERVED, *space.names}
    names = () if context is None else context.names
    return {name: f"{name} (context)" if name in taken else name for name in names}


def export(path: Path, record: Record, events: Sequence[Event]) -> None:
    """Write a table (.csv), or every event with all that it has (.jsonl)."""
    if path.suffix == ".csv":
        text = io.StringIO(newline="")
        table = columns(record, events[1:])
        writer = csv.writer(text)
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))
        content = text.getvalue()
    elif path.suffix == ".jsonl":
        content = "".join(f"{json.dumps(_line(event), ensure_ascii=False)}\n" for event in events)
    else:
        raise InputError(f"path is {str(path)!r}; expected a name that ends in .csv or .jsonl")
    try:
        write_atomically(path, content.encode())
    except OSError as error:
        raise InputError(
            f"path {str(path)!r} cannot be written ({error.strerror}); choose another"
        ) from error


def _row(
    record: Record, event: Event, asked: Mapping[int, Any], told: Mapping[int, int | None]
) -> dict[str, Any]:
    contents, space, context = event.contents, record.space, record.context
    number = contents.get("id", told.get(contents.get("event", -1)))
    row = {
        "number": event.number,
        "time": _time(event),
        "kind": event.kind,
        "worker": event.worker,
        "id": number,
        "arm": contents.get("arm"),
        **{name: contents.get(name) for name in _AFTER},
        "among": _among(contents),
        "text": _text(event),
    }
    about = contents if "point" in contents else asked.get(number)
    if about is None:
        return row
    point = space.point(about["point"])
    if context is not None and "context" in about:
        names = context_names(space, context)
        known = context.named(context.point(about["context"]))
        row |= {names[name]: value for name, value in known.items()}
    if space.arms is not None:
        row["arm"] = point
    return row | marked(space.named(space.features(point)), RESERVED)


def _among(contents: Mapping[str, Any]) -> str | None:
    """Which arms were available, where not all were."""
    for name, said in (("among", ""), ("without", "all but ")):
        if name in contents:
            return said + " ".join(map(str, contents[name]))
    return None


def _text(event: Event) -> str | None:
    if event.kind == "undone":
        return f"takes back entry {event.contents['event']}"
    return event.contents.get("why", event.contents.get("text"))


def _line(event: Event) -> dict[str, Any]:
    said = {"time": _time(event), "worker": event.worker, "request": event.request}
    return event.plain() | {name: value for name, value in said.items() if value is not None}


def _time(event: Event) -> str | None:
    """When it happened, also if that was elsewhere."""
    seconds = event.contents.get("time", event.time)
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds")
