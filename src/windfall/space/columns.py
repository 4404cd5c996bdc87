"""The unit box that the model sees, column by column, and the way to a user's units and back.

A real or an integer is one column; a choice is one column for each option, of which one is 1. The
same few lines serve NumPy on the host and JAX inside compiled code: ``xp`` is the module to use.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from windfall.space.parameter import Categorical, Parameter

__all__ = ["Columns"]


class Columns(NamedTuple):
    """What each of the c columns means; p is the number of parameters.

    Attributes:
        low: (c,) the value at 0, in the user's units.
        high: (c,) the value at 1.
        log: (c,) whether the scale between them is logarithmic.
        whole: (c,) whether only whole numbers count.
        hot: (c,) whether the column stands for one choice of a parameter.
        group: (c,) the number of the parameter.
        pick: (c, p) values of the columns @ pick = numbers of the parameters; a choice's number is
            its place in the list.
    """

    low: Any
    high: Any
    log: Any
    whole: Any
    hot: Any
    group: Any
    pick: Any

    @classmethod
    def of(cls, parameters: Sequence[Parameter]) -> "Columns":
        """The columns of some parameters, as host arrays."""
        rows = []
        for i, parameter in enumerate(parameters):
            if isinstance(parameter, Categorical):
                rows += [(0.0, 1.0, False, False, True, i, k) for k in range(parameter.width)]
            else:
                ends = float(parameter.low), float(parameter.high)
                rows.append((*ends, parameter.log, parameter.whole, False, i, 1))
        low, high, log, whole, hot, group, entry = (
            np.array(row) for row in zip(*rows, strict=True)
        )
        pick = np.zeros((len(rows), len(parameters)))
        pick[np.arange(len(rows)), group] = entry
        return cls(low, high, log, whole, hot, group, pick)

    @property
    def discrete(self) -> Any:
        """(c,) whether the column cannot move a little."""
        return self.whole | self.hot

    @property
    def points(self) -> float:
        """How many points there are; infinitely many where a column can move a little."""
        if not np.all(self.discrete):
            return np.inf
        options = np.where(self.whole, self.high - self.low + 1, 1.0)[~self.hot]
        choices = np.bincount(self.group[self.hot]) if np.any(self.hot) else np.ones(1)
        return float(np.prod(options) * np.prod(choices[choices > 0]))

    def _transformed(self, values: Any, xp: Any) -> Any:
        """Values on the scale on which distances count."""
        return xp.where(self.log, xp.log(xp.where(self.log, values, 1.0)), values)

    def values(self, x: Any, xp: Any = np) -> Any:
        """(m, c) values of the columns at unit points, whole numbers rounded."""
        start, end = self._transformed(self.low, xp), self._transformed(self.high, xp)
        scaled = start + (end - start) * x
        values = xp.where(self.log, xp.exp(xp.where(self.log, scaled, 0.0)), scaled)
        values = xp.where(self.whole, xp.round(values), values)
        return xp.clip(values, self.low, self.high)

    def natural(self, x: Any, xp: Any = np) -> Any:
        """(m, p) the parameters' numbers, in the user's units, at unit points."""
        return self.values(x, xp) @ self.pick

    def scaled(self, values: Any, xp: Any = np) -> Any:
        """(m, c) unit points from values of the columns."""
        start, end = self._transformed(self.low, xp), self._transformed(self.high, xp)
        return xp.clip((self._transformed(values, xp) - start) / (end - start), 0.0, 1.0)

    def unit(self, numbers: np.ndarray) -> np.ndarray:
        """(m, c) unit points from the parameters' numbers; on the host."""
        values = numbers[:, self.group]
        chosen = values == self.pick[np.arange(len(self.group)), self.group]
        return self.scaled(np.where(self.hot, chosen, values))

    def snap(self, x: Any, xp: Any = np) -> Any:
        """The nearest points that exist: whole numbers, and one choice of each parameter.

        Of choices that are equally near the first is taken.
        """
        x = xp.clip(x, 0.0, 1.0)
        place = xp.arange(x.shape[-1])
        mine, rival = x[:, :, None], x[:, None, :]
        beaten = (rival > mine) | ((rival == mine) & (place[None, :] < place[:, None]))
        same = self.group[:, None] == self.group[None, :]
        winner = ~xp.any(beaten & same, axis=-1)
        x = xp.where(self.whole, self.scaled(self.values(x, xp), xp), x)
        return xp.where(self.hot, xp.where(winner, 1.0, 0.0), x)

    def spread(self, u: np.ndarray) -> np.ndarray:
        """(m, c) unit points from (m, p) uniform numbers, every whole number and choice alike.

        On the host. Whole numbers own the range from ½ below to ½ above them, so that the first and
        the last get their full share.
        """
        half = 0.5 * self.whole
        start = self._transformed(self.low - half, np)
        end = self._transformed(self.high + half, np)
        mine = u[:, self.group]
        scaled = start + (end - start) * mine
        values = np.where(self.log, np.exp(np.where(self.log, scaled, 0.0)), scaled)
        values = np.clip(np.where(self.whole, np.round(values), values), self.low, self.high)
        options = np.bincount(self.group)[self.group]
        choice = np.minimum((mine * options).astype(int), options - 1)
        chosen = choice == self.pick[np.arange(len(self.group)), self.group]
        return self.scaled(np.where(self.hot, chosen, values))
