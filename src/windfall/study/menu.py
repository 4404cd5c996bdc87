"""What a study may choose from, on the host: a list of arms, or a space of parameters.

Both turn what a user writes (a choice, a dictionary, numbers, the number of an arm) into one
hashable *point*: an arm's number, or a tuple of numbers in the user's units. All bookkeeping is in
points.
"""

import operator
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from windfall.checks import whole
from windfall.errors import InputError
from windfall.space import Parameters, Space
from windfall.space.checks import check_arms, finite_array, read_only

__all__ = ["ArmMenu", "Choice", "Point", "RegionMenu", "as_menu"]

#: The number of an arm, or a tuple of numbers: one menu only ever sees one of the two.
Point = Any


@dataclass(frozen=True, eq=False)
class Choice:
    """What to try next.

    Attributes:
        arm: Its row in the array of arms; None where there are no arms.
        features: Its features, in the user's units (a choice by its number).
        why: One sentence on what drove the choice.
        parameters: Its features by name.
        search: How the maximisation ended; None for an arm.
    """

    arm: int | None
    features: np.ndarray
    why: str
    parameters: dict[str, Any] = field(default_factory=dict)
    search: Any = None

    def _identity(self) -> tuple:
        return self.arm, tuple(np.asarray(self.features).tolist()), self.why

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Choice) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())


class ArmMenu:
    """A finite list of arms; a point is a row number."""

    #: What an initial choice is called, and how it comes about.
    noun, origin = "arm", "drawn at random"

    def __init__(self, arms: Any):
        """Check the arms; a data frame names their features."""
        self.arms = read_only(check_arms(arms))
        columns = getattr(arms, "columns", None)
        count = self.arms.shape[1]
        self.names = (
            [f"x{i + 1}" for i in range(count)] if columns is None else [*map(str, columns)]
        )
        self.space = Space.of(self.arms)

    def initial(self, asked: int | None) -> int:
        """How many arms to draw before the policy takes over."""
        return min(whole("initial", 3 if asked is None else asked, 1), len(self.arms))

    def sequence(self, seed: int) -> Iterator[int]:
        """Distinct random arms."""
        return (int(arm) for arm in np.random.default_rng(seed).permutation(len(self.arms)))

    def point(self, choice: Any) -> int:
        """The arm that a user means."""
        arm: Any = choice.arm if isinstance(choice, Choice) else choice
        found = self._by_features(arm)
        if found is not None:
            return found
        try:
            number = -1 if isinstance(arm, bool | np.bool_) else operator.index(arm)
        except TypeError:
            number = -1
        if not 0 <= number < len(self.arms):
            raise InputError(
                f"arm is {arm!r}; expected a Choice or a row number from 0 to "
                f"{len(self.arms) - 1}, or the features of an arm"
            )
        return number

    def _by_features(self, arm: Any) -> int | None:
        if isinstance(arm, Mapping):
            if set(arm) != set(self.names):
                raise InputError(f"arm is {arm!r}; expected the features {', '.join(self.names)}")
            arm = [arm[name] for name in self.names]
        if not isinstance(arm, list | tuple | np.ndarray) or _shape(arm) != (len(self.names),):
            return None
        same = np.flatnonzero((self.arms == finite_array(arm, "arm")).all(axis=1))
        if not len(same):
            raise InputError(f"arm is {arm!r}; expected the features of one of the arms")
        return int(same[0])

    def decided(self, choice: Any) -> int:
        """The point that a policy chose."""
        return int(choice)

    def unit(self, point: Point) -> np.ndarray:
        """The point in the unit box."""
        return self.space.arms[point]

    def units(self, features: Any) -> np.ndarray:
        """Any points in the unit box, arms or not, from features in the user's units."""
        x = np.atleast_2d(finite_array(features, "features"))
        if x.ndim != 2 or x.shape[1] != len(self.names):
            raise InputError(
                f"features has shape {x.shape}; expected (points, {len(self.names)}), "
                "as many features as the arms have"
            )
        return self.space.unit(x)

    def listed(self, told: Iterable[Point]) -> list[Point]:
        """The points that tables list: every arm."""
        del told
        return list(range(len(self.arms)))

    def label(self, point: Point) -> Any:
        """How a list of rewards names this point."""
        return point

    def described(self, points: list[Point]) -> dict[str, np.ndarray]:
        """The columns of a table that say which points it lists: its rows are the arms."""
        del points
        return {}

    def choice(self, point: Point, why: str, search: Any = None) -> Choice:
        """The point as a user sees it."""
        features = self.arms[point]
        named = dict(zip(self.names, features.tolist(), strict=True))
        return Choice(int(point), features, why, named, search)

    def allowed(self, points: list[Point]) -> np.ndarray:
        """Whether points keep to the constraints: there are none."""
        return np.ones(len(points), bool)

    def saved(self) -> Any:
        """The arms, as lists that JSON can hold."""
        return self.arms.tolist()

    def check_saved(self, saved: Any) -> None:
        """Refuse the state of a study with other arms."""
        same = not isinstance(saved, str) and np.array_equal(
            check_arms(saved, "state arms"), self.arms
        )
        if not same:
            raise InputError("state was saved with other arms; make the Bandit with the same ones")


