"""The programs of a decision, run on made-up rewards so that they are there when it comes."""

import dataclasses

import numpy as np

from windfall.policy import Policy, State
from windfall.runtime.beside import closing
from windfall.study import compiled
from windfall.study.pull import Pull

__all__ = ["decision"]


def decision(
    policy: Policy, begun: State, size: int, among: np.ndarray | None, plain: bool
) -> None:
    """What a decision with so much room runs, in a context where there are columns for one.

    Args:
        policy: Whose decision.
        begun: The state before any reward.
        size: Room for so many distinct inputs.
        among: Which rows of a list are arms; None where there is no list.
        plain: Whether nothing comes between conditioning and choosing.
    """
    belief = begun.belief if begun.belief.capacity is None else begun.belief.resized(size)
    state = dataclasses.replace(begun, belief=belief)
    # First, since it takes longest to compile.
    compiled.search(policy.model, state.key, state.pulls, belief)
    nowhere = np.zeros((1, belief.tried.x.shape[1]))
    compiled.note(belief, nowhere, [Pull((), 0.0)])
    if closing():
        return
    if plain and compiled.unconditioned(belief):
        compiled.decide(policy, begun, belief, state.pulls, None, among)
        return
    known = compiled.condition(policy.model, belief)
    if known.thrifty:
        compiled.outdated(known)
    width = belief.tried.x.shape[1] - state.candidates.anchors.shape[1]
    known = compiled.situated(known, np.zeros(width)) if width else known
    compiled.select(policy, dataclasses.replace(state, belief=known), None, np.int32(0), among)
