"""What every space is: where choices can be made, as a user names them and as a model sees them.

A *point* is how a study remembers a choice: the number of an arm, or a tuple of numbers in the
user's units. Models see points of the unit box, one row of numbers in 0 … 1 each.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Apart", "Inputs", "Point", "Space"]

Point = int | tuple[float, ...]


class Apart(NamedTuple):
    """The columns of arms and those of contexts, of which a model may think differently.

    Attributes:
        columns: After so many columns the context begins.
        additive: Whether payoffs are the sum of what an arm and what a context is worth.
        names: Whether arms are mere names, each with a column of its own: none is like another.
    """

    columns: int
    additive: bool
    names: bool = False


class Inputs(ABC):
    """All that a model knows of what it predicts for: columns of the unit box."""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """The number of columns of the unit box."""

    @property
    def ties(self) -> tuple[int, ...] | None:
        """For each column the number of its group: those of one choice belong together.

        None where every column is for itself.
        """
        return None

    @property
    def apart(self) -> Apart | None:
        """Where the columns of a context begin; None: nowhere."""
        return None

    @property
    def length(self) -> int:
        """Of how many arms it is a list, those that came later not counted; 0 where it is none."""
        return 0

    @property
    def untimed(self) -> "Inputs":
        """The same without the time, where that is the last column."""
        return self

    @abstractmethod
    def anchors(self, most: int = 512) -> np.ndarray:
        """A few representative unit points."""


class Space(Inputs):
    """A list of arms, a box, or parameters of several kinds."""

    #: What a choice is called, and how the first ones come about.
    noun: str
    origin: str

    @property
    @abstractmethod
    def arms(self) -> np.ndarray | None:
        """Features of all arms, in the user's units; None where there is no list."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The names of the features or parameters."""

    @property
    @abstractmethod
    def size(self) -> int:
        """|D|: the number of arms, or of parameters where there is no list."""

    @abstractmethod
    def initial(self, asked: int | None) -> int:
        """How many choices come before the policy takes over; None: as many as is usual."""

    @abstractmethod
    def untried(self, used: Collection[Point], seed: int, among: np.ndarray | None = None) -> Point:
        """The next initial choice of a study with this seed, when others have been used.

        Args:
            used: What was tried or handed out.
            seed: Of the study.
            among: Which arms are available; None for all.
        """

    @abstractmethod
    def point(self, given: Any) -> Point:
        """The point that a user means: checked, or an ``InputError``."""

    @abstractmethod
    def chosen(self, choice: Any) -> Point:
        """The point that a policy chose: an arm's number, or a point of the unit box."""

    @abstractmethod
    def locate(self, points: Sequence[Point]) -> np.ndarray:
        """(n, columns) where points are in the unit box."""

    @abstractmethod
    def natural(self, x: np.ndarray) -> np.ndarray:
        """Numbers in the user's units from (n, columns) unit points."""

    @abstractmethod
    def read(self, features: Any) -> np.ndarray:
        """(n, columns) unit points of whatever a user gave: one point, a list, a data frame."""

    @abstractmethod
    def features(self, point: Point) -> np.ndarray:
        """A point's numbers in the user's units."""

    @abstractmethod
    def named(self, features: np.ndarray) -> dict[str, Any]:
        """A point's numbers as values by name."""

    def title(self, point: Point) -> str | None:
        """What people call a point; None where it has no name of its own."""
        del point
        return None

    @abstractmethod
    def label(self, point: Point) -> Any:
        """What a list of rewards calls a point."""

    @abstractmethod
    def listed(self, told: Iterable[Point]) -> Sequence[Point]:
        """The points that tables have a row for, given those told."""

    @abstractmethod
    def rows(self, told: Collection[Point]) -> np.ndarray:
        """The rows of these tables that the points told have."""

    @abstractmethod
    def columns_of(self, points: Sequence[Point]) -> dict[str, np.ndarray]:
        """The columns of a table that say which points its rows are."""

    @abstractmethod
    def allowed(self, points: Sequence[Point]) -> np.ndarray:
        """Whether points keep to the constraints."""

    @abstractmethod
    def fill(self, points: int) -> np.ndarray:
        """Space-filling unit points, the same every time."""
