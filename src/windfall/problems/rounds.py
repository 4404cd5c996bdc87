"""Rounds that differ, checked: what each pays, what is known before it, which arms it has."""

from typing import Any

import numpy as np

from windfall.checks import shown
from windfall.errors import InputError
from windfall.problems.changing import Rounds
from windfall.runtime.given import Draw
from windfall.space.checks import finite_array
from windfall.space.context import Context, as_context

__all__ = ["check_context", "drawn", "gaps"]


def check_context(given: Any) -> Context | None:
    """The context of a problem, which has bounds: it is known what is to come."""
    context = as_context(given)
    if context is not None and context.space is None:
        raise InputError(f"context is {list(context.names)}; expected their bounds, too")
    return context


def drawn(draw: Draw, trial: int, pulls: int, size: int, context: Context | None) -> Rounds:
    """The rounds of a trial, checked."""
    if not callable(draw):
        raise InputError(
            f"rounds is {shown(draw)}; expected a function of a trial's number and its pulls"
        )
    rounds = draw(trial, pulls)
    if not isinstance(rounds, Rounds):
        raise InputError(
            f"rounds({trial}, {pulls}) is {shown(rounds, 60)}; expected Rounds of "
            "windfall.problems.changing"
        )
    payoffs = finite_array(rounds.payoffs, "payoffs")
    _check_shape("payoffs", payoffs, (pulls, size))
    contexts = available = None
    if (rounds.contexts is None) != (context is None):
        raise InputError("contexts and a context's bounds go together; expected both or none")
    if context is not None:
        contexts = finite_array(rounds.contexts, "contexts")
        _check_shape("contexts", contexts, (pulls, len(context.names)))
        contexts = np.array([context.point(row) for row in contexts])
    if rounds.available is not None:
        available = finite_array(rounds.available, "available").astype(bool)
        _check_shape("available", available, (pulls, size))
        if not available.any(axis=1).all():
            empty = int(np.argmin(available.any(axis=1)))
            raise InputError(f"available[{empty}] has no arm; expected at least one in every round")
    return Rounds(payoffs, contexts, available)


def _check_shape(name: str, array: np.ndarray, expected: tuple[int, ...]) -> None:
    if array.shape != expected:
        raise InputError(f"{name} has shape {array.shape}; expected {expected}, a row per pull")


def gaps(rounds: Rounds) -> np.ndarray:
    """(pulls, M) how far each arm is below the best available arm *of that round*.

    >>> rounds = Rounds(np.array([[1.0, 3.0], [2.0, 0.0]]), available=np.array([[1, 0], [1, 1]]))
    >>> gaps(rounds).tolist()
    [[0.0, -2.0], [0.0, 2.0]]
    """
    payoffs, available = rounds.payoffs, rounds.available
    open = payoffs if available is None else np.where(available, payoffs, -np.inf)
    return open.max(axis=1, keepdims=True) - payoffs
