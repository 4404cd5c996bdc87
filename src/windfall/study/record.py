"""What has happened in a study: rewards told, pulls that failed, choices handed out."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from windfall.checks import finite, whole
from windfall.errors import InputError
from windfall.study.menu import Choice, Point

__all__ = ["LARGEST", "Pull", "Record"]

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
    """

    point: Point
    reward: float
    noise: float | None = None
    count: int | None = None
    deviation: float | None = None

    @classmethod
    def of(
        cls, point: Point, reward: Any, noise: Any = None, count: Any = None, deviation: Any = None
    ) -> "Pull":
        """A checked pull."""
        value = _moderate("reward", reward)
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
        return cls(point, value, noise, count, deviation)

    @property
    def pulls(self) -> int:
        """How many pulls this reward stands for."""
        return self.count or 1

    @property
    def squares(self) -> float:
        """Σ(y − ȳ)² of the replicates, from their sample deviation."""
        return (self.pulls - 1) * (self.deviation or 0.0) ** 2


@dataclass
class Record:
    """Everything told, failed and pending, in order."""

    told: list[Pull] = field(default_factory=list)
    failed: list[Point] = field(default_factory=list)
    pending: list[tuple[Point, Choice]] = field(default_factory=list)

    @property
    def events(self) -> int:
        """How often something was learned."""
        return len(self.told) + len(self.failed)

    def used(self, pending: Sequence[tuple[Point, Choice]]) -> list[Point]:
        """All points told, failed or handed out."""
        return [p.point for p in self.told] + self.failed + [point for point, _ in pending]

    def settle(self, point: Point) -> bool:
        """Take a point off the pending ones, once; whether it was there."""
        for i, (waiting, _) in enumerate(self.pending):
            if waiting == point:
                del self.pending[i]
                return True
        return False

    def withdraw(self, point: Point) -> int:
        """Take back that pulls of a point failed; how many did."""
        kept = [failed for failed in self.failed if failed != point]
        withdrawn, self.failed = len(self.failed) - len(kept), kept
        return withdrawn

    @property
    def worst(self) -> float:
        """The lowest reward so far."""
        return min(pull.reward for pull in self.told)

    def means(self) -> dict[Point, tuple[float, int]]:
        """Mean reward and number of pulls of every distinct point, in the order first told.

        Rewards count by their precision where the noise of all of them is known, else by their
        number.
        """
        groups: dict[Point, list[Pull]] = {}
        for pull in self.told:
            groups.setdefault(pull.point, []).append(pull)
        return {
            point: (_mean(group), sum(p.pulls for p in group)) for point, group in groups.items()
        }


def _mean(group: list[Pull]) -> float:
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
