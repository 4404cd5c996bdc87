"""What to try next, as a user sees it."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from windfall.space import Point, Space

__all__ = ["Among", "Choice", "Holder", "Request", "choice_of", "plain"]

#: Arms that a choice is made "among", or those that it is made "without".
Among = tuple[str, tuple[int, ...]]


@dataclass(frozen=True)
class Holder:
    """Who has a choice, and until when; None for nobody in particular, and for ever."""

    worker: str | None
    until: float | None


@dataclass(frozen=True)
class Request:
    """What choices are asked for with, checked.

    Attributes:
        contexts: What is known now, of each choice; None in a study without contexts.
        among: Which arms are available, if not all are, as an event has it.
        mask: The same as (M,) array; None if all are.
    """

    contexts: Sequence[tuple[float, ...] | None]
    among: Among | None = None
    mask: np.ndarray | None = None

    def contents(self, context: tuple[float, ...] | None) -> dict[str, Any]:
        """What the event of a choice in one of these contexts says of it."""
        known = {} if context is None else {"context": list(context)}
        return known if self.among is None else known | {self.among[0]: list(self.among[1])}

    def shared(self, held: Sequence[tuple[Any, "Choice"]]) -> tuple[list["Choice"], "Request"]:
        """Those of some choices, with their points and contexts, that serve; and what is left."""
        left, kept = list(self.contexts), []
        for (point, context), choice in held:
            if context in left and (self.mask is None or self.mask[point]):
                left.remove(context)
                kept.append(choice)
        return kept, replace(self, contexts=left)

    def plain(self) -> dict[str, Any]:
        """As ``Study.ask`` takes it and JSON holds it; only what was said."""
        contexts = [context for context in self.contexts if context is not None]
        known = {"context": [list(context) for context in contexts]} if contexts else {}
        if self.mask is None or self.among is None:  # which arms are retired is no wish of his
            return known
        return known | {"among": np.flatnonzero(self.mask).tolist()}


@dataclass(frozen=True, eq=False)
class Choice:
    """What to try next, and why.

    Attributes:
        arm: Its row in the arms; None where there are no arms.
        features: Its features, in the user's units (a choice by its number).
        why: One sentence on what drove the choice.
        parameters: Its features by name.
        search: How the maximisation ended; None for an arm, or once a study has been saved.
        id: Its number in the study, for good; None for what was not handed out.
        context: What is known before, by name; None in a study without contexts.
    """

    arm: int | None
    features: np.ndarray
    why: str
    parameters: dict[str, Any] = field(default_factory=dict)
    search: Any = None
    id: int | None = None
    context: dict[str, Any] | None = None

    def _identity(self) -> tuple:
        known = None if self.context is None else tuple(self.context.items())
        return self.arm, tuple(np.asarray(self.features).tolist()), self.why, known

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Choice) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())


def choice_of(
    space: Space,
    point: Point,
    why: str,
    search: Any = None,
    number: int | None = None,
    context: dict[str, Any] | None = None,
) -> Choice:
    """A point of a space as a user sees it."""
    features = space.features(point)
    arm = point if isinstance(point, int) else None
    return Choice(arm, features, why, space.named(features), search, number, context)


def plain(given: Any) -> Any:
    """What a user gave, with choices replaced by what they choose."""
    if isinstance(given, Choice):
        return given.features if given.arm is None else given.arm
    if isinstance(given, list | tuple) and any(isinstance(item, Choice) for item in given):
        return [item.features if isinstance(item, Choice) else item for item in given]
    return given
