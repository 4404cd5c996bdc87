"""The ask/tell object: the only mutable class of the numeric side."""

from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from windfall import registry
from windfall.checks import LARGEST_SEED, known_name, whole
from windfall.errors import InputError
from windfall.space import Point, as_space
from windfall.study import saving
from windfall.study.choice import Choice, choice_of, plain
from windfall.study.events import Event
from windfall.study.pull import Pull
from windfall.study.record import Record

if TYPE_CHECKING:
    from windfall.policy import Policy
    from windfall.study.decide import Decider

__all__ = ["Bandit"]


class Bandit:
    """Decides what to try next: ``ask`` for a choice, ``tell`` its reward.

    Args:
        arms: What to choose from: (M, d) features of arms, an array or a data frame of numbers
            (duplicates are allowed), or a space: ``Box``, ``Parameters``.
        policy: A name, an acquisition or a ``Policy``; None for the default.
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

    def __init__(self, arms: Any, policy: Any = None, *, seed: int = 0, initial: int | None = None):
        """Set up a study that lives in memory."""
        self.space = as_space(arms)
        self.seed = whole("seed", seed, 0, LARGEST_SEED)
        self.initial = self.space.initial(initial)
        self._given = registry.DEFAULT_POLICY if policy is None else policy
        self._events: list[Event] = []
        self._record = Record(self.space)
        if isinstance(self._given, str):  # JAX may wait until there is something to decide
            known_name("policy", self._given, registry.POLICIES, saving.POLICY_OBJECT)
        else:
            self._decider  # noqa: B018  what does not fit is refused now

    @cached_property
    def policy(self) -> "Policy":
        """The policy."""
        from windfall.policy import as_policy

        return as_policy(self._given)

    @cached_property
    def _decider(self) -> "Decider":
        from windfall.study.decide import Decider

        return Decider(self.space, self.policy, self.seed, self.initial)

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
        return [(self.space.label(pull.point), pull.reward) for pull in self._record.told]

    @property
    def pulls(self) -> np.ndarray:
        """How many rewards each arm has; without arms, each distinct point told, in order."""
        means = self._record.means()
        return np.array([means.get(p, (0.0, 0))[1] for p in self.space.listed(means)], int)

    @property
    def pending(self) -> list[Choice]:
        """Choices handed out by ``ask(n)`` and neither told, failed nor forgotten."""
        return [choice for _, choice in self._record.waiting]

    @property
    def failed(self) -> list[Choice]:
        """Choices whose pull failed, in order, less those told or forgotten since."""
        return [choice_of(self.space, point, "failed") for point in self._record.failed]

    @property
    def best(self) -> Choice:
        """What has the highest mean reward so far, among what the constraints allow."""
        self._need_rewards("best")
        means = self._record.means()
        told = [point for point in self.space.listed(means) if point in means]
        allowed = self.space.allowed(told)
        kept = [point for point, good in zip(told, allowed, strict=True) if good] or told
        point = max(kept, key=lambda p: means[p][0])
        mean, pulls = means[point]
        why = f"highest mean reward, {mean:.4g} over {pulls} pull(s)"
        return choice_of(self.space, point, why)

    @overload
    def ask(self) -> Choice: ...
    @overload
    def ask(self, n: int) -> list[Choice]: ...
    def ask(self, n: Any = None) -> Choice | list[Choice]:
        """What to try next. Asking again before telling gives the same answer.

        Args:
            n: Hand out this many different choices at once, to be told in any order. They account
                for one another and stay ``pending`` until told, failed or forgotten.
        """
        if n is None:
            if self._record.proposal is None:
                self._make(1, held=False)
            assert self._record.proposal is not None
            return self._record.proposal
        before = len(self._record.pending)
        self._make(whole("n", n, 1), held=True)
        return self.pending[before:]

    def tell(
        self, choice: Any, reward: Any, noise: Any = None, count: Any = None, deviation: Any = None
    ) -> None:
        """Record a reward for a choice, or for anything else; repeats are welcome.

        Args:
            choice: A choice, the number of an arm, values by name, or the features in order.
            reward: What it paid.
            noise: The standard deviation of this reward's noise, if it is known.
            count: The reward is the mean of so many replicates.
            deviation: The sample deviation of these replicates (divided by count − 1).
        """
        pull = Pull.of(self._point(choice), reward, noise, count, deviation)
        contents = {
            "reward": pull.reward,
            "noise": pull.noise,
            "count": pull.count,
            "deviation": pull.deviation,
        }
        self._happen("told", choice, pull.point, **contents)

    def fail(self, choice: Any) -> None:
        """Record that a pull failed: it is believed to pay as little as the worst so far.

        A reward told for it, before or later, says more than that. ``forget`` takes it back.
        """
        self._happen("failed", choice, self._point(choice))

    def forget(self, choice: Any) -> None:
        """A choice that was handed out will never be told, or failed by accident: drop it."""
        self._happen("forgotten", choice, self._point(choice))

    def posterior(self, features: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Mean and deviation of the payoff in reward units. Reading never changes a later choice.

        Args:
            features: Where: features, or points of the space; by default at every arm, or at every
                point told.
        """
        self._need_rewards("posterior")
        x = self._listed() if features is None else self.space.read(plain(features))
        return self._decider.moments(self._record, x)

    def explain(self, features: Any = None) -> dict[str, np.ndarray]:
        """Per arm: mean, std, ratio (attention), acquisition and pulls; ready for a data frame.

        Without arms the rows are the distinct points told, and their parameters come first; one
        that is called like a column is marked, as in "ratio (parameter)".

        Args:
            features: Other rows, as for ``posterior``; then without pulls.
        """
        self._need_rewards("explain")
        if features is not None:
            return self._decider.table(self._record, self.space.read(plain(features)))
        points = self.space.listed(self._record.means())
        beliefs = {**self._decider.table(self._record, self._listed()), "pulls": self.pulls}
        described = self.space.columns_of(points).items()
        return {f"{k} (parameter)" if k in beliefs else k: v for k, v in described} | beliefs

    def state_dict(self) -> dict[str, Any]:
        """Everything needed to go on elsewhere, as numbers and lists that JSON can hold."""
        return saving.write(self.space, self.policy, self.seed, self.initial, self._events)

    def load_state_dict(self, state: Any) -> None:
        """Resume from ``state_dict``: the next choice is the one that would have come.

        The bandit must have been made with the same arms or space and policy; functions in them (a
        kernel, a prior, a constraint) are told apart by their names only. On any mismatch nothing
        changes.
        """
        saved = saving.read(state, self.space, self.policy)
        fresh = Bandit(self.space, self._given, seed=saved.seed, initial=saved.initial)
        fresh._replay(saved.events)
        if fresh._record.belief is not None:
            fresh._decider.check(fresh._record.belief)
        self.__dict__ = fresh.__dict__

    @classmethod
    def from_state_dict(cls, state: Any) -> "Bandit":
        """A study made from nothing but what ``state_dict`` gave.

        Functions of the user's own in it (a kernel, a constraint) are imported by name.
        """
        space, policy = saving.rebuilt(state)
        bandit = cls(space, policy)
        bandit.load_state_dict(state)
        return bandit

    def __getstate__(self) -> dict[str, Any]:
        """What pickle and copy keep: what happened, from which the rest follows exactly."""
        kept = ("space", "_given", "seed", "initial", "_events")
        return {name: getattr(self, name) for name in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _events=[], _record=Record(state["space"]))
        self._replay(state["_events"])

    def _replay(self, events: list[Event]) -> None:
        for event in events:
            self._record.fold(event)
            self._events.append(event)

    def _happen(self, kind: str, given: Any, point: Point, **contents: Any) -> None:
        """Let something happen to a point; an error leaves everything as it was."""
        number = given.id if isinstance(given, Choice) else None
        self._append(kind, {"point": _jsonable(point), "id": number, **contents})

    def _append(self, kind: str, contents: dict[str, Any], search: Any = None) -> None:
        event = Event(len(self._events) + 1, kind, contents)
        self._record.fold(event, search)
        self._events.append(event)

    def _make(self, n: int, *, held: bool) -> None:
        """Make so many choices, and only then hand them out: all of them, or none."""
        waiting = [point for point, _ in self._record.waiting]
        made: list[tuple[dict[str, Any], Any]] = []
        found = False  # hyper-parameters stand in the first choice that they were found for
        for number in range(self._record.asked, self._record.asked + n):
            used = self._record.used(waiting)
            contents: dict[str, Any] = {"id": number, "held": held}
            if len(used) < self.initial or not self._record.told:
                point, search = self.space.untried(used, self.seed), None
                contents["why"] = self._initial_reason(len(used))
            else:
                decision = self._decider.choose(self._record, waiting)
                point, search = decision.point, decision.search
                contents["why"] = decision.why
                if decision.belief is not None and not found:
                    contents |= {
                        "belief": decision.belief,
                        "searched": decision.searched,
                        "remark": decision.remark,
                    }
                    found = True
            waiting.append(point)
            made.append((contents | {"point": _jsonable(point)}, search))
        for contents, search in made:
            self._append("asked", contents, search)

    def _initial_reason(self, used: int) -> str:
        noun = self.space.noun
        place = f"initial {noun} {used + 1} of {self.initial}"
        what = place if used < self.initial else f"no reward yet: another {noun}"
        return f"{what}, {self.space.origin}"

    def _point(self, given: Any) -> Point:
        return self.space.point(plain(given))

    def _listed(self) -> np.ndarray:
        """The unit points that tables list."""
        return self.space.locate(self.space.listed(self._record.means()))

    def _need_rewards(self, what: str) -> None:
        if not self._record.told:
            raise InputError(f"{what} is unknown before the first reward; tell one first")


def _jsonable(point: Point) -> Any:
    return list(point) if isinstance(point, tuple) else point
