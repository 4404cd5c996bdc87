"""What a study says of itself: what was told, what is best, what is believed."""

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from windfall.errors import InputError
from windfall.naming import marked
from windfall.runtime.given import Chosen, Known
from windfall.space import Point, Space
from windfall.study.choice import Choice, choice_of, plain
from windfall.study.record import Record

if TYPE_CHECKING:
    from windfall.study.decide import Decider

__all__ = ["Reading"]


class Reading(ABC):
    """All that can be read of a study. Reading never changes a later choice."""

    _record: Record

    @cached_property
    @abstractmethod
    def _decider(self) -> "Decider":
        """Who says what is believed."""

    @property
    @abstractmethod
    def space(self) -> Space:
        """Where choices are made, with all arms that were added."""

    @abstractmethod
    def _now(self) -> Record:
        """All that has happened by now."""

    @abstractmethod
    def _context(self, given: Any) -> tuple[float, ...] | None:
        """The context that a user means."""

    @property
    def arms(self) -> np.ndarray | None:
        """The features of the arms; None on a space without arms."""
        return self._now().space.arms

    @property
    def names(self) -> list[str]:
        """The names of the features or parameters."""
        return list(self._record.space.names)

    @property
    def rewards(self) -> list[tuple[Any, float]]:
        """Every (arm, reward) told so far, in order; without arms (parameters, reward)."""
        record = self._now()
        return [(record.space.label(pull.point), pull.reward) for pull in record.told]

    @property
    def pulls(self) -> np.ndarray:
        """How many rewards each arm has; without arms, each distinct point told, in order."""
        return self._pulls(self._now())

    @property
    def failed(self) -> list[Choice]:
        """Choices whose pull failed, in order, less those told or forgotten since."""
        record = self._now()
        return [record.choice(where, "failed") for where in record.failed]

    @property
    def best(self) -> Choice:
        """What has the highest mean reward so far, among what the constraints allow."""
        record = self._rewarded("best")
        means = record.means()
        told = [point for _, point in sorted(zip(record.space.rows(means), means, strict=True))]
        kept = self._allowed(told)
        point = max(kept, key=lambda p: means[p][0])
        mean, pulls = means[point]
        why = f"highest mean reward, {mean:.4g} over {pulls} pull(s)"
        return choice_of(record.space, point, why)

    def best_at(self, context: Known) -> Choice:
        """What is believed to pay most in a context, among what was tried in whichever."""
        record = self._rewarded("best")
        here = self._context(context)
        kept = self._allowed(list(record.means()))
        mean, _ = self._decider.moments(record, record.space.locate(kept), here)
        top = int(np.argmax(mean))
        return record.choice((kept[top], here), f"highest predicted mean, {mean[top]:.4g}")

    def _allowed(self, told: list[Point]) -> list[Point]:
        """Those that keep to the constraints and are not retired; all, where there are none."""
        allowed, retired = self._record.space.allowed(told), self._record.retired
        pairs = zip(told, allowed, strict=True)
        return [point for point, good in pairs if good and point not in retired] or told

    def posterior(
        self, features: Chosen | list[Choice] | None = None, *, context: Known | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Mean and deviation of the payoff in reward units. Reading never changes a later choice.

        Args:
            features: Where: features, or points of the space; by default at every arm, or at every
                point told.
            context: In which context, in a study that has them.
        """
        record = self._rewarded("posterior")
        x = self._listed(record) if features is None else record.space.read(plain(features))
        return self._decider.moments(record, x, self._context(context))

    def explain(
        self, features: Chosen | list[Choice] | None = None, *, context: Known | None = None
    ) -> dict[str, np.ndarray]:
        """Per arm: mean, std, ratio (attention), acquisition and pulls; ready for a data frame.

        Without arms the rows are the distinct points told, and their parameters come first; one
        that is called like a column is marked, as in "ratio (parameter)".

        Args:
            features: Other rows, as for ``posterior``; then without pulls.
            context: In which context, in a study that has them; pulls are those in all of them.
        """
        record = self._rewarded("explain")
        here = self._context(context)
        if features is not None:
            return self._decider.table(record, record.space.read(plain(features)), here)
        beliefs = self._decider.table(record, self._listed(record), here)
        beliefs |= {"pulls": self._pulls(record)}
        described = record.space.columns_of(record.space.listed(record.means()))
        return marked(described, beliefs) | beliefs

    def _pulls(self, record: Record) -> np.ndarray:
        means = record.means()
        counts = np.zeros(len(record.space.listed(means)), int)
        counts[record.space.rows(means)] = [pulls for _, pulls in means.values()]
        return counts

    def _listed(self, record: Record) -> np.ndarray:
        """The unit points that tables list."""
        return record.space.locate(record.space.listed(record.means()))

    def _rewarded(self, what: str) -> Record:
        """All that has happened, with a reward among it."""
        record = self._now()
        if not record.told:
            raise InputError(f"{what} is unknown before the first reward; tell one first")
        return record
