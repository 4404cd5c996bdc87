"""What every study can do, wherever its events are kept: decide, learn, say what it believes."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from windfall.checks import shown
from windfall.errors import InputError
from windfall.naming import marked
from windfall.space import Context, Point, Space
from windfall.study import history
from windfall.study.choice import Choice, Request, choice_of, plain
from windfall.study.events import Event
from windfall.study.pull import Pull
from windfall.study.record import Record
from windfall.study.warming import Warmer

if TYPE_CHECKING:
    from windfall.policy import Policy
    from windfall.study.decide import Decider

__all__ = ["Session"]


class Session(ABC):
    """Tells and reads of a study; where its events go is for those who derive from this.

    Args:
        space: Where choices are made.
        seed: Determines every choice.
        initial: How many choices come before the policy takes over.
        context: What is known before each choice, if anything.
    """

    def __init__(self, space: Space, seed: int, initial: int, context: Context | None = None):
        self.space, self.seed, self.initial, self.context = space, seed, initial, context
        self._record = Record(space, context=context)

    @cached_property
    @abstractmethod
    def policy(self) -> "Policy":
        """The policy."""

    def history(self) -> dict[str, list[Any]]:
        """All that happened: one row per event, ready for a data frame."""
        return history.columns(self._now(), self.happened())

    @abstractmethod
    def happened(self) -> Sequence[Event]:
        """Every event, less the study's creation."""

    @abstractmethod
    def _now(self) -> Record:
        """All that has happened by now."""

    @abstractmethod
    def _happen(self, kind: str, contents: dict[str, Any]) -> None:
        """Let something happen; an error leaves everything as it was."""

    @cached_property
    def _decider(self) -> "Decider":
        from windfall.study.decide import Decider

        return Decider(self.space, self.policy, self.seed, self.initial, self.context)

    @cached_property
    def _warmer(self) -> Warmer:
        return Warmer(self._rehearse)

    def _rehearse(self) -> None:
        """In the background, while what was asked is being measured."""
        self._decider.rehearse()

    @property
    def arms(self) -> np.ndarray | None:
        """The features of the arms; None on a space without arms."""
        return self.space.arms

    @property
    def names(self) -> list[str]:
        """The names of the features or parameters."""
        return list(self.space.names)

    @property
    def rewards(self) -> list[tuple[Any, float]]:
        """Every (arm, reward) told so far, in order; without arms (parameters, reward)."""
        return [(self.space.label(pull.point), pull.reward) for pull in self._now().told]

    @property
    def pulls(self) -> np.ndarray:
        """How many rewards each arm has; without arms, each distinct point told, in order."""
        return self._pulls(self._now())

    @property
    def pending(self) -> list[Choice]:
        """Choices handed out by ``ask(n)`` and neither told, failed nor forgotten."""
        return [choice for _, choice in self._now().waiting]

    @property
    def failed(self) -> list[Choice]:
        """Choices whose pull failed, in order, less those told or forgotten since."""
        record = self._now()
        return [record.choice(where, "failed") for where in record.failed]

    @property
    def best(self) -> Choice:
        """What has the highest mean reward so far, among what the constraints allow."""
        means = self._rewarded("best").means()
        told = [point for _, point in sorted(zip(self.space.rows(means), means, strict=True))]
        allowed = self.space.allowed(told)
        kept = [point for point, good in zip(told, allowed, strict=True) if good] or told
        point = max(kept, key=lambda p: means[p][0])
        mean, pulls = means[point]
        why = f"highest mean reward, {mean:.4g} over {pulls} pull(s)"
        return choice_of(self.space, point, why)

    def best_at(self, context: Any) -> Choice:
        """What is believed to pay most in a context, among what was tried in whichever."""
        record = self._rewarded("best")
        here = self._context(context)
        told = list(record.means())
        allowed = self.space.allowed(told)
        kept = [point for point, good in zip(told, allowed, strict=True) if good] or told
        mean, _ = self._decider.moments(record, self.space.locate(kept), here)
        top = int(np.argmax(mean))
        return record.choice((kept[top], here), f"highest predicted mean, {mean[top]:.4g}")

    def tell(
        self,
        choice: Any,
        reward: Any,
        noise: Any = None,
        count: Any = None,
        deviation: Any = None,
        *,
        context: Any = None,
    ) -> None:
        """Record a reward for a choice, or for anything else; repeats are welcome.

        Args:
            choice: A choice, the number of an arm, values by name, or the features in order.
            reward: What it paid.
            noise: The standard deviation of this reward's noise, if it is known.
            count: The reward is the mean of so many replicates.
            deviation: The sample deviation of these replicates (divided by count − 1).
            context: What was known before, in a study with contexts; a choice has its own.
        """
        self._happen("told", self._paid(choice, reward, noise, count, deviation, context=context))

    def fail(self, choice: Any, *, context: Any = None) -> None:
        """Record that a pull failed: it is believed to pay as little as the worst so far.

        A reward told for it, before or later, says more than that. ``forget`` takes it back.
        """
        self._happen("failed", self._meant(choice, context))

    def forget(self, choice: Any, *, context: Any = None) -> None:
        """A choice that was handed out will never be told, or failed by accident: drop it."""
        self._happen("forgotten", self._meant(choice, context))

    def posterior(
        self, features: Any = None, *, context: Any = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Mean and deviation of the payoff in reward units. Reading never changes a later choice.

        Args:
            features: Where: features, or points of the space; by default at every arm, or at every
                point told.
            context: In which context, in a study that has them.
        """
        record = self._rewarded("posterior")
        x = self._listed(record) if features is None else self.space.read(plain(features))
        return self._decider.moments(record, x, self._context(context))

    def explain(self, features: Any = None, *, context: Any = None) -> dict[str, np.ndarray]:
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
            return self._decider.table(record, self.space.read(plain(features)), here)
        beliefs = self._decider.table(record, self._listed(record), here)
        beliefs |= {"pulls": self._pulls(record)}
        described = self.space.columns_of(self.space.listed(record.means()))
        return marked(described, beliefs) | beliefs

    def _context(self, given: Any) -> tuple[float, ...] | None:
        """The context that a user means."""
        if self.context is not None:
            return self.context.point(given)
        if given is not None:
            raise InputError(f"context is {shown(given)}; expected none: the study has no context")
        return None

    def _request(self, n: int, context: Any, among: Any) -> Request:
        """What n choices are asked for with, checked."""
        if self.context is None:
            contexts: list[Any] = [self._context(context)] * n
        else:
            contexts = [*self.context.points(context, n)]
        if among is None:
            return Request(contexts)
        from windfall.study.available import available

        mask, known = available(self.space, among)
        return Request(contexts, known, mask)

    def _made(self, request: Request, *, held: bool) -> list[tuple[dict[str, Any], Any]]:
        """Choices to be handed out: the contents of their events, and their searches."""
        self._warmer.asking()
        record = self._record
        waiting = [where for where, _ in record.waiting]
        seen, mask = record.seen, request.mask
        if self.context is not None:
            seen = self.context.including(seen, request.contexts)
        made: list[tuple[dict[str, Any], Any]] = []
        found = False  # hyper-parameters stand in the first choice that they were found for
        for number, context in enumerate(request.contexts, record.asked):
            used = record.used(waiting)
            contents: dict[str, Any] = {"id": number, "held": held}
            if len(used) < self.initial or not record.told:
                point, search = self.space.untried(used, self.seed, mask), None
                contents["why"] = self._initial_reason(len(used))
            else:
                decision = self._decider.choose(record, waiting, context, seen, mask)
                point, search = decision.point, decision.search
                contents |= {"why": decision.why, "predicted": decision.predicted}
                if decision.propensity is not None:
                    contents["propensity"] = decision.propensity
                if decision.belief is not None and not found:
                    names = ("belief", "searched", "remark")
                    contents |= {name: getattr(decision, name) for name in names}
                    if decision.within is not None:
                        contents["within"] = [*map(list, decision.within)]
                    found = True
            waiting.append((point, context))
            contents |= {"point": _jsonable(point), **request.contents(context)}
            made.append((contents, search))
        self._warmer.asked()
        return made

    def _initial_reason(self, used: int) -> str:
        noun = self.space.noun
        place = f"initial {noun} {used + 1} of {self.initial}"
        what = place if used < self.initial else f"no reward yet: another {noun}"
        return f"{what}, {self.space.origin}"

    def _meant(self, given: Any, context: Any = None) -> dict[str, Any]:
        """The point, the id and the context that a user means."""
        number = given.id if isinstance(given, Choice) else None
        meant = {"point": _jsonable(self.space.point(plain(given))), "id": number}
        if isinstance(given, Choice) and given.context is not None:
            if context is not None:
                raise InputError(
                    f"context is {shown(context)}; expected none: a choice has its own"
                )
            context = given.context
        here = self._context(context)
        return meant if here is None else meant | {"context": list(here)}

    def _paid(self, choice: Any, *paid: Any, context: Any = None) -> dict[str, Any]:
        """What a reward says, checked."""
        meant = self._meant(choice, context)
        pull = Pull.of(self.space.point(meant["point"]), *paid)
        return {
            **meant,
            "reward": pull.reward,
            "noise": pull.noise,
            "count": pull.count,
            "deviation": pull.deviation,
        }

    def _pulls(self, record: Record) -> np.ndarray:
        means = record.means()
        counts = np.zeros(len(self.space.listed(means)), int)
        counts[self.space.rows(means)] = [pulls for _, pulls in means.values()]
        return counts

    def _listed(self, record: Record) -> np.ndarray:
        """The unit points that tables list."""
        return self.space.locate(self.space.listed(record.means()))

    def _rewarded(self, what: str) -> Record:
        """All that has happened, with a reward among it."""
        record = self._now()
        if not record.told:
            raise InputError(f"{what} is unknown before the first reward; tell one first")
        return record


def _jsonable(point: Point) -> Any:
    return list(point) if isinstance(point, tuple) else point
