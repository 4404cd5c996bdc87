"""Who decides: a policy's state, kept up to date with the record of a study.

Everything here is a function of the record. What is remembered between calls only saves work: a
study that is opened again, or asked and read in another order, decides alike.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from windfall.errors import NumericalError
from windfall.models.base import Belief
from windfall.models.capacity import BUCKETS, REGION_BUCKETS, bucket
from windfall.policy import Policy, State, due
from windfall.runtime.compilation import relieve_memory_maps
from windfall.runtime.execution import float64
from windfall.space import Point, Space
from windfall.study import compiled
from windfall.study.pull import Pull
from windfall.study.record import Record
from windfall.study.warming import beside, closing

__all__ = ["Decider", "Decision"]


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
    """

    point: Point
    why: str
    search: Any
    belief: dict[str, Any] | None
    searched: int
    remark: str
    predicted: dict[str, float]


@dataclass(frozen=True)
class _Learned:
    """A belief with the hyper-parameters that decide, not yet conditioned.

    Attributes:
        record: What it was learned from.
        doomed: The points that failed, believed to pay as little as the worst so far.
        belief: Rewards and hyper-parameters.
        found: The hyper-parameters if they are new; else None.
        searched: How many rewards and failures they rest on.
        remark: What is to be said of how they were found, if anything.
    """

    record: tuple
    doomed: list[Point]
    belief: Belief
    found: dict[str, Any] | None
    searched: int
    remark: str


