"""The ask/tell object in memory."""

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

from windfall.checks import LARGEST_SEED, whole
from windfall.errors import InputError
from windfall.runtime.given import ContextLike, Contexts, Numbers, PolicyLike, SpaceLike, Whole
from windfall.space import as_space
from windfall.space.context import as_context
from windfall.space.similarity import similar_arms
from windfall.study import saving
from windfall.study.choice import Choice, Request
from windfall.study.events import Event
from windfall.study.record import Record
from windfall.study.session import Session
from windfall.study.wish import Wish

if TYPE_CHECKING:
    from windfall.policy import Policy

__all__ = ["Bandit"]


class Bandit(Session):
    """Decides what to try next: ``ask`` for a choice, ``tell`` its reward.

    Args:
        arms: What to choose from: (M, d) features of arms, an array or a data frame of numbers
            (duplicates are allowed), or a space: ``Box``, ``Parameters``.
        policy: A name, an acquisition or a ``Policy``; None for the default of the goal.
        goal: What counts: "reward" (the default), the sum of all rewards, or "best", only the best
            thing found. It stands for a policy; give one of the two.
        budget: How many pulls there will be in all; the last ones of goal "reward" then no longer
            explore. For other policies it is only kept.
        repeats: False if the same choice always pays the same: nothing is then tried again while
            there is something else. By default the policy decides.
        kernel_matrix: (M, M) similarities of arms whose features nobody knows, in place of
            ``arms``: the covariance of their payoffs, up to a factor, and so the policy's model.
        context: What is known before each choice and differs from one to the next: a list of names
            of numbers, bounds by name, a ``Box``, ``Parameters`` or a ``Context``.
        drift: "auto" if payoffs may change with time: rewards then age, or those before a change
            no longer count, as far as the rewards themselves say so.
        seed: Determines every choice.
        initial: How many choices come before the policy takes over: arms drawn at random (by
            default 3), or space-filling points (by default 2·(parameters + 1), at most 20).

    Example:
        >>> import numpy as np
        >>> import windfall as wf
        >>> bandit = wf.Bandit(np.linspace(0.0, 1.0, 21)[:, None], policy="v-ucb", seed=0)
        >>> for _ in range(10):
        ...     choice = bandit.ask()
        ...     bandit.tell(choice, -((choice.features[0] - 0.7) ** 2))
        >>> bandit.best.features.tolist()
        [0.7000000000000001]
    """

    def __init__(
        self,
        arms: SpaceLike | None = None,
        policy: PolicyLike | None = None,
        *,
        goal: str | None = None,
        budget: int | None = None,
        repeats: bool | None = None,
        kernel_matrix: Numbers | None = None,
        context: ContextLike | None = None,
        drift: str | None = None,
        seed: int = 0,
        initial: int | None = None,
    ):
        """Set up a study that lives in memory."""
        space = as_space(arms) if kernel_matrix is None else similar_arms(kernel_matrix, arms)
        seed = whole("seed", seed, 0, LARGEST_SEED)
        super().__init__(space, seed, space.initial(initial), as_context(context))
        self._wish = Wish.of(
            policy, goal, budget, repeats, similar=kernel_matrix is not None, drift=drift
        )
        self.timed = self._wish.timed
        self._events: list[Event] = []
        if not self._wish.by_name:  # else JAX may wait until there is something to decide
            self._decider  # noqa: B018  what does not fit is refused now

    @cached_property
    def policy(self) -> "Policy":
        """The policy."""
        return self._wish.policy()

    @property
    def basis(self) -> saving.Basis:
        """What the study rests on."""
        return saving.Basis(self._begun, self.policy, self.seed, self.initial, self.context)

    @overload
    def ask(
        self, n: None = None, *, context: Contexts | None = None, among: Numbers | None = None
    ) -> Choice: ...
    @overload
    def ask(
        self, n: int, *, context: Contexts | None = None, among: Numbers | None = None
    ) -> list[Choice]: ...
    def ask(
        self,
        n: Whole | None = None,
        *,
        context: Contexts | None = None,
        among: Numbers | None = None,
    ) -> Choice | list[Choice]:
        """What to try next. Asking again before telling gives the same answer.

        Args:
            n: Hand out this many different choices at once, to be told in any order. They account
                for one another and stay ``pending`` until told, failed or forgotten.
            context: What is known now, by name or in order, in a study with contexts; with n, one
                for all choices or a list with one for each.
            among: The arms that are available now: a mask, or a list of numbers or names.
        """
        record = self._record
        if n is None:
            request = self._request(1, context, among)
            if record.proposal is None or record.offer != (request.contexts[0], request.among):
                self._make(request, held=False)
            assert record.proposal is not None
            return record.proposal
        before = len(record.pending)
        self._make(self._request(whole("n", n, 1), context, among), held=True)
        return self.pending[before:]

    def happened(self) -> list[Event]:
        """Every event, less the study's creation."""
        return list(self._events)

    def state_dict(self) -> dict[str, Any]:
        """Everything needed to go on elsewhere, as numbers and lists that JSON can hold."""
        return saving.write(self.basis, self._events)

    def load_state_dict(self, state: Any) -> None:
        """Resume from ``state_dict``: the next choice is the one that would have come.

        The bandit must have been made with the same arms or space and policy; functions in them (a
        kernel, a prior, a constraint) are told apart by their names only. On any mismatch nothing
        changes.
        """
        saved = saving.read(state, self._begun, self.policy, self.context)
        basis = {"context": self.context, "seed": saved.seed, "initial": saved.initial}
        fresh = Bandit(self._begun, self.policy, **basis)
        fresh._replay(saved.events)
        if fresh._record.belief is not None:
            fresh._decider.check(fresh._record)
        vars(self).clear()
        vars(self).update(vars(fresh))

    @classmethod
    def from_state_dict(cls, state: Any) -> "Bandit":
        """A study made from nothing but what ``state_dict`` gave.

        Functions of the user's own in it (a kernel, a constraint) are imported by name.
        """
        space, policy, context = saving.rebuilt(state)
        bandit = cls(space, policy, context=context)
        bandit.load_state_dict(state)
        return bandit

    def __getstate__(self) -> dict[str, Any]:
        """What pickle and copy keep: what happened, from which the rest follows exactly."""
        kept = ("_begun", "context", "timed", "_wish", "seed", "initial", "_events")
        return {name: getattr(self, name) for name in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(
            state, _events=[], _record=Record(state["_begun"], context=state["context"])
        )
        self._replay(state["_events"])

    def _replay(self, events: list[Event]) -> None:
        for event in events:
            try:
                self._record.fold(event)
            except (TypeError, LookupError) as error:
                raise InputError(
                    f"event {event.number} cannot be read ({error}); expected what state_dict gave"
                ) from error
            self._events.append(event)

    def _now(self) -> Record:
        return self._record

    def _happen(self, kind: str, said: Callable[[], dict[str, Any]]) -> None:
        self._append(kind, said())

    def _make(self, request: Request, *, held: bool) -> None:
        """Make choices, and only then hand them out: all of them, or none."""
        for contents, search in self._made(request, held=held):
            self._append("asked", contents, search)
        self._handed_out()

    def _append(self, kind: str, contents: dict[str, Any], search: Any = None) -> None:
        event = Event(len(self._events) + 1, kind, contents)
        self._record.admit(event, search)
        self._events.append(event)
