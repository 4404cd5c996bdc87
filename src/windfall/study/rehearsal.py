"""The programs of a decision, run on made-up rewards so that they are there when it comes."""

import dataclasses

import numpy as np

from windfall.policy import Policy, State
from windfall.study import compiled
from windfall.study.pull import Pull
from windfall.study.warming import closing

__all__ = ["choice", "search"]


def search(policy: Policy, begun: State, size: int) -> None:
    """What comes before a choice, with so much room."""
    state = _unknowing(begun, size)
    nowhere = np.zeros((1, state.belief.tried.x.shape[1]))
    compiled.note(state.belief, nowhere, [Pull((), 0.0)])
    compiled.search(policy.model, state)


def choice(policy: Policy, begun: State, size: int, among: np.ndarray | None) -> None:
    """The choice itself, in a context where there are columns beside those of the space."""
    if closing():
        return
    state = _unknowing(begun, size)
    belief = compiled.condition(policy.model, state.belief)
    if belief.thrifty:
        compiled.outdated(belief)
    width = state.belief.tried.x.shape[1] - state.candidates.anchors.shape[1]
    belief = compiled.situated(belief, np.zeros(width)) if width else belief
    compiled.select(policy, dataclasses.replace(state, belief=belief), None, np.int32(0), among)


def _unknowing(begun: State, size: int) -> State:
    """A state with so much room and no reward."""
    belief = begun.belief
    belief = belief if belief.capacity is None else belief.resized(size)
    return dataclasses.replace(begun, belief=belief)
