"""The ask/tell object: the only mutable class of the numeric side."""

import dataclasses
from collections.abc import Iterator
from itertools import chain
from typing import Any, overload

import numpy as np

from windfall.checks import LARGEST_SEED, whole
from windfall.errors import InputError
from windfall.policy import Policy, State, as_policy
from windfall.study import programs, saving
from windfall.study.menu import Choice, Point, as_menu
from windfall.study.record import Pull, Record

__all__ = ["Bandit", "Choice"]


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
        self._menu = as_menu(arms)
        self.policy: Policy = as_policy(policy)
        self.seed = whole("seed", seed, 0, LARGEST_SEED)
        self.initial = self._menu.initial(initial)
        self._record = Record()
        self._state = programs.begin(self.policy, self._menu.space, self.seed, self.initial)
        self._learned = 0  # how many rewards and failures the model has seen

    @property
    def arms(self) -> np.ndarray | None:
        """The features of the arms; None on a space without arms."""
        return self._menu.arms

    @property
    def names(self) -> list[str]:
        """The names of the features or parameters."""
        return list(self._menu.names)

    @property
    def rewards(self) -> list[tuple[Any, float]]:
        """Every (arm, reward) told so far, in order; without arms (parameters, reward)."""
        return [(self._menu.label(pull.point), pull.reward) for pull in self._record.told]

    @property
    def pulls(self) -> np.ndarray:
        """How many rewards each arm has; without arms, each distinct point told, in order."""
        means = self._record.means()
        return np.array([means.get(p, (0.0, 0))[1] for p in self._menu.listed(means)], int)

    @property
    def pending(self) -> list[Choice]:
        """Choices handed out by ``ask(n)`` and neither told, failed nor forgotten."""
        return [choice for _, choice in self._record.pending]

    @property
    def failed(self) -> list[Choice]:
        """Choices whose pull failed, in order, less those told or forgotten since."""
        return [self._menu.choice(point, "failed") for point in self._record.failed]

    @property
    def best(self) -> Choice:
        """What has the highest mean reward so far, among what the constraints allow."""
        self._need_rewards("best")
        means = self._record.means()
        told = [point for point in self._menu.listed(means) if point in means]
        allowed = self._menu.allowed(told)
        kept = [point for point, good in zip(told, allowed, strict=True) if good] or told
        point = max(kept, key=lambda p: means[p][0])
        mean, pulls = means[point]
        return self._menu.choice(point, f"highest mean reward, {mean:.4g} over {pulls} pull(s)")

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
        waiting = list(self._record.pending)
        if n is None:
            return self._next(waiting)[1]
        before = len(waiting)
        for _ in range(whole("n", n, 1)):
            waiting.append(self._next(waiting))
        self._record.pending = waiting
        return [choice for _, choice in waiting[before:]]

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
        self._observe(Pull.of(self._menu.point(choice), reward, noise, count, deviation))

    def fail(self, choice: Any) -> None:
        """Record that a pull failed: it is believed to pay as little as the worst so far.

        A reward told for it later, or ``forget``, takes that back.
        """
        point = self._menu.point(choice)
        self._record.failed.append(point)
        self._record.settle(point)

    def forget(self, choice: Any) -> None:
        """A choice that was handed out will never be told, or failed by accident: drop it."""
        point = self._menu.point(choice)
        if not self._record.settle(point) and not self._withdraw(point):
            label = self._menu.label(point)
            raise InputError(
                f"choice is {label!r}; expected one of the pending ones, or of those that failed"
            )

    def posterior(self, features: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Mean and deviation of the payoff in reward units.

        Args:
            features: Where: features, or points of the space; by default at every arm, or at every
                point told.
        """
        self._need_rewards("posterior")
        x = self._listed() if features is None else self._menu.units(features)
        self._learn()
        return programs.moments(self._state, x)

    def explain(self) -> dict[str, np.ndarray]:
        """Per arm: mean, std, ratio (attention), acquisition and pulls; ready for a data frame.

        Without arms the rows are the distinct points told, and their parameters come first; one
        that is called like a column is marked, as in "ratio (parameter)".
        """
        self._need_rewards("explain")
        self._learn()
        points = self._menu.listed(self._record.means())
        table = programs.table(self.policy, self._state, self._listed())
        beliefs = {**table, "pulls": self.pulls}
        described = self._menu.described(points).items()
        return {f"{k} (parameter)" if k in beliefs else k: v for k, v in described} | beliefs

    def state_dict(self) -> dict[str, Any]:
        """Everything needed to go on elsewhere, as numbers and lists that JSON can hold."""
        return saving.write(
            self._menu,
            self.policy,
            self.seed,
            self.initial,
            self._record,
            self._state.posterior,
            self._learned,
        )

    def load_state_dict(self, state: Any) -> None:
        """Resume from ``state_dict``: the next choice is the one that would have come.

        The bandit must have been made with the same arms or space and policy; functions in them (a
        kernel, a prior, a constraint) are told apart by their names only. On any mismatch nothing
        changes.
        """
        saved = saving.read(state, self._menu, self.policy, self._state.posterior.hyper)
        fresh = Bandit(self._menu, self.policy, seed=saved.seed, initial=saved.initial)
        for pull in saved.record.told:
            fresh._observe(pull)
        fresh._record = saved.record
        posterior = fresh._state.posterior
        rests_on = dataclasses.replace(posterior.observations, used=np.int32(saved.behind))
        posterior = dataclasses.replace(posterior, hyper=saved.hyper, observations=rests_on)
        fresh._state = dataclasses.replace(fresh._state, posterior=posterior)
        if saved.record.told and saved.learned == saved.record.events:
            fresh._state = fresh._updated(search=False)
        fresh._learned = saved.learned
        self.__dict__.update(fresh.__dict__)

    def _next(self, waiting: list[tuple[Point, Choice]]) -> tuple[Point, Choice]:
        """The next choice when others are waiting to be told."""
        used = self._record.used(waiting)
        menu = self._menu
        if len(used) < self.initial or not self._record.told:
            point = _unused(menu.sequence(self.seed), set(used))
            place = f"initial {menu.noun} {len(used) + 1} of {self.initial}"
            what = place if len(used) < self.initial else f"no reward yet: another {menu.noun}"
            return point, menu.choice(point, f"{what}, {menu.origin}")
        self._learn()
        pending = [menu.unit(point) for point, _ in waiting]
        failed, worst = self._failures()
        decided, info = programs.choose(self.policy, self._state, pending, failed, worst)
        point = menu.decided(decided)
        why = info.why(type(self.policy.acquisition).__name__)
        return point, menu.choice(point, why, info.search)

    def _observe(self, pull: Pull) -> None:
        x = self._menu.unit(pull.point)
        self._state = programs.observe(self._state, x, pull)
        self._record.told.append(pull)
        self._record.settle(pull.point)
        self._withdraw(pull.point)

    def _withdraw(self, point: Point) -> int:
        """Take back failures, of which the model must no longer know; how many there were."""
        withdrawn = self._record.withdraw(point)
        if withdrawn:
            self._learned = max(min(self._learned, self._record.events) - 1, 0)
        return withdrawn

    def _learn(self) -> None:
        """Bring the model up to date with what happened, searching hyper-parameters if due."""
        events, every = self._record.events, self.policy.gp.refit_every
        if self._learned == events:
            return
        due = (events - self.initial) // every > (self._learned - self.initial) // every
        self._state = self._updated(search=due or not self._learned)
        self._learned = events

    def _updated(self, *, search: bool) -> State:
        return programs.learn(self.policy, self._state, *self._failures(), search=search)

    def _failures(self) -> tuple[list[np.ndarray], float]:
        """The unit points that failed, and what they are believed to pay."""
        return [self._menu.unit(point) for point in self._record.failed], self._record.worst

    def _listed(self) -> np.ndarray:
        """The unit points that tables list."""
        return np.stack([self._menu.unit(p) for p in self._menu.listed(self._record.means())])

    def _need_rewards(self, what: str) -> None:
        if not self._record.told:
            raise InputError(f"{what} is unknown before the first reward; tell one first")


def _unused(points: Iterator[Point], used: set[Point]) -> Point:
    """The first point that was not used yet, or the very first if all were."""
    first = next(points)
    return next((point for point in chain([first], points) if point not in used), first)
