"""What a decision is, and what it rests on."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from windfall.models.base import Belief, FitInfo
from windfall.space import Point
from windfall.space.context import Seen
from windfall.study.pull import Where

__all__ = ["Decision", "Learned"]


@dataclass(frozen=True)
class Decision:
    """A choice that a policy made.

    Attributes:
        point: What to try.
        why: One sentence.
        search: How the maximisation ended, where there are no arms to list.
        belief: The hyper-parameters, if they were searched for this decision; else None.
        searched: How many rewards and failures they rest on.
        remark: What is to be said of how they were found, if anything.
        predicted: What was believed about it: mean, deviation, ratio, and the best mean so far.
        propensity: How probable it was, if the policy knows.
        within: The bounds of contexts within which the hyper-parameters were found, if they grow.
    """

    point: Point
    why: str
    search: Any
    belief: dict[str, Any] | None
    searched: int
    remark: str
    predicted: dict[str, float]
    propensity: float | None = None
    within: Seen | None = None


@dataclass(frozen=True)
class Learned:
    """A belief with the hyper-parameters that decide, not yet conditioned.

    Attributes:
        record: What it was learned from.
        before: The hyper-parameters of the decision before, as its event has them.
        doomed: The points that failed, believed to pay as little as the worst so far.
        belief: Rewards and hyper-parameters.
        fit: How the search for them ended; None if they are those before.
        searched: How many rewards and failures they rest on.
        said: What was to be said of how those before were found, if anything.
    """

    record: tuple
    before: dict[str, Any] | None
    doomed: list[Where]
    belief: Belief
    fit: FitInfo | None
    searched: int
    said: str

    # What follows waits for the search, which may go on while its decision is prepared.

    @cached_property
    def hyper(self) -> dict[str, Any] | None:
        """These hyper-parameters as an event has them: those before, or new ones."""
        return self.before if self.fit is None else self.belief.dump()

    @cached_property
    def remark(self) -> str:
        """What is to be said of how they were found, if anything."""
        if self.fit is None:
            return self.said
        spent = int(self.fit.evaluations)
        return "" if self.fit.converged else f"; its fit was ended after {spent} evaluations"
