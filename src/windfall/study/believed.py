"""What a study believes, for people to read."""

from abc import abstractmethod
from typing import Any

import numpy as np

from windfall.models.base import Belief
from windfall.policy import Policy, State
from windfall.study import compiled
from windfall.study.record import Record

__all__ = ["Believed"]


class Believed:
    """Answers of whoever decides; to ask changes nothing."""

    policy: Policy
    #: Which rows of a list are arms; None where there is no list.
    _all: np.ndarray | None

    @abstractmethod
    def _at(self, record: Record, context: tuple[float, ...] | None) -> Belief:
        """What is believed in a context, all rewards learned."""

    @abstractmethod
    def _state(self, record: Record, belief: Any) -> State:
        """All that a policy knows."""

    @property
    def _size(self) -> int:
        """The length of the list, if there is one."""
        return 0 if self._all is None else len(self._all)

    def moments(
        self, record: Record, x: np.ndarray, context: tuple[float, ...] | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Mean and deviation of the payoff at unit points in a context, in reward units."""
        return compiled.moments(self._at(record, context), x, self._size)

    def table(
        self, record: Record, x: np.ndarray, context: tuple[float, ...] | None = None
    ) -> dict[str, np.ndarray]:
        """What is believed about unit points in a context, by column."""
        belief = self._at(record, context)
        table = compiled.table(self.policy, self._state(record, belief), x, self._size)
        since = belief.since(record.next)
        return table if since is None else table | {"since": np.full(len(x), since)}