class RegionMenu:
    """A space of parameters; a point is a tuple of numbers in the user's units."""

    arms = None
    noun, origin = "point", "space-filling"

    def __init__(self, space: Parameters):
        """Take the space as it is."""
        self.space = space
        self.names = list(space.names)

    def initial(self, asked: int | None) -> int:
        """How many space-filling points come before the policy takes over."""
        usual = min(2 * (self.space.size + 1), 20)
        return whole("initial", usual if asked is None else asked, 1)

    def sequence(self, seed: int) -> Iterator[tuple[float, ...]]:
        """Space-filling points, scrambled by the seed; many, then the first ones again."""
        size = 64
        done = 0
        while size <= 2**14:
            points = self.space.natural(self.space.fill(size, seed))
            yield from (tuple(row.tolist()) for row in points[done:])
            done, size = size, 4 * size

    def point(self, choice: Any) -> tuple[float, ...]:
        """The point that a user means."""
        given = choice.features if isinstance(choice, Choice) else choice
        return tuple(self.space.features(given).tolist())

    def decided(self, choice: Any) -> tuple[float, ...]:
        """The point that a policy chose."""
        x = self.space.snap(np.asarray(choice)[None])
        return tuple(self.space.natural(x)[0].tolist())

    def unit(self, point: Point) -> np.ndarray:
        """The point in the unit box."""
        return self.space.unit(np.array([point]))[0]

    def units(self, features: Any) -> np.ndarray:
        """Any points in the unit box, from one point or a list of them."""
        rows = _rows(features)
        if rows is None:
            raise InputError(
                f"features is {' '.join(repr(features).split())}; expected a point of "
                f"{', '.join(self.names)}, a list of points or a data frame"
            )
        return self.space.unit(np.array([self.point(row) for row in rows]))

    def listed(self, told: Iterable[Point]) -> list[Point]:
        """The points that tables list: those told, in order."""
        return list(told)

    def label(self, point: Point) -> Any:
        """How a list of rewards names this point."""
        return self.space.named(np.array(point))

    def described(self, points: list[Point]) -> dict[str, np.ndarray]:
        """The columns of a table that say which points it lists: their parameters."""
        rows = [self.label(point) for point in points]
        return {name: np.array([row[name] for row in rows]) for name in self.names}

    def choice(self, point: Point, why: str, search: Any = None) -> Choice:
        """The point as a user sees it."""
        features = read_only(np.array(point))
        return Choice(None, features, why, self.space.named(features), search)

    def allowed(self, points: list[Point]) -> np.ndarray:
        """Whether points keep to the constraints."""
        return self.space.feasible(np.array(points))

    def saved(self) -> Any:
        """The space as the expression that makes it."""
        return repr(self.space)

    def check_saved(self, saved: Any) -> None:
        """Refuse the state of a study on another space."""
        if saved != repr(self.space):
            theirs = saved if isinstance(saved, str) else "of arms"
            raise InputError(f"state was saved with space {theirs}; this Bandit has {self.space!r}")


def _shape(values: Any) -> tuple[int, ...] | None:
    """The shape of lists as an array; None if they are ragged."""
    try:
        return np.shape(values)
    except ValueError:
        return None


def _rows(features: Any) -> list[Any] | None:
    """The points of a data frame or a list, or the one point given; None if it is neither."""
    if isinstance(features, Mapping | Choice):
        return [features]
    try:
        rows = features.to_dict("records") if hasattr(features, "to_dict") else list(features)
    except TypeError:
        return None
    first: Any = next(iter(rows), None)
    several = isinstance(first, Mapping | Choice) or _shape(first) != ()
    return rows if several else [features]


def as_menu(given: Any) -> ArmMenu | RegionMenu:
    """The menu of what a user gave to Bandit."""
    if isinstance(given, ArmMenu | RegionMenu):
        return given
    if isinstance(given, Mapping):
        raise InputError(
            f"arms is {given!r}; expected rows of numbers, a Box, or Parameters of Real, Integer "
            "and Categorical by name"
        )
    return RegionMenu(given) if isinstance(given, Parameters) else ArmMenu(given)
