"""The arms as the model sees them: features scaled to the unit box."""

from dataclasses import dataclass

import numpy as np

__all__ = ["Space"]


@dataclass(frozen=True)
class Space:
    """A finite set of arms and the box around them.

    Attributes:
        arms: (M, d) features in the unit box.
        low: The box's lower corner in the user's units.
        span: The box's side lengths; 1 for a feature that never varies.
        varies: Which features vary over the box.
    """

    arms: np.ndarray
    low: np.ndarray
    span: np.ndarray
    varies: np.ndarray

    @classmethod
    def of(cls, arms: np.ndarray, box: np.ndarray | None = None) -> "Space":
        """Scale arms by their box, by default the smallest that holds them.

        Example:
            >>> Space.of(np.array([[0.0, 5.0], [2.0, 5.0]])).arms.tolist()
            [[0.0, 0.0], [1.0, 0.0]]
        """
        low, high = (arms.min(axis=0), arms.max(axis=0)) if box is None else np.asarray(box, float)
        varies = high > low
        span = np.where(varies, high - low, 1.0)
        return cls((arms - low) / span, low, span, varies)

    @property
    def size(self) -> int:
        """The number of arms."""
        return self.arms.shape[0]

    @property
    def dimension(self) -> int:
        """The number of features."""
        return self.arms.shape[1]

    def unit(self, x: np.ndarray) -> np.ndarray:
        """Features in the unit box."""
        return (np.asarray(x, float) - self.low) / self.span

    def natural(self, x: np.ndarray) -> np.ndarray:
        """Features in the user's units."""
        return self.low + self.span * x

    def fill(self, points: int) -> np.ndarray:
        """Space-filling (Sobol) points of the unit box, the same every time.

        A feature that never varies stays where the arms have it: elsewhere the model's mean says
        nothing about them.
        """
        from scipy.stats import qmc  # slow to import, and only needed here

        exponent = int(np.ceil(np.log2(points)))
        sobol = qmc.Sobol(int(self.varies.sum()), scramble=True, rng=0)
        filled = np.zeros((points, self.dimension))
        filled[:, self.varies] = sobol.random_base2(exponent)[:points]
        return filled

    def anchors(self, most: int = 512) -> np.ndarray:
        """At most this many arms, evenly picked."""
        return self.arms[:: -(-self.size // most)]
