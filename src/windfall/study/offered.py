"""Which arms a choice could have been, when it was made."""

from collections.abc import Iterable

import numpy as np

from windfall.study.events import Event
from windfall.study.record import Record

__all__ = ["offered"]


def offered(record: Record, events: Iterable[Event]) -> dict[int, np.ndarray]:
    """By the id of a choice, which of all arms there ever were it could have been.

    Args:
        record: Of the study as it began; all of this happens to it.
        events: What happened.
    """
    masks: dict[int, np.ndarray] = {}
    for event in events:
        record.fold(event)
        if event.kind == "asked":
            said = event.contents
            listed = "among" in said
            mask = np.full(record.space.size, not listed)
            mask[list(said.get("among", said.get("without", ())))] = listed
            mask[[*record.retired]] = False
            masks[said["id"]] = mask
    size = record.space.size
    return {i: np.pad(mask, (0, size - len(mask))) for i, mask in masks.items()}
