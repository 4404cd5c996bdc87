"""One reward as it was told, checked."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from windfall.checks import finite, whole
from windfall.errors import InputError
from windfall.space import Point

__all__ = ["LARGEST", "Pull", "Where", "mean_of"]

#: What is or was tried, and in which context; None in a study without any.
Where = tuple[Point, tuple[float, ...] | None]

#: Squares of larger rewards overflow.
LARGEST = 1e150


@dataclass(frozen=True)
class Pull:
    """One reward as it was told.

    Attributes:
        point: What was pulled.
        reward: What it paid; the mean of ``count`` replicates.
        noise: The known deviation of this reward, if it is known.
        count: How many replicates it stands for.
        deviation: Their sample deviation.
        event: The number of the event that told it.
        context: What was known before, in a study with contexts.
        at: When it came, in a study whose payoffs may drift.
    """

    point: Point
    reward: float
    noise: float | None = None
    count: int | None = None
    deviation: float | None = None
    event: int | None = field(default=None, compare=False)
    context: tuple[float, ...] | None = None
    at: float | None = None

    @classmethod
    def of(
        cls,
        point: Point,
        reward: Any,
        noise: Any = None,
        count: Any = None,
        deviation: Any = None,
        event: int | None = None,
        context: tuple[float, ...] | None = None,
        at: Any = None,
    ) -> "Pull":
        """A checked pull."""
        value = _moderate("reward", reward)
        time = None if at is None else _moderate("at", at)
        if noise is not None:
            if count is not None or deviation is not None:
                raise InputError(
                    f"noise is {noise!r} beside count and deviation; expected either the known "
                    "noise of this reward, or the replicates that it is the mean of"
                )
            noise = _not_negative("noise", noise)
        if deviation is not None and count is None:
            raise InputError(f"deviation is {deviation!r} without count; give both")
        if count is not None:
            count = whole("count", count, 1)
            if count > 1 and deviation is None:
                raise InputError(f"count is {count} without deviation; give both")
            if deviation is not None:
                deviation = _not_negative("deviation", deviation)
        return cls(point, value, noise, count, deviation, event, context, time)

    @property
    def where(self) -> Where:
        """What was pulled, and in which context."""
        return self.point, self.context

    @property
    def pulls(self) -> int:
        """How many pulls this reward stands for."""
        return self.count or 1

    @property
    def squares(self) -> float:
        """Σ(y − ȳ)² of the replicates, from their sample deviation."""
        return (self.pulls - 1) * (self.deviation or 0.0) ** 2


def mean_of(group: "list[Pull]") -> float:
    """The mean reward: by precision where the noise of all is known, else by number."""
    rewards = np.array([pull.reward for pull in group])
    noises = [pull.noise for pull in group]
    if None not in noises:
        noise = np.array(noises, float)
        exact = noise == 0.0
        # Relative to the smallest: the square of a tiny one would be 0.
        weights = exact if exact.any() else (noise.min() / noise) ** 2
        return float(np.average(rewards, weights=weights))
    return float(np.average(rewards, weights=[pull.pulls for pull in group]))


def _not_negative(name: str, value: Any) -> float:
    number = _moderate(name, value)
    if number < 0:
        raise InputError(f"{name} is {value!r}; expected 0 or more")
    return number


def _moderate(name: str, value: Any) -> float:
    number = finite(name, value)
    if abs(number) > LARGEST:
        raise InputError(
            f"{name} is {value!r}; expected no more than {LARGEST:g} in size: use other units, or "
            "fail(choice) for a pull that gave nothing"
        )
    return number
