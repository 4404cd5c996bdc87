"""What to try next, as a user sees it."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from windfall.space import Point, Space

__all__ = ["Choice", "choice_of", "plain"]


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
    """

    arm: int | None
    features: np.ndarray
    why: str
    parameters: dict[str, Any] = field(default_factory=dict)
    search: Any = None
    id: int | None = None

    def _identity(self) -> tuple:
        return self.arm, tuple(np.asarray(self.features).tolist()), self.why

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Choice) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())


def choice_of(
    space: Space, point: Point, why: str, search: Any = None, number: int | None = None
) -> Choice:
    """A point of a space as a user sees it."""
    features = space.features(point)
    arm = point if isinstance(point, int) else None
    return Choice(arm, features, why, space.named(features), search, number)


def plain(given: Any) -> Any:
    """What a user gave, with choices replaced by what they choose."""
    if isinstance(given, Choice):
        return given.features if given.arm is None else given.arm
    if isinstance(given, list | tuple) and any(isinstance(item, Choice) for item in given):
        return [item.features if isinstance(item, Choice) else item for item in given]
    return given
