"""A finite list of arms, and how a model sees them: features scaled to the unit box."""

import operator
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from windfall.checks import shown, whole
from windfall.errors import InputError
from windfall.runtime.given import Names, Numbers, Whole
from windfall.space.base import Point, Space
from windfall.space.checks import check_arms, entries, finite_array, read_only, shape_of
from windfall.space.sobol import Sobol
from windfall.space.twins import Twins
from windfall.space.unit_box import UnitBox

__all__ = ["Arms", "shuffled"]


class Arms(Space):
    """A list of arms; a point is a row number.

    Args:
        features: (M, d) features, an array or a data frame; duplicates are allowed. Those in single
            precision stay so; an array that nobody can write to, such as a mapped file, is not
            copied.
        names: Of the features; by default a data frame's columns, or x1, x2, …
        box: (2, d) lower and upper corner of the box that is scaled to the unit box, in which
            distances are as they are; by default the smallest that holds the arms, in which the
            values of a feature that crowd together are spread (``windfall.space.spacing``).
        titles: What people call the arms, a text each, if they have names of their own.
        founders: By how many of the first arms that was settled; None: by all. Arms that came later
            do not move the others.

    Example:
        >>> arms = Arms([[0.0, 5.0], [2.0, 5.0]], titles=["blank", "steel"])
        >>> arms.points.tolist(), arms.point([2.0, 5.0]), arms.title(1)
        ([[0.0, 0.0], [1.0, 0.0]], 1, 'steel')
    """

    noun, origin = "arm", "drawn at random"

    def __init__(
        self,
        features: Numbers,
        names: Names | None = None,
        box: Numbers | None = None,
        titles: Names | None = None,
        founders: Whole | None = None,
    ):
        """Check the arms and scale them."""
        self._arms = read_only(check_arms(features))
        self._names = self._named(getattr(features, "columns", None) if names is None else names)
        self.titles = None if titles is None else self._titled(titles)
        self.box = None if box is None else finite_array(box, "box")
        if self.box is not None and self.box.shape != (2, self.dimension):
            raise InputError(
                f"box has shape {self.box.shape}; expected (2, {self.dimension}): two corners"
            )
        self.founders = self.size if founders is None else whole("founders", founders, 1)
        first = self.arms[: self.founders]
        self.unit_box = UnitBox.around(first) if self.box is None else UnitBox.between(self.box)
        self.points = read_only(self.unit(self.arms))

    def _named(self, given: Any) -> tuple[str, ...]:
        if given is None:
            return tuple(f"x{i + 1}" for i in range(self.dimension))
        names = entries(given)
        if names is None or len(names) != self.dimension:
            raise InputError(
                f"names is {shown(given)}; expected {self.dimension}, one for each feature"
            )
        return tuple(map(str, names))

    def _titled(self, given: Any) -> tuple[str, ...]:
        texts = entries(given) or []
        if len(texts) != self.size or not all(isinstance(text, str) for text in texts):
            raise InputError(f"titles is {shown(given)}; expected {self.size} texts, one per arm")
        return tuple(texts)

    @property
    def arms(self) -> np.ndarray:
        return self._arms

    @property
    def length(self) -> int:
        return self.founders

    @property
    def names(self) -> tuple[str, ...]:
        return self._names

    @property
    def size(self) -> int:
        return self.arms.shape[0]

    @property
    def dimension(self) -> int:
        return self.arms.shape[1]

    @property
    def ties(self) -> tuple[int, ...] | None:
        """Neighbouring columns of which exactly one is 1 and the others are 0 in every arm.

        Example:
            >>> Arms([[0.3, 1, 0, 0], [0.5, 0, 1, 0], [0.1, 0, 0, 1]]).ties
            (0, 1, 1, 1)
        """
        binary = np.all((self.arms == 0) | (self.arms == 1), axis=0)
        groups: list[int] = []
        while len(groups) < self.dimension:
            begin, width = len(groups), 1
            taken = self.arms[:, begin].copy()
            while binary[begin : begin + width].all() and taken.max() == 1 and taken.min() == 0:
                if begin + width == self.dimension:
                    break
                taken += self.arms[:, begin + width]
                width += 1
            whole = binary[begin : begin + width].all() and np.all(taken == 1)
            groups += [groups[-1] + 1 if groups else 0] * (width if whole else 1)
        return tuple(groups) if groups[-1] + 1 < self.dimension else None

    def unit(self, x: Any) -> np.ndarray:
        """Features in the unit box."""
        return self.unit_box.unit(x)

    def natural(self, x: np.ndarray) -> np.ndarray:
        """Features in the user's units."""
        return self.unit_box.natural(x)

    def initial(self, asked: int | None) -> int:
        return min(whole("initial", 3 if asked is None else asked, 1), self.size)

    def untried(self, used: Collection[Point], seed: int, among: np.ndarray | None = None) -> int:
        """A random arm: with features that nobody has tried, or else the least tried one."""
        rows = self.rows(used)
        order = shuffled(np.arange(self.size), seed)
        order = order if among is None else order[among[order]]
        twins = [self._twins.of(self.arms[arm]) for arm in np.unique(rows)]
        fresh = order[~np.isin(order, np.concatenate([rows[:0], *twins]))]
        if len(fresh):
            return int(fresh[0])
        # Rather a twin than the same again.
        return int(order[np.argmin(np.bincount(rows, minlength=self.size)[order])])

    def point(self, given: Any) -> int:
        found = self._by_features(given)
        if found is not None:
            return found
        try:
            number = -1 if isinstance(given, bool | np.bool_) else operator.index(given)
        except TypeError:
            number = -1
        if not 0 <= number < self.size:
            raise InputError(
                f"arm is {given!r}; expected a Choice or a row number from 0 to "
                f"{self.size - 1}, or the features of an arm"
            )
        return number

    def _by_features(self, arm: Any) -> int | None:
        if isinstance(arm, Mapping):
            if set(arm) != set(self.names):
                raise InputError(f"arm is {arm!r}; expected the features {', '.join(self.names)}")
            arm = [arm[name] for name in self.names]
        if not isinstance(arm, list | tuple | np.ndarray) or shape_of(arm) != (self.dimension,):
            return None
        features = finite_array(arm, "arm")
        same = self._twins.of(features)
        if not len(same):
            raise InputError(f"arm is {arm!r}; expected the features of one of the arms")
        return int(same[0])

    @cached_property
    def _twins(self) -> Twins:
        return Twins(self.arms)

    def chosen(self, choice: Any) -> int:
        return int(choice)

    def locate(self, points: Sequence[Point]) -> np.ndarray:
        if isinstance(points, range):  # all arms: no copy, and no number for each
            return self.points[points.start : points.stop : points.step]
        return self.points[np.asarray(points, int)]

    def read(self, features: Any) -> np.ndarray:
        x = np.atleast_2d(finite_array(features, "features"))
        if x.ndim != 2 or x.shape[1] != self.dimension:
            raise InputError(
                f"features has shape {x.shape}; expected (points, {self.dimension}), "
                "as many features as the arms have"
            )
        return self.unit(x)

    def features(self, point: Point) -> np.ndarray:
        return self.arms[_number(point)]

    def named(self, features: np.ndarray) -> dict[str, Any]:
        return dict(zip(self.names, features.tolist(), strict=True))

    def title(self, point: Point) -> str | None:
        return None if self.titles is None else self.titles[_number(point)]

    def label(self, point: Point) -> Any:
        return point

    def listed(self, told: Iterable[Point]) -> Sequence[Point]:
        """Every arm."""
        del told
        return range(self.size)

    def rows(self, told: Collection[Point]) -> np.ndarray:
        return np.fromiter(map(_number, told), int, len(told))

    def columns_of(self, points: Sequence[Point]) -> dict[str, np.ndarray]:
        """None: the rows are the arms."""
        del points
        return {}

    def allowed(self, points: Sequence[Point]) -> np.ndarray:
        """All: there are no constraints."""
        return np.ones(len(points), bool)

    def fill(self, points: int) -> np.ndarray:
        """Sobol points of the unit box around the arms.

        A feature that never varies stays where the arms have it: elsewhere the model's mean says
        nothing about them.
        """
        filled = np.zeros((points, self.dimension))
        varies = self.unit_box.varies
        filled[:, varies] = Sobol(int(varies.sum()), seed=0).draw(points)
        return filled

    def anchors(self, most: int = 512) -> np.ndarray:
        """At most this many arms, evenly picked."""
        return self.points[:: -(-self.size // most)]

    def spec_arguments(self) -> dict[str, Any]:
        """What makes this list again."""
        spec = {"features": self.arms, "names": self.names, "box": self.box}
        # Only where there is something to be said: studies that were kept before stay the same.
        if self.founders < self.size or self.unit_box.crowded:
            spec["founders"] = self.founders
        return spec if self.titles is None else spec | {"titles": self.titles}

    @classmethod
    def from_spec_arguments(
        cls,
        features: Any,
        names: Any = None,
        box: Any = None,
        titles: Any = None,
        founders: Any = None,
    ) -> "Arms":
        """For specs: in those of studies that began before features were spread they stay."""
        arms = cls(features, names, box, titles, founders)
        crowded = founders is None and arms.unit_box.crowded
        return cls(features, names, arms.unit_box.corners, titles) if crowded else arms

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Arms) or self._identity != other._identity:
            return False
        return self is other or np.array_equal(self.arms, other.arms)

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple:
        """All but the features themselves, which may be many."""
        box = None if self.box is None else self.box.tobytes()
        return self.arms.shape, self.names, box, self.titles, self.founders

    def __repr__(self) -> str:
        """What it is; not every number."""
        return f"Arms({self.size} arms, names={list(self.names)})"


def _number(point: Point) -> int:
    assert isinstance(point, int)
    return point


def shuffled(pool: np.ndarray, seed: int, trial: int = 0) -> np.ndarray:
    """The pool in the random order in which a study, or a trial, draws its initial arms.

    Example:
        >>> sorted(shuffled(np.arange(4), seed=7).tolist())
        [0, 1, 2, 3]
    """
    return np.random.default_rng([seed, trial]).permutation(pool)
