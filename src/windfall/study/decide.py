"""Who decides: a policy's state, kept up to date with the record of a study.

Everything here is a function of the record. What is remembered between calls only saves work: a
study that is opened again, or asked and read in another order, decides alike.
"""

import dataclasses
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import jax
import numpy as np

from windfall.acquisition.candidates import lengthened
from windfall.errors import NumericalError
from windfall.models.base import Belief
from windfall.policy import Policy, State, due
from windfall.policy.propensity import check_known
from windfall.runtime.execution import float64
from windfall.runtime.programs import rehearsing
from windfall.space import Context, Space
from windfall.space.context import Seen
from windfall.study import compiled, rehearsal
from windfall.study.believed import Believed
from windfall.study.decision import Decision, Learned
from windfall.study.earlier import ROUND, Earlier
from windfall.study.pull import Pull, Where
from windfall.study.record import Record
from windfall.study.room import Room
from windfall.study.situations import Situations

__all__ = ["Decider", "Decision"]


class Decider(Believed):
    """Decides for a study with this space, policy, seed, number of initial choices and context."""

    def __init__(
        self,
        space: Space,
        policy: Policy,
        seed: int,
        initial: int,
        context: Context | None = None,
    ):
        check_known(policy, space)
        self.space, self.policy = space, policy
        self._study = seed, initial
        plain = context is None and not policy.model.ages
        self._situations = None if plain else Situations(space, context, policy.model.ages)
        self._room = Room(space)
        self._begun: State = self._begin()
        self._all = None if space.arms is None else np.ones(space.size, bool)
        self._doubtful = self._begun.belief.doubtful
        # Whether nothing comes between conditioning and choosing from a list.
        self._plain = bool(
            plain and self._all is not None and not self._doubtful and policy.propensities is None
        )
        self._forget()

    @float64
    def _begin(self) -> State:
        """The state before any reward, for contexts as they are seen now."""
        (seed, initial), joint = self._study, self._situations and self._situations.joint
        key = compiled.study_key(np.uint32(seed))
        sizes = {"capacity": self._room.sizes[0], "initial": initial}
        state = self.policy.begin(key, self.space, inputs=joint, **sizes)
        return dataclasses.replace(state, candidates=state.candidates.placed())

    def _forget(self) -> None:
        """Note all rewards anew: nothing that was remembered applies."""
        self._noted: list[Pull] = []
        self._slots: set[tuple[bytes, bool]] = set()
        self._rewards, self._recalled = self._begun.belief, None
        self._earlier = Earlier(self.policy.model)
        self._learned: Learned | None = None
        self._conditioned: dict[int, Belief] = {}

    def check(self, record: Record) -> None:
        """Refuse hyper-parameters that do not fit this policy's model."""
        self._look(record, record.seen)
        if record.belief is not None:
            self._recall(self._begun.belief, record)

    def choose(
        self,
        record: Record,
        waiting: Sequence[Where],
        context: tuple[float, ...] | None = None,
        seen: Seen | None = None,
        among: np.ndarray | None = None,
    ) -> Decision:
        """The next choice, which differs from those waiting and from those that failed.

        Points that wait for their reward are believed to pay what the model expects: its mean
        stays, its deviation shrinks.

        Args:
            record: What happened.
            waiting: What waits for its reward, in which contexts.
            context: What is known now.
            seen: The bounds of this and all other contexts.
            among: Which arms are available; None for all.
        """
        self._look(record, seen)
        self._prepare(record)
        learned = self._learn(record)
        others = [point for point, its in (*waiting, *learned.doomed) if its == context]
        avoid = compiled.padded(self.space.locate(others), np.nan) if others else None
        among = self._all if among is None else np.pad(among, (0, self._size - len(among)))
        if self._plain and not waiting and compiled.unconditioned(learned.belief):
            pulls = np.int32(len(record.told))
            decided, plain = compiled.decide(
                self.policy, self._begun, learned.belief, pulls, avoid, among
            )
            belief, propensity = learned.belief, plain.propensity
        else:
            belief = self._believe(learned, len(waiting))
            if waiting:
                pending = compiled.padded(self._inputs(waiting, record), 0.0)
                belief = compiled.imagine(belief, pending, np.int32(len(waiting)))
            state = self._state(record, self._situated(belief, context, record))
            ahead = np.int32(len(waiting))
            decided, info = compiled.select(self.policy, state, avoid, ahead, among)
            plain = jax.tree.map(lambda a: np.asarray(a).item(), info)
            propensity = plain.propensity
            if self.policy.propensities is not None:
                estimated = compiled.propensity(self.policy, state, decided, avoid, ahead, among)
                propensity = float(estimated)
        if not plain.healthy:
            known = self._believe(learned, len(waiting))
            raise NumericalError(known.trouble() or "a score is not a number; use another model")
        why = plain.why(type(self.policy.acquisition).__name__) + learned.remark + belief.remark()
        return Decision(
            self.space.chosen(decided),
            why,
            plain.search,
            None if learned.hyper is learned.before else learned.hyper,
            learned.searched,
            learned.remark,
            {name: getattr(plain, name) for name in ("mean", "deviation", "ratio", "best")},
            propensity,
            seen,
        )

    def _at(self, record: Record, context: tuple[float, ...] | None) -> Belief:
        self._look(record, record.seen)
        return self._situated(self._believe(self._learn(record), 0), context, record)

    def _list(self, space: Space) -> None:
        """Choose from a list that has grown."""
        points = space.locate(space.listed(()))
        listed, self._all = lengthened(self._begun.candidates.anchors, points)
        self._begun = dataclasses.replace(self._begun, candidates=listed.placed())

    def _state(self, record: Record, belief: Belief) -> State:
        return dataclasses.replace(self._begun, belief=belief, pulls=np.int32(len(record.told)))

    def _look(self, record: Record, seen: Seen | None) -> None:
        """See all arms, and contexts within these bounds; drop what was computed within others."""
        if record.space is not self.space:
            self.space = record.space
            self._list(record.space)
        if self._situations is None:
            return
        moved, others = self._situations.look(seen)
        if others:
            kept = {"candidates": self._begun.candidates, "setup": self._begun.setup}
            self._begun = dataclasses.replace(self._begin(), **kept)
            self._room.rehearsed.clear()
        if moved:
            self._forget()

    def _inputs(self, wheres: Sequence[Where], record: Record) -> np.ndarray:
        """(n, columns) points and their contexts as a model sees them, now."""
        return self._joint(wheres, [record.next] * len(wheres))

    def _joint(self, wheres: Sequence[Where], times: Sequence[float]) -> np.ndarray:
        x = self.space.locate([point for point, _ in wheres])
        return x if self._situations is None else self._situations.beside(x, wheres, times)

    def _situated(self, belief: Belief, context: Any, record: Record) -> Belief:
        """A belief as it is seen in a context, now."""
        here = self._situations
        return belief if here is None else here.at(belief, context, record.next)

    def _recall(self, belief: Belief, record: Record) -> Belief | None:
        """A belief with the hyper-parameters of the last decision; None if they do not apply."""
        if self._situations is None:
            return belief.load(record.belief)
        return self._situations.recalled(belief, record)

    def _note(self, record: Record) -> Belief:
        """The rewards of a record, with room for no more, beside what was last recalled."""
        told, last = record.told, self._learned
        if last is not None and last.hyper is record.belief and not last.doomed:
            self._rewards, self._recalled = last.belief, record.belief
        self._learned, self._conditioned = None, {}
        if self._noted != told[: len(self._noted)]:  # one was taken back
            self._forget()
        for end in (len(told) // ROUND * ROUND, len(told)):
            new = told[len(self._noted) : end]
            if not new:
                continue
            x = self._joint([pull.where for pull in new], [pull.at or 0.0 for pull in new])
            known = [pull.noise is not None for pull in new]
            self._slots |= {(row.tobytes(), k) for row, k in zip(x, known, strict=True)}
            room = self._rewards.capacity
            if room is not None and len(self._slots) > room:
                self._rewards = self._room.fitting(self._rewards, len(self._slots))
            self._rewards = compiled.note(self._rewards, x, new)
            self._noted += new
            if end % ROUND == 0:
                self._earlier.count, self._earlier.rewards = end, self._rewards
        return self._rewards

    def rehearse(self) -> None:
        """Run what the first decision needs, later one with more room; nothing comes of it."""
        size = self._room.size(max(len(self._slots), int(self._begun.initial)))
        self._go_through(self._room.size(size + 1) if size in self._room.rehearsed else size)

    def _prepare(self, record: Record) -> None:
        """Compile all that a decision with a search runs at once, if it needs new room."""
        new, seldom = record.told[len(self._noted) :], self._begun.belief.thrifty
        room = len(self._slots) + len({pull.where for pull in new}) + len(record.failed)
        large = room > max(self._room.rehearsed, default=0)
        if large and (record.searched < 0 or not seldom):
            with suppress(Exception), rehearsing():  # what is wrong the decision itself will say
                self._go_through(self._room.size(room))

    def _go_through(self, size: int) -> None:
        if size not in self._room.rehearsed:
            self._room.rehearsed.add(size)
            rehearsal.decision(self.policy, self._begun, size, self._all, self._plain)

    def _learn(self, record: Record) -> Learned:
        """The hyper-parameters that a decision rests on now: those of the last one, or new ones."""
        doomed, last = record.doomed, self._learned
        key = len(record.told), record.undone, tuple(doomed), record.searched
        if last is not None and last.record == key and last.before is record.belief:
            return last
        belief = self._note(record)
        if doomed:
            pulls = [Pull(point, record.worst) for point, _ in doomed]
            belief = self._room.fitting(belief, len(self._slots) + len(doomed))
            belief = compiled.note(belief, self._inputs(doomed, record), pulls)
        model, fit = self.policy.model, None
        searched, initial = record.searched, int(self._begun.initial)
        if record.belief is not self._recalled:  # another worker's, or from a file
            recalled = None if record.belief is None else self._recall(belief, record)
            if recalled is None and self._recalled is not None:
                self._forget()
                return self._learn(record)
            belief, searched = (belief, -1) if recalled is None else (recalled, searched)
        if belief.cumulative and searched >= 0:
            belief = self._earlier.below(belief)
        now = due(record.happened, searched, initial, model.refit_every)
        if now and self._outdated(belief, searched):
            searched = record.happened
            pulls = np.int32(len(record.told))
            belief, fit = compiled.search(model, self._begun.key, pulls, belief)
            if belief.cumulative:  # then it can say how well it fits, which is kept as well
                belief = compiled.condition(model, self._earlier.below(belief))
                self._keep(belief)
        said = record.remark
        self._learned = Learned(key, record.belief, doomed, belief, fit, searched, said)
        return self._learned

    def _outdated(self, belief: Belief, searched: int) -> bool:
        """Whether these rewards call for a search; else what was conditioned to know is kept."""
        if searched < 0 or not belief.thrifty:
            return True
        known = compiled.condition(self.policy.model, belief)
        outdated = bool(compiled.outdated(known))
        if not outdated:
            self._keep(known)
        return outdated

    def _keep(self, conditioned: Belief) -> None:
        sound = bool(conditioned.healthy) and not self._doubtful
        if not sound and (trouble := conditioned.trouble()) is not None:
            raise NumericalError(trouble)
        self._conditioned[conditioned.capacity or 0] = conditioned

    def _believe(self, learned: Learned, waiting: int) -> Belief:
        """The belief that decides, with room for choices that are waiting."""
        belief = learned.belief
        if waiting:
            more = len(learned.doomed) + waiting
            belief = self._room.fitting(belief, len(self._slots) + more)
        if (size := belief.capacity or 0) not in self._conditioned:
            self._keep(compiled.condition(self.policy.model, belief))
        return self._conditioned[size]
