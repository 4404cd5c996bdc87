"""The way between features in the user's units and the unit box in which a model sees them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from windfall.space.spacing import Spacing, moved, spacing

__all__ = ["UnitBox"]


@dataclass(frozen=True)
class UnitBox:
    """A box that is scaled to the unit box, and how crowded features are spread in there.

    Attributes:
        low: (d,) the lower corner.
        high: (d,) the upper corner.
        spacing: How the values of each feature are spread; None: as they are.

    Example:
        >>> box = UnitBox.around(np.array([[10.0, 1], [100, 2], [1000, 3], [10_000, 4]] * 50))
        >>> box.unit([[100.0, 2.0]]).round(2).tolist()
        [[0.33, 0.33]]
        >>> box.natural(box.unit([[100.0, 2.0]])).round(6).tolist()
        [[100.0, 2.0]]
    """

    low: np.ndarray
    high: np.ndarray
    spacing: tuple[Spacing | None, ...]

    @classmethod
    def around(cls, arms: np.ndarray) -> "UnitBox":
        """The smallest that holds some arms, with crowded features spread."""
        scaling = cls.between(np.stack([arms.min(axis=0), arms.max(axis=0)]).astype(float))
        columns = scaling.unit(arms).T
        return cls(scaling.low, scaling.high, tuple(map(spacing, columns)))

    @classmethod
    def between(cls, corners: np.ndarray) -> "UnitBox":
        """The box between two corners, with distances as they are."""
        low, high = corners
        return cls(low, high, (None,) * len(low))

    @property
    def corners(self) -> np.ndarray:
        """(2, d) both corners."""
        return np.stack([self.low, self.high])

    @property
    def crowded(self) -> bool:
        """Whether anything is spread."""
        return any(places is not None for places in self.spacing)

    @property
    def varies(self) -> np.ndarray:
        """Which features vary at all."""
        return self.high > self.low

    @property
    def span(self) -> np.ndarray:
        """What each feature is divided by."""
        return np.where(self.varies, self.high - self.low, 1.0)

    def unit(self, x: Any) -> np.ndarray:
        """Features in the unit box."""
        scaled = np.subtract(x, self.low, dtype=float)
        return self._moved(np.divide(scaled, self.span, out=scaled), "at", "to")

    def natural(self, x: Any) -> np.ndarray:
        """Features in the user's units."""
        return self.low + self.span * self._moved(np.array(x, float), "to", "at")

    def _moved(self, x: np.ndarray, start: str, end: str) -> np.ndarray:
        for column, places in enumerate(self.spacing):
            if places is not None:
                here = x[..., column]
                x[..., column] = moved(here, getattr(places, start), getattr(places, end))
        return x
