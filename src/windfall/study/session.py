"""What every study can do, wherever its events are kept: decide, learn, say what it believes."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from windfall.checks import shown
from windfall.errors import InputError
from windfall.runtime.collector import uncollected
from windfall.runtime.given import Chosen, Known, Names, Number, Numbers, Text, Whole
from windfall.space import Context, Point, Space
from windfall.study import history
from windfall.study.choice import Choice, Request, plain
from windfall.study.events import Event
from windfall.study.offered import offered
from windfall.study.pull import Pull
from windfall.study.reading import Reading
from windfall.study.record import Record
from windfall.study.warming import Warmer

if TYPE_CHECKING:
    from windfall.policy import Policy
    from windfall.study.decide import Decider

__all__ = ["Session"]

#: So many choices before the first that a model makes, programs are compiled for it: as many as
#: there are initial ones by default, at most.
SOON = 20


class Session(Reading):
    """Tells and reads of a study; where its events go is for those who derive from this.

    Args:
        space: Where choices are made.
        seed: Determines every choice.
        initial: How many choices come before the policy takes over.
        context: What is known before each choice, if anything.
    """

    #: Whether payoffs may drift, so that the time of a reward counts.
    timed: bool = False

    def __init__(self, space: Space, seed: int, initial: int, context: Context | None = None):
        self._begun, self.seed, self.initial, self.context = space, seed, initial, context
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

    def offered(self) -> dict[int, np.ndarray]:
        """By the id of a choice, which of all arms there ever were it could have been."""
        return offered(Record(self._begun, context=self.context), self.happened())

    @abstractmethod
    def _happen(self, kind: str, said: Callable[[], dict[str, Any]]) -> None:
        """Let something happen; an error leaves everything as it was.

        Args:
            kind: Of the event.
            said: Its contents, by what has happened when it is called; refuses what cannot happen.
        """

    @cached_property
    def _decider(self) -> "Decider":
        with uncollected():
            from windfall.study.decide import Decider

        return Decider(self._begun, self.policy, self.seed, self.initial, self.context)

    @cached_property
    def _warmer(self) -> Warmer:
        return Warmer(self._rehearse)

    def _rehearse(self) -> None:
        """In the background, while what was asked is being measured."""
        self._decider.rehearse()

    @property
    def space(self) -> Space:
        """Where choices are made, with all arms that were added."""
        return self._now().space

    @property
    def pending(self) -> list[Choice]:
        """Choices handed out by ``ask(n)`` and neither told, failed nor forgotten."""
        return [choice for _, choice in self._now().waiting]

    def add_arms(self, features: Numbers, names: Names | Text | None = None) -> list[int]:
        """Add arms to the list, also outside of where the others are; their numbers.

        A retired arm that is added again (its features, and its name where one is given) is that
        arm again.

        Args:
            features: (n, d), or those of one arm.
            names: What people call them; different from those of all other arms.
        """
        self._happen("added", lambda: self._enlarged(features, names))
        return [*self._record.added[-1]]

    def retire(self, arm: Chosen) -> None:
        """An arm is no longer chosen; its rewards still count, and more may be told.

        Args:
            arm: Its number, name or features, or a choice.
        """
        self._happen("retired", lambda: self._leaving(arm))

    def tell(
        self,
        choice: Chosen,
        reward: Number,
        noise: Number | None = None,
        count: Whole | None = None,
        deviation: Number | None = None,
        *,
        context: Known | None = None,
        at: Number | None = None,
    ) -> None:
        """Record a reward for a choice, or for anything else; repeats are welcome.

        Args:
            choice: A choice, the number of an arm, values by name, or the features in order.
            reward: What it paid.
            noise: The standard deviation of this reward's noise, if it is known.
            count: The reward is the mean of so many replicates.
            deviation: The sample deviation of these replicates (divided by count − 1).
            context: What was known before, in a study with contexts; a choice has its own.
            at: When it came, in a study whose payoffs may drift, in any unit; times do not run
                backwards. By default one unit after the last.
        """
        paid = (reward, noise, count, deviation)
        self._happen("told", lambda: self._paid(choice, *paid, context=context, at=at))

    def fail(self, choice: Chosen, *, context: Known | None = None) -> None:
        """Record that a pull failed: it is believed to pay as little as the worst so far.

        A reward told for it, before or later, says more than that. ``forget`` takes it back.
        """
        self._happen("failed", lambda: self._meant(choice, context))

    def forget(self, choice: Chosen, *, context: Known | None = None) -> None:
        """A choice that was handed out will never be told, or failed by accident: drop it."""
        self._happen("forgotten", lambda: self._meant(choice, context))

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
        if among is None and not self._record.retired:
            return Request(contexts)
        from windfall.study.available import available

        mask, known = available(self._record.space, among, self._record.retired)
        return Request(contexts, known, mask)

    def _made(self, request: Request, *, held: bool) -> list[tuple[dict[str, Any], Any]]:
        """Choices to be handed out: the contents of their events, and their searches."""
        self._warmer.asking()
        record, space = self._record, self._record.space
        waiting = [where for where, _ in record.waiting]
        seen, mask = record.seen, request.mask
        if self.context is not None:
            seen = self.context.including(seen, request.contexts)
        made: list[tuple[dict[str, Any], Any]] = []
        found = False  # hyper-parameters stand in the first choice that they were found for
        for number, context in enumerate(request.contexts, record.asked):
            used = record.happened + len(waiting)
            contents: dict[str, Any] = {"id": number, "held": held}
            if used < self.initial or not record.told:
                point, search = space.untried(record.used(waiting), self.seed, mask), None
                contents["why"] = self._initial_reason(used)
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
        return made

    def _handed_out(self) -> None:
        """What was asked is being measured: time to prepare the next decision, if a model makes it.

        Not long before: a crowd on one machine has better things to do than to compile.
        """
        record = self._record
        if record.happened + len(record.pending) + SOON >= self.initial:
            self._warmer.asked()

    def _initial_reason(self, used: int) -> str:
        noun = self._record.space.noun
        place = f"initial {noun} {used + 1} of {self.initial}"
        what = place if used < self.initial else f"no reward yet: another {noun}"
        return f"{what}, {self._record.space.origin}"

    def _meant(self, given: Any, context: Any = None) -> dict[str, Any]:
        """The point, the id and the context that a user means."""
        number = given.id if isinstance(given, Choice) else None
        meant = {"point": _jsonable(self._record.space.point(plain(given))), "id": number}
        if isinstance(given, Choice) and given.context is not None:
            if context is not None:
                raise InputError(
                    f"context is {shown(context)}; expected none: a choice has its own"
                )
            context = given.context
        here = self._context(context)
        return meant if here is None else meant | {"context": list(here)}

    def _enlarged(self, features: Any, names: Any) -> dict[str, Any]:
        """What arms are added, checked."""
        from windfall.space.similarity import check_return
        from windfall.study.available import enlarged

        record = self._record
        check_return(record.space, features, record.retired)
        space, found = enlarged(record.space, features, names, record.retired)
        if not self.policy.acquisition.grows:
            raise InputError(
                "arms cannot be added where the policy has one weight per arm; expected a prior "
                "that is a function of features, or none"
            )
        contents: dict[str, Any] = {"features": space.arms[found].tolist()}
        if names is None or space.titles is None:
            return contents
        titles = [str(space.titles[arm]) for arm in found]
        if not all(map(str.strip, titles)):  # not asked of what is on record
            raise InputError(f"names is {shown(names)}; expected names that can be read")
        return contents | {"names": titles}

    def _leaving(self, arm: Any) -> dict[str, Any]:
        from windfall.study.available import to_retire

        record = self._record
        return {"arm": to_retire(record.space, arm, record.retired)}

    def _paid(self, choice: Any, *paid: Any, context: Any = None, at: Any = None) -> dict[str, Any]:
        """What a reward says, checked."""
        meant = self._meant(choice, context)
        if self.timed:
            at = self._record.next if at is None else at
        elif at is not None:
            raise InputError(f"at is {shown(at)}; expected none: the study knows of no drift")
        pull = Pull.of(self._record.space.point(meant["point"]), *paid, at=at)
        return {
            **meant,
            **({} if pull.at is None else {"at": pull.at}),
            "reward": pull.reward,
            "noise": pull.noise,
            "count": pull.count,
            "deviation": pull.deviation,
        }


def _jsonable(point: Point) -> Any:
    return list(point) if isinstance(point, tuple) else point
