"""Parameters together: real and whole numbers, choices, and constraints between them."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from windfall.checks import whole
from windfall.errors import InputError
from windfall.naming import name_of
from windfall.runtime.given import Constraints, Known, ParametersLike
from windfall.space.base import Point, Space
from windfall.space.checks import entries, read_only, shape_of
from windfall.space.columns import Columns
from windfall.space.constraints import check_constraints
from windfall.space.fill import feasible_fill, slack
from windfall.space.parameter import Categorical, Integer, Parameter
from windfall.specs import by_name

__all__ = ["Parameters"]

#: A constraint may be missed by this much: a point on the edge is allowed whatever the rounding.
_SLACK = 1e-9


class Parameters(Space):
    """Named parameters, and constraints between them.

    A point is a dictionary of values by name, or the numbers in the order of the names (a choice
    by its place in the list, from 0).

    Args:
        parameters: ``Real``, ``Integer`` or ``Categorical`` by name.
        constraints: ``AtMost``, or functions of the parameters by name that are 0 or more where a
            point is allowed and that JAX can trace; a choice has its number there.

    Example:
        >>> from windfall.space import Categorical, Real
        >>> space = Parameters({"rate": Real(0, 10), "kind": Categorical(["a", "b"])})
        >>> space.encode({"rate": 2.5, "kind": "b"}).tolist()
        [0.25, 0.0, 1.0]
        >>> space.decode([0.25, 0.2, 0.8])
        {'rate': 2.5, 'kind': 'b'}
    """

    noun, origin = "point", "space-filling"

    def __init__(self, parameters: ParametersLike, constraints: Constraints = ()):
        """Check the parameters and their constraints."""
        if not isinstance(parameters, Mapping) or not parameters:
            raise InputError(
                f"parameters is {parameters!r}; expected parameters by name, such as "
                "{'rate': Real(0.1, 1.0)}"
            )
        for name, parameter in parameters.items():
            if not isinstance(name, str) or not name:
                raise InputError(f"parameter name is {name!r}; expected text")
            if not isinstance(parameter, Parameter):
                raise InputError(f"{name} is {parameter!r}; expected Real, Integer or Categorical")
        self.parameters = dict(parameters)
        choices = [n for n, p in self.parameters.items() if isinstance(p, Categorical)]
        self.constraints = check_constraints(constraints, self.names, choices)

    @property
    def arms(self) -> None:
        """There is no list."""
        return None

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters' names, in order."""
        return tuple(self.parameters)

    @cached_property
    def columns(self) -> Columns:
        """What the columns of the unit box mean."""
        return Columns.of(list(self.parameters.values()))

    @property
    def dimension(self) -> int:
        """The number of columns of the unit box."""
        return len(self.columns.group)

    @property
    def ties(self) -> tuple[int, ...] | None:
        """Columns of one parameter belong together."""
        return tuple(self.columns.group.tolist()) if np.any(self.columns.hot) else None

    @property
    def size(self) -> int:
        """The number of parameters."""
        return len(self.parameters)

    def initial(self, asked: int | None) -> int:
        """By default 2·(parameters + 1), at most 20; never more than there are points."""
        if self.constraints:
            self.fill(1)  # refuse at once a space in which nothing is allowed
        usual = min(2 * (self.size + 1), 20)
        count = whole("initial", usual if asked is None else asked, 1)
        return int(min(count, self.columns.points))

    def untried(self, used: Collection[Point], seed: int, among: np.ndarray | None = None) -> Point:
        """The next of the space-filling points, scrambled by the seed; else the least used."""
        assert among is None, "there is no list"
        often = Counter(used)
        rows, done = self._filling(64, seed), 0
        while (found := next((row for row in rows[done:] if row not in often), None)) is None:
            if (done := len(rows)) >= 2**16:
                return min(dict.fromkeys(rows), key=often.__getitem__)
            rows = self._filling(4 * done, seed)
        return found

    def _filling(self, size: int, seed: int) -> Sequence[Point]:
        """So many space-filling points; kept, as a study's initial choices are asked one by one."""
        rows = self._filled.get((size, seed))
        if rows is None:
            rows = [*map(tuple, self.natural(self.fill(size, seed)).tolist())]
            self._filled[size, seed] = rows
        return rows

    @cached_property
    def _filled(self) -> dict[tuple[int, int], Sequence[Point]]:
        return {}

    def point(self, given: Any) -> Point:
        """Checked numbers, one per parameter, in the user's units."""
        values = self._by_name(given) if isinstance(given, Mapping) else self._in_order(given)
        return tuple(float(p.number(n, values[n])) for n, p in self.parameters.items())

    def chosen(self, choice: Any) -> Point:
        return tuple(self.natural(self.snap(np.asarray(choice)[None]))[0].tolist())

    def locate(self, points: Sequence[Point]) -> np.ndarray:
        return self.unit(np.array(points, float).reshape(-1, self.size))

    def read(self, features: Any) -> np.ndarray:
        rows = _rows(features)
        if rows is None:
            raise InputError(
                f"features is {' '.join(repr(features).split())}; expected a point of "
                f"{', '.join(self.names)}, a list of points or a data frame"
            )
        return self.locate([self.point(row) for row in rows])

    def features(self, point: Point) -> np.ndarray:
        return read_only(np.array(point))

    def label(self, point: Point) -> Any:
        return self.named(np.array(point))

    def listed(self, told: Iterable[Point]) -> list[Point]:
        """Those told, in order."""
        return list(told)

    def rows(self, told: Collection[Point]) -> np.ndarray:
        return np.arange(len(told))

    def columns_of(self, points: Sequence[Point]) -> dict[str, np.ndarray]:
        """The parameters."""
        rows = [self.label(point) for point in points]
        return {name: np.array([row[name] for row in rows]) for name in self.names}

    def allowed(self, points: Sequence[Point]) -> np.ndarray:
        return self.feasible(np.array(points))

    def _by_name(self, point: Mapping[str, Any]) -> dict[str, Any]:
        if point.keys() != self.parameters.keys():
            unknown = [name for name in point if name not in self.parameters]
            missing = [name for name in self.parameters if name not in point]
            wrong = [f"unknown {', '.join(map(repr, unknown))}"] if unknown else []
            wrong += [f"missing {', '.join(map(repr, missing))}"] if missing else []
            raise InputError(
                f"parameters are {list(point)!r} ({'; '.join(wrong)}); "
                f"expected {', '.join(self.names)}"
            )
        return dict(point)

    def _in_order(self, point: Any) -> dict[str, Any]:
        in_order = isinstance(point, Sequence | np.ndarray) or _is_array(point)
        values = entries(point) if in_order else None
        if values is None or len(values) != self.size:
            raise InputError(
                f"point is {point!r}; expected a dictionary of {', '.join(self.names)}, or "
                f"{self.size} numbers in this order"
            )
        return {
            name: p.value(_place(name, p, value)) if isinstance(p, Categorical) else value
            for (name, p), value in zip(self.parameters.items(), values, strict=True)
        }

    def named(self, features: np.ndarray) -> dict[str, Any]:
        """Checked numbers as values by name."""
        pairs = zip(self.parameters.items(), features, strict=True)
        return {name: parameter.value(number) for (name, parameter), number in pairs}

    def encode(self, point: Known) -> np.ndarray:
        """The unit point of a point."""
        return self.locate([self.point(point)])[0]

    def decode(self, x: Any) -> dict[str, Any]:
        """The point, by name, nearest to a point of the unit box."""
        return self.named(self.natural(self.snap(np.asarray(x, float)[None]))[0])

    def unit(self, features: np.ndarray) -> np.ndarray:
        """(m, columns) unit points from (m, parameters) numbers."""
        return self.columns.unit(np.asarray(features, float))

    def natural(self, x: np.ndarray) -> np.ndarray:
        """(m, parameters) numbers in the user's units from (m, columns) unit points."""
        return self.columns.natural(x)

    def snap(self, x: np.ndarray) -> np.ndarray:
        """The nearest unit points that exist: whole numbers, and one choice of each parameter."""
        return self.columns.snap(x)

    def feasible(self, features: np.ndarray) -> np.ndarray:
        """Whether each of (m, parameters) checked points keeps to the constraints."""
        return slack(self.names, self.constraints, features) >= -_SLACK

    def fill(self, points: int, seed: int = 0) -> np.ndarray:
        """Space-filling (Sobol) unit points that exist and keep to the constraints.

        The same every time for a seed. Where few points are allowed they are found near one
        another, and repeated if need be; where none is found, that is an ``InputError``.
        """
        return feasible_fill(self.columns, self.names, self.constraints, points, seed)

    def anchors(self, most: int = 512) -> np.ndarray:
        """A few representative unit points."""
        return self.fill(most)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Parameters) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple:
        return tuple(self.parameters.items()), self.constraints

    def spec_arguments(self) -> dict[str, Any]:
        """For specs."""
        return {"parameters": self.parameters, "constraints": self.constraints}

    @classmethod
    def from_spec_arguments(cls, parameters: Any, constraints: Any = ()) -> "Parameters":
        return cls(by_name("parameters", parameters), constraints)

    def __repr__(self) -> str:
        """The expression that makes this space again; functions go by their names."""
        return f"Parameters({self.parameters!r}{self._constraints_text()})"

    def _constraints_text(self) -> str:
        named = [name_of(c) for c in self.constraints]
        return f", constraints=[{', '.join(named)}]" if named else ""


def _rows(features: Any) -> list[Any] | None:
    """The points of a data frame or a list, or the one point given; None if it is neither."""
    if isinstance(features, Mapping):
        return [features]
    try:
        rows = features.to_dict("records") if hasattr(features, "to_dict") else list(features)
    except TypeError:
        return None
    first: Any = next(iter(rows), None)
    several = isinstance(first, Mapping) or shape_of(first) != ()
    return rows if several else [features]


def _is_array(point: Any) -> bool:
    return hasattr(point, "__array__") and np.ndim(point) == 1


def _place(name: str, parameter: Categorical, value: Any) -> float:
    """A choice by its place in the list."""
    last = parameter.width - 1
    return Integer(0, last).number(f"number of {name}", value)
