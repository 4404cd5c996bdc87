"""What a study's events add up to: rewards told, pulls that failed, choices handed out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from windfall.checks import whole
from windfall.errors import InputError
from windfall.space import Context, Point, Space
from windfall.space.context import Seen
from windfall.study.choice import Among, Choice, Holder, choice_of
from windfall.study.events import Event
from windfall.study.pull import Pull, Where, mean_of

__all__ = ["Record"]

#: What a choice was asked for with: its context, and which arms were available.
Offer = tuple[tuple[float, ...] | None, Among | None]


@dataclass
class Record:
    """Everything told, failed and pending, in order; the fold over a study's events.

    Attributes:
        space: Where choices are made.
        told: Rewards.
        failed: Points whose pull failed, less those told or forgotten since, with their contexts.
        pending: Choices handed out and neither told, failed, forgotten nor expired, by id.
        holders: Who has a choice and until when, by id, of those that are somebody's or leased;
            also when they are no longer pending.
        proposal: The choice of a plain ``ask``, until something happens.
        offer: In which context, and among which arms, the proposal was made.
        seen: The bounds of all contexts, where they grow; None before the first.
        belief: The hyper-parameters that the last decision rested on; None before any.
        within: The bounds of contexts within which they were found.
        searched: How many rewards and failures there were when they were found; −1 before any.
        remark: What is to be said of how they were found, if anything.
        asked: How many choices were made.
        undone: How many rewards were taken back.
        context: What is known before each choice, if anything.
        retired: Arms that are no longer chosen.
        added: The numbers of the arms that each addition brought.
    """

    space: Space
    told: list[Pull] = field(default_factory=list)
    failed: list[Where] = field(default_factory=list)
    pending: dict[int, tuple[Where, Choice]] = field(default_factory=dict)
    holders: dict[int, Holder] = field(default_factory=dict)
    proposal: Choice | None = None
    offer: Offer | None = None
    seen: Seen | None = None
    belief: dict[str, Any] | None = None
    within: Seen | None = None
    searched: int = -1
    remark: str = ""
    asked: int = 0
    undone: int = 0
    context: Context | None = None
    retired: frozenset[int] = frozenset()
    added: tuple[tuple[int, ...], ...] = ()

    def fold(self, event: Event, search: Any = None) -> None:
        """Let an event happen that is on record.

        Args:
            event: What happens.
            search: How the maximisation behind an asked event ended; it is not kept.
        """
        if event.kind == "noted":
            return
        before, self.proposal = (self.proposal, self.seen), None
        try:
            if "context" in event.contents:
                self._see(event.contents)
            if event.kind == "asked":
                self._asked(event, search)
            elif event.kind == "told":
                self._told(event)
            else:
                getattr(self, f"_{event.kind}")(event.contents)
        except InputError:
            self.proposal, self.seen = before
            raise

    def admit(self, event: Event, search: Any = None) -> None:
        """Let something new happen: ``fold``, but a reward does not come before the last."""
        last, at = self.last, event.contents.get("at")
        late = isinstance(at, int | float) and last is not None and at < last
        if event.kind == "told" and late:
            full = repr(last).removesuffix(".0")  # so that it is accepted
            raise InputError(f"at is {at!r}; expected {full} or more: times do not run backwards")
        self.fold(event, search)

    def copy(self) -> "Record":
        """Another record, to which something else may happen."""
        return replace(
            self,
            told=list(self.told),
            failed=list(self.failed),
            pending=dict(self.pending),
            holders=dict(self.holders),
        )

    def _created(self, contents: Mapping[str, Any]) -> None:
        raise InputError("a study is created once; this event comes too late")

    def _see(self, contents: Mapping[str, Any]) -> None:
        """A context comes up; bounds that grow never shrink again."""
        if self.context is None:
            raise InputError(f"context is {contents['context']!r}; expected none in this study")
        self.seen = self.context.including(self.seen, [self.context.point(contents["context"])])

    def where(self, contents: Mapping[str, Any]) -> Where:
        """The point that an event is about, and its context."""
        point = self.space.point(_get(contents, "point"))
        if self.context is None:
            return point, None
        return point, self.context.point(contents.get("context"))

    def choice(
        self, where: Where, why: str, search: Any = None, number: int | None = None
    ) -> Choice:
        """What is tried, as a user sees it."""
        point, context = where
        known = None if context is None or self.context is None else self.context.named(context)
        return choice_of(self.space, point, why, search, number, known)

    def _asked(self, event: Event, search: Any) -> None:
        contents = event.contents
        where = self.where(contents)
        number, why = _get(contents, "id"), str(_get(contents, "why"))
        choice = self.choice(where, why, search, number)
        if contents.get("belief") is not None:
            self._fitted(contents)
        self.asked = number + 1
        if _get(contents, "held"):
            self.pending[number] = (where, choice)
            if event.worker is not None or contents.get("until") is not None:
                self.holders[number] = Holder(event.worker, contents.get("until"))
        else:
            self.proposal = choice
            self.offer = where[1], _among(contents)

    def _fitted(self, contents: Mapping[str, Any]) -> None:
        self.belief = _get(contents, "belief")
        low_high = contents.get("within")
        self.within = None if low_high is None else (tuple(low_high[0]), tuple(low_high[1]))
        self.searched = whole("state searched", _get(contents, "searched"), -1, self.happened)
        self.remark = str(contents.get("remark", ""))

    def _told(self, event: Event) -> None:
        contents = event.contents
        where = self.where(contents)
        names = ("reward", "noise", "count", "deviation")
        paid = (contents.get(name) for name in names)
        pull = Pull.of(where[0], *paid, event=event.number, context=where[1], at=contents.get("at"))
        if pull.at is not None and self.last is not None:
            # Nothing that was written is lost because it was written out of order.
            pull = replace(pull, at=max(pull.at, self.last))
        self.told.append(pull)
        self._settle(contents.get("id"), where)
        self._withdraw(where)

    def _failed(self, contents: Mapping[str, Any]) -> None:
        where = self.where(contents)
        self.failed.append(where)
        self._settle(contents.get("id"), where)

    def _forgotten(self, contents: Mapping[str, Any]) -> None:
        where = self.where(contents)
        if not self._settle(contents.get("id"), where) and not self._withdraw(where):
            raise InputError(
                f"choice is {self.space.label(where[0])!r}; expected one of the pending ones, or "
                "of those that failed"
            )

    def _undone(self, contents: Mapping[str, Any]) -> None:
        number = _get(contents, "event")
        kept = [pull for pull in self.told if pull.event != number]
        if len(kept) == len(self.told):
            raise InputError(f"event is {number!r}; expected that of a reward that still counts")
        self.told, self.undone = kept, self.undone + 1
        self.searched = min(self.searched, self.happened - 1)
        waiting = contents.get("id")
        if waiting is not None and waiting not in self.pending:
            where, why = self.where(contents), str(_get(contents, "why"))
            self.pending[waiting] = (where, self.choice(where, why, number=waiting))

    def _added(self, contents: Mapping[str, Any]) -> None:
        """Arms are added, or come back."""
        from windfall.study.available import enlarged

        rows = _get(contents, "features"), contents.get("names")
        self.space, back = enlarged(self.space, *rows, self.retired)
        self.retired -= {*back}
        self.added += (tuple(back),)

    def _retired(self, contents: Mapping[str, Any]) -> None:
        self.retired |= {int(self.space.rows([self.space.point(_get(contents, "arm"))])[0])}

    def _expired(self, contents: Mapping[str, Any]) -> None:
        self.pending.pop(_get(contents, "id"), None)

    def _settle(self, number: int | None, where: Where) -> bool:
        """Take a choice off the pending ones, by its id or the first at its point and context.

        What comes late for somebody's choice leaves those of others at its point alone.
        """
        if number not in self.pending and number not in self.holders:
            places = (i for i, (waiting, _) in self.pending.items() if waiting == where)
            number = next(places, None)
        return number is not None and self.pending.pop(number, None) is not None

    def _withdraw(self, where: Where) -> bool:
        """Take back that pulls of a point failed; a search that knew of them counts as older."""
        kept = [failed for failed in self.failed if failed != where]
        withdrawn, self.failed = len(self.failed) - len(kept), kept
        if withdrawn:
            self.searched = min(self.searched, self.happened - 1)
        return withdrawn > 0

    def of_worker(self, worker: str) -> list[tuple[Where, Choice]]:
        """The pending choices that somebody has, with their points and contexts, in order."""
        held = ((self.holders.get(number), waiting) for number, waiting in self.pending.items())
        return [waiting for holder, waiting in held if holder and holder.worker == worker]

    def overdue(self, clock: Callable[[], float]) -> list[int]:
        """The ids of pending choices whose lease has run out, by a clock that is far away."""
        held = ((number, self.holders.get(number)) for number in self.pending)
        leases = [(number, h.until) for number, h in held if h and h.until is not None]
        now = clock() if leases else 0.0
        return [number for number, until in leases if until <= now]

    @property
    def happened(self) -> int:
        """How often something was learned."""
        return len(self.told) + len(self.failed)

    @property
    def last(self) -> float | None:
        """When the last reward came; None before the first, and where nobody says."""
        return self.told[-1].at if self.told else None

    @property
    def next(self) -> float:
        """When the next reward comes unless it says otherwise: one unit after the last."""
        return 0.0 if self.last is None else self.last + 1.0

    @property
    def waiting(self) -> list[tuple[Where, Choice]]:
        """The pending choices with their points and contexts, in order."""
        return list(self.pending.values())

    def used(self, waiting: Sequence[Where]) -> list[Point]:
        """All points told, failed or handed out."""
        return [
            *(pull.point for pull in self.told),
            *(point for point, _ in self.failed),
            *(point for point, _ in waiting),
        ]

    @property
    def worst(self) -> float:
        """The lowest reward so far."""
        return min(pull.reward for pull in self.told)

    @property
    def doomed(self) -> list[Where]:
        """What failed and has no reward, each once: what failures say to a model."""
        told = {pull.where for pull in self.told} if self.failed else ()
        return [where for where in dict.fromkeys(self.failed) if where not in told]

    def means(self) -> dict[Point, tuple[float, int]]:
        """Mean reward and number of pulls of every distinct point, in the order first told.

        Rewards count by their precision where the noise of all of them is known, else by their
        number.
        """
        groups: dict[Point, list[Pull]] = {}
        for pull in self.told:
            groups.setdefault(pull.point, []).append(pull)
        return {
            point: (mean_of(group), sum(p.pulls for p in group)) for point, group in groups.items()
        }


def _among(contents: Mapping[str, Any]) -> Among | None:
    """Among which arms a choice was made, as its event has it; None for all there are."""
    name = next((name for name in ("among", "without") if name in contents), None)
    return None if name is None else (name, tuple(contents[name]))


def _get(contents: Mapping[str, Any], name: str) -> Any:
    if name not in contents:
        raise InputError(f"event has no {name!r}; expected what state_dict or a store had written")
    return contents[name]
