"""Everything that happens to a study is an event with a number; a study is what they add up to.

Events are plain: their contents can be held by JSON, and be read without JAX. What a decision
rested on (the hyper-parameters that were found for it) stands in the event that hands it out, so
that opening a study never repeats a fit.

- ``created``, once and first: what the study rests on (space, policy, seed, initial), as specs.
- ``asked``, a choice is made: its id, point and why, what a model predicted of it if one did, how
  probable it was (propensity) if the policy knows, whether it is held (handed out until told),
  until when if it is leased, and belief, searched and remark if a fit was made for it.
- ``fitted``, hyper-parameters are taken over from elsewhere: belief and searched.
- ``told``, a reward comes: point, reward, noise, count, deviation, and the id of the choice.
- ``failed``, a pull failed: point and id, and why if that was said.
- ``forgotten``, a choice or a failure is taken back: point and id.
- ``expired``, the lease of a choice has run out, and others may choose its point: id.
- ``undone``, a reward was told by mistake: event, the number under which it was told, and the id of
  the choice that waits for its reward again, if one does.
- ``added``, arms are added or come back: features, and names if they have some.
- ``retired``, an arm is no longer chosen; its rewards still count: arm.
- ``noted``, somebody says something about the study: text. It changes nothing.

An event that was copied from another store, or restored from a file, also says at what time it
happened there.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from windfall.checks import known_name, whole
from windfall.errors import InputError

__all__ = ["KINDS", "Event"]

KINDS = (
    "created",
    "asked",
    "fitted",
    "told",
    "failed",
    "forgotten",
    "expired",
    "undone",
    "noted",
    "added",
    "retired",
)


@dataclass(frozen=True)
class Event:
    """Something that happened.

    Attributes:
        number: Counted from 0 within the study.
        kind: One of ``KINDS``.
        contents: By name, as JSON can hold it.
        worker: Who made it happen; None where nobody said.
        request: The id of the call that made it happen, by which a repeated call is known.
        time: When a store took it, in seconds since 1970; None outside of stores.
    """

    number: int
    kind: str
    contents: Mapping[str, Any]
    worker: str | None = None
    request: str | None = None
    time: float | None = None

    def plain(self) -> dict[str, Any]:
        """As one dictionary."""
        return {"number": self.number, "kind": self.kind, **self.contents}

    @classmethod
    def of(cls, saved: Any, number: int) -> "Event":
        """An event from ``plain``, which must have this number.

        Example:
            >>> Event.of({"number": 3, "kind": "failed", "point": 7}, 3).contents
            {'point': 7}
        """
        if not isinstance(saved, dict) or not saved.keys() >= {"number", "kind"}:
            raise InputError(f"event {number} is {saved!r:.80}; expected a number and a kind")
        contents = {k: v for k, v in saved.items() if k not in ("number", "kind")}
        if whole("event number", saved["number"], 0) != number:
            raise InputError(f"event number is {saved['number']}; expected {number}, the next one")
        return cls(number, known_name("event kind", saved["kind"], KINDS), contents)