class Decider:
    """Decides for a study with this space, policy, seed and number of initial choices."""

    def __init__(self, space: Space, policy: Policy, seed: int, initial: int):
        self.space, self.policy = space, policy
        self._begun: State = float64(_begin)(policy, space, seed, initial)
        self._noted: list[Pull] = []
        self._slots: set[tuple[bytes, bool]] = set()
        self._rewards: Belief = self._begun.belief
        self._learned: _Learned | None = None
        self._conditioned: dict[int, Belief] = {}
        self._sizes: set[int] = set()
        self._rehearsed: set[int] = set()

    def check(self, saved: Any) -> None:
        """Refuse hyper-parameters that do not fit this policy's model."""
        self._begun.belief.load(saved)

    def choose(self, record: Record, waiting: Sequence[Point]) -> Decision:
        """The next choice, which differs from those waiting and from those that failed.

        Points that wait for their reward are believed to pay what the model expects: its mean
        stays, its deviation shrinks.
        """
        learned = self._learn(record)
        belief = self._believe(learned, len(waiting))
        pending = self.space.locate(waiting)
        if waiting:
            belief = compiled.imagine(belief, compiled.padded(pending, 0.0), np.int32(len(waiting)))
        others = np.concatenate([pending, self.space.locate(learned.doomed)])
        avoid = compiled.padded(others, np.nan) if len(others) else None
        state = self._state(record, belief)
        decided, info = compiled.select(self.policy, state, avoid, np.int32(len(waiting)))
        if not info.healthy:
            raise NumericalError(belief.trouble() or "a score is not a number; use another model")
        plain = jax.tree.map(lambda a: np.asarray(a).item(), info)
        why = plain.why(type(self.policy.acquisition).__name__) + learned.remark + belief.remark()
        return Decision(
            self.space.chosen(decided),
            why,
            plain.search,
            learned.found,
            learned.searched,
            learned.remark,
            {name: getattr(plain, name) for name in ("mean", "deviation", "ratio", "best")},
        )

    def moments(self, record: Record, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and deviation of the payoff at unit points, in reward units."""
        mean, deviation = compiled.moments(self._believe(self._learn(record), 0), self._sized(x))
        return np.asarray(mean)[: len(x)], np.asarray(deviation)[: len(x)]

    def table(self, record: Record, x: np.ndarray) -> dict[str, np.ndarray]:
        """What is believed about unit points, by column."""
        state = self._state(record, self._believe(self._learn(record), 0))
        columns = compiled.table(self.policy, state, self._sized(x))
        names = ("mean", "std", "ratio", "acquisition")
        return {n: np.asarray(c)[: len(x)] for n, c in zip(names, columns, strict=True)}

    def _sized(self, x: np.ndarray) -> np.ndarray:
        """Points in one of a few numbers, so that no call compiles for itself; all arms as such."""
        return x if len(x) == self.space.size else compiled.padded(x, 0.5)

    def _state(self, record: Record, belief: Belief) -> State:
        return dataclasses.replace(self._begun, belief=belief, pulls=np.int32(len(record.told)))

    def _note(self, told: Sequence[Pull]) -> Belief:
        """The rewards of a record, with room for no more."""
        if self._noted != told[: len(self._noted)]:  # one was taken back
            self._noted, self._slots, self._rewards = [], set(), self._begun.belief
        new = told[len(self._noted) :]
        if new:
            x = self.space.locate([pull.point for pull in new])
            known = [pull.noise is not None for pull in new]
            self._slots |= {(row.tobytes(), k) for row, k in zip(x, known, strict=True)}
            self._rewards = compiled.note(self._room(self._rewards, 0), x, new)
            self._noted += new
        return self._rewards

    @property
    def _buckets(self) -> tuple[int, ...]:
        return REGION_BUCKETS if self.space.arms is None else BUCKETS

    def rehearse(self) -> None:
        """Run the programs that a later decision will need; nothing else comes of it.

        Those of the first decision, later those with more room than now.
        """
        size = bucket(max(len(self._slots), int(self._begun.initial)), self._buckets)
        if size in self._rehearsed:
            size = bucket(size + 1, self._buckets)
        if size not in self._rehearsed:
            self._rehearsed.add(size)
            self._rehearse_search(size)
            self._rehearse_choice(size)

    def _rehearse_search(self, size: int) -> None:
        state = self._unknowing(size)
        nowhere = np.zeros((1, self.space.dimension))
        compiled.note(state.belief, nowhere, [Pull((), 0.0)])
        compiled.search(self.policy.model, state)

    def _rehearse_choice(self, size: int) -> None:
        if closing():
            return
        state = self._unknowing(size)
        belief = compiled.condition(self.policy.model, state.belief)
        if belief.thrifty:
            compiled.outdated(belief)
        state = dataclasses.replace(state, belief=belief)
        compiled.select(self.policy, state, None, np.int32(0))

    def _unknowing(self, size: int) -> State:
        """A state with so much room and no reward."""
        belief = self._begun.belief
        belief = belief if belief.capacity is None else belief.resized(size)
        return dataclasses.replace(self._begun, belief=belief)

    def _room(self, belief: Belief, more: int) -> Belief:
        """A belief with as much room as its rewards and so many further inputs need.

        No more than that: what a study can be resumed from does not say how much room it once had.
        """
        size = bucket(max(len(self._slots) + more, 1), self._buckets)
        if belief.capacity is None or belief.capacity == size:
            return belief
        if size not in self._sizes:
            self._sizes.add(size)
            relieve_memory_maps()
        return belief.resized(size)

    def _learn(self, record: Record) -> _Learned:
        """The hyper-parameters that a decision rests on now: those of the last one, or new ones."""
        doomed = record.doomed
        happened = len(record.told), record.undone, tuple(doomed)
        key = (*happened, record.searched, id(record.belief))
        if self._learned is not None and self._learned.record == key:
            return self._learned
        self._conditioned = {}
        belief = self._note(record.told)
        if doomed:
            pulls = [Pull(point, record.worst) for point in doomed]
            belief = self._room(belief, len(doomed))
            belief = compiled.note(belief, self.space.locate(doomed), pulls)
        if record.belief is not None:
            belief = belief.load(record.belief)
        model, found, remark = self.policy.model, None, record.remark
        searched, initial = record.searched, int(self._begun.initial)
        every = model.refit_every
        if due(record.happened, searched, initial, every) and self._outdated(belief, searched):
            searched = record.happened
            size = belief.capacity or 0
            if size not in self._rehearsed:  # what comes after the search compiles beside it
                self._rehearsed.add(size)
                beside(lambda: self._rehearse_choice(size))
            belief, info = compiled.search(model, self._state(record, belief))
            found = belief.dump()
            ended = f"; its fit was ended after {int(info.evaluations)} evaluations"
            remark = "" if info.converged else ended
        self._learned = _Learned(key, doomed, belief, found, searched, remark)
        return self._learned

    def _outdated(self, belief: Belief, searched: int) -> bool:
        """Whether these rewards call for a search; else what was conditioned to know is kept."""
        if searched < 0 or not belief.thrifty:
            return True
        known = compiled.condition(self.policy.model, belief)
        if compiled.outdated(known):
            return True
        self._keep(known)
        return False

    def _keep(self, conditioned: Belief) -> None:
        trouble = conditioned.trouble()
        if trouble is not None:
            raise NumericalError(trouble)
        self._conditioned[conditioned.capacity or 0] = conditioned

    def _believe(self, learned: _Learned, waiting: int) -> Belief:
        """The belief that decides, with room for choices that are waiting."""
        belief = learned.belief
        if waiting:
            belief = self._room(belief, len(learned.doomed) + waiting)
        size = belief.capacity or 0
        if size not in self._conditioned:
            self._keep(compiled.condition(self.policy.model, belief))
        return self._conditioned[size]


def _begin(policy: Policy, space: Space, seed: int, initial: int) -> State:
    return policy.begin(compiled.study_key(np.uint32(seed)), space, initial=initial)
