"""Points that fill a space evenly and keep to its constraints."""

from collections.abc import Sequence

import numpy as np

from windfall.errors import InputError
from windfall.naming import name_of
from windfall.space.columns import Columns
from windfall.space.constraints import Constraint
from windfall.space.sobol import Sobol

__all__ = ["feasible_fill", "slack"]

#: Sobol points tried at most, in blocks of this size, before the search turns to neighbours.
_BLOCK, _BLOCKS = 8192, 8
#: Then so many generations of neighbours of the least bad points, from so near to so far (powers of
#: ten).
_GENERATIONS, _PARENTS = 40, 64
_REACH = (-6.0, -0.5)


def feasible_fill(
    columns: Columns,
    names: Sequence[str],
    constraints: Sequence[Constraint],
    points: int,
    seed: int,
) -> np.ndarray:
    """(points, columns) unit points; see ``Parameters.fill``."""
    sobol = Sobol(columns.pick.shape[1], seed)
    if not constraints:
        return columns.spread(sobol.draw(points))
    return _Search(columns, names, constraints, points, seed).run(sobol)


class _Search:
    """Keeps the allowed points found so far, and the least bad of the others."""

    def __init__(self, columns, names, constraints, points, seed):
        self.columns, self.names, self.constraints = columns, names, constraints
        self.points = points
        self.rng = np.random.default_rng(seed)
        self.tried = 0
        self.found = np.empty((0, len(columns.group)))
        self.nearest = np.empty((0, len(columns.group)))
        self.miss = np.empty(0)

    def run(self, sobol: Sobol) -> np.ndarray:
        for _ in range(_BLOCKS):
            self.consider(self.columns.spread(sobol.draw(_BLOCK)))
            if len(self.found) >= self.points:
                return self.found[: self.points]
        for _ in range(_GENERATIONS):
            self.consider(self.neighbours())
            if len(self.found) >= self.points:
                return self.found[: self.points]
        if not len(self.found):
            kept = ", ".join(map(name_of, self.constraints))
            raise InputError(
                f"constraints [{kept}] hold at none of {self.tried} points tried; loosen them, or "
                "move the bounds to where they hold"
            )
        return np.resize(self.found, (self.points, self.found.shape[1]))

    def neighbours(self) -> np.ndarray:
        """Points near and far around those found, or around the least bad ones."""
        parents = self.found if len(self.found) else self.nearest
        chosen = parents[self.rng.integers(len(parents), size=_BLOCK // 4)]
        scale = 10.0 ** self.rng.uniform(*_REACH, (len(chosen), 1))
        moved = np.abs(chosen + scale * self.rng.standard_normal(chosen.shape))
        # Beyond the edge they come back into the box: clipped, all would lie on the edge.
        return self.columns.snap(1.0 - np.abs(1.0 - moved))

    def consider(self, x: np.ndarray) -> None:
        room = slack(self.names, self.constraints, self.columns.natural(x))
        self.tried += len(x)
        found = np.concatenate([self.found, x[room >= 0]])
        _, first = np.unique(found, axis=0, return_index=True)
        self.found = found[np.sort(first)]
        miss = np.where(np.isnan(room), np.inf, -room)
        nearest, miss = np.concatenate([self.nearest, x]), np.concatenate([self.miss, miss])
        order = np.argsort(miss, kind="stable")[:_PARENTS]
        self.nearest, self.miss = nearest[order], miss[order]


def slack(
    names: Sequence[str], constraints: Sequence[Constraint], features: np.ndarray
) -> np.ndarray:
    """How far each of (m, parameters) points is from breaking a constraint; negative: broken."""
    room = np.full(len(features), np.inf)
    if not constraints:
        return room
    from windfall.space.room import room_left  # needs JAX

    for first in range(0, len(features), _BLOCK):  # all of one length: one program serves
        some = features[first : first + _BLOCK]
        filled = np.zeros((_BLOCK, len(names)))
        filled[: len(some)] = some
        left = room_left(tuple(constraints), tuple(names), filled)
        room[first : first + _BLOCK] = np.asarray(left)[: len(some)]
    return room
