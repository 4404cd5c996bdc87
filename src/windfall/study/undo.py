"""The last entry taken back: as an event, like everything else that happens to a study."""

from collections.abc import Sequence
from typing import Any

from windfall.errors import InputError
from windfall.study.events import Event
from windfall.study.record import Record
from windfall.study.stores.base import Draft

__all__ = ["last_entry", "taking_back"]


def last_entry(record: Record, events: Sequence[Event]) -> Event | None:
    """The last reward or failure that still counts.

    Args:
        record: What the events add up to.
        events: All that happened.
    """
    counting = {pull.event for pull in record.told}
    failed = set(record.failed)
    for event in reversed(events):
        if event.kind == "told" and event.number in counting:
            return event
        if event.kind == "failed" and record.where(event.contents) in failed:
            return event
    return None


def taking_back(record: Record, events: Sequence[Event], number: Any = None) -> Draft:
    """What has to happen for an entry to be taken back.

    A choice that was handed out waits again after its reward was taken back.

    Args:
        record: What the events add up to.
        events: All that happened.
        number: Of the entry, which must be the last one; so that nobody takes back what somebody
            else has entered meanwhile. None for the last one, whichever it is.
    """
    entry = last_entry(record, events)
    if entry is None:
        raise InputError("there is no entry to undo; expected a reward or a failure before")
    if number is not None and number != entry.number:
        raise InputError(f"event is {number!r}; expected {entry.number}, the last entry")
    if entry.kind == "failed":
        names = ("point", "id", "context")
        return "forgotten", {n: entry.contents.get(n) for n in names if n in entry.contents}
    return "undone", {"event": entry.number, **_waiting_again(record, events, entry)}


def _waiting_again(record: Record, events: Sequence[Event], entry: Event) -> dict[str, Any]:
    """The choice that has no reward without this one, if it was handed out."""
    others = {pull.event for pull in record.told} - {entry.number}
    mine = [e for e in events if e.contents.get("id") == entry.contents.get("id", -1)]
    asked = [e.contents for e in mine if e.kind == "asked" and e.contents["held"]]
    if not asked or any(event.number in others for event in mine):
        return {}
    names = ("id", "point", "why", "context")
    return {name: asked[0][name] for name in names if name in asked[0]}
