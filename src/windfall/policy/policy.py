"""A policy: a model of the payoffs and an acquisition, and what it does in a round."""

import dataclasses
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, PRNGKeyArray

from windfall.acquisition.average import focus
from windfall.acquisition.base import Acquisition, Score, Situation
from windfall.acquisition.candidates import Listed, candidates
from windfall.acquisition.driver import Info
from windfall.checks import number, true_or_false, whole
from windfall.errors import InputError
from windfall.models.base import Model, Tried
from windfall.policy.state import SELECT, Count, State, key_of
from windfall.runtime.arrays import Array
from windfall.runtime.given import AcquisitionLike, ModelLike, Number, Truth, Whole
from windfall.runtime.modules import Module
from windfall.space import Inputs, Space

__all__ = ["Policy"]

_share = number("explore", 0.0, high=1.0, strict=True)


class Policy(Module):
    """A model of the payoffs and an acquisition.

    Args:
        acquisition: How to value a point.
        model: How payoffs are learned; None for the model that goes with the acquisition.
        repeats: Whether anything may be tried again while there is something that was not; None
            for what goes with the acquisition.
        budget: How many pulls there will be in all, initial ones included; None if nobody knows.
        explore: This share of the choices is drawn at random, every arm alike. Then the propensity
            of each choice is known exactly, and a log of them can be evaluated (``wf.evaluate``).
        propensities: For an acquisition that draws (TS): estimate the propensity of a choice from
            so many further draws, each of which costs as much as the choice.

    Example:
        >>> from windfall.acquisition.ucb import VUCB
        >>> Policy(VUCB(kappa=1.0)).acquisition
        VUCB(kappa=1.0)
    """

    acquisition: Acquisition
    model: Model
    repeats: bool = eqx.field(static=True)
    budget: Float[Array, ""] | None
    explore: Float[Array, ""] | None
    propensities: int | None = eqx.field(static=True)

    def __init__(
        self,
        acquisition: AcquisitionLike,
        model: ModelLike | None = None,
        *,
        repeats: Truth | None = None,
        budget: Whole | None = None,
        explore: Number | None = None,
        propensities: Whole | None = None,
    ):
        if not isinstance(acquisition, Acquisition):
            raise InputError(
                f"acquisition is {acquisition!r}; expected an object such as VUCB(kappa=1.0)"
            )
        if not isinstance(model, Model | None):
            raise InputError(f"model is {model!r}; expected a GP(...), another model or None")
        self.acquisition = acquisition
        self.model = acquisition.model() if model is None else model
        self.repeats = acquisition.repeats if repeats is None else true_or_false("repeats")(repeats)
        self.budget = None if budget is None else np.float64(whole("budget", budget, 1))
        self.explore = None if explore is None else _share(explore)
        self.propensities = None if propensities is None else whole("propensities", propensities, 1)
        if propensities is not None and (acquisition.averages or explore is not None):
            why = "only draws such as TS's, without explore, are estimated"
            raise InputError(f"propensities is {propensities}; expected None: {why}")

    def __repr__(self) -> str:
        """The expression that makes this policy again."""
        arguments = self.spec_arguments()
        first = [repr(arguments.pop("acquisition")), repr(arguments.pop("model"))]
        return f"Policy({', '.join([*first, *(f'{k}={v}' for k, v in arguments.items())])})"

    def spec_arguments(self) -> dict[str, Any]:
        """For specs: what was left to the acquisition stays so."""
        arguments: dict[str, Any] = {"acquisition": self.acquisition, "model": self.model}
        if self.repeats != self.acquisition.repeats:
            arguments["repeats"] = self.repeats
        others = (int, self.budget), (float, self.explore), (int, self.propensities)
        named = zip(("budget", "explore", "propensities"), others, strict=True)
        return arguments | {name: kind(v) for name, (kind, v) in named if v is not None}

    def begin(
        self,
        key: PRNGKeyArray | None,
        space: Space,
        *,
        capacity: int = 16,
        initial: int = 0,
        inputs: Inputs | None = None,
    ) -> State:
        """The state before any reward, as host arrays.

        Args:
            key: Randomness of everything this study will do; None if it is set later.
            space: The arms, or a box.
            capacity: Room for distinct arms or points.
            initial: Rewards that will come from initial arms; policy rounds count after them.
            inputs: What the model sees, if that is more than the space: ``Joint`` with a context.
        """
        joint: Any = space if inputs is None else inputs
        return State(
            candidates(space),
            self.acquisition.setup(joint if self.acquisition.contextual else space),
            key,
            self.model.begin(joint, capacity),
            np.int32(0),
            np.int32(initial),
            np.int32(-1),
        )

    def score(self, state: State, ahead: Count = 0) -> Score:
        """How this round values any point; see ``select``."""
        situation = Situation(
            jnp.maximum(state.pulls - state.initial + 1, 1),
            state.candidates.size,
            state.candidates.anchors,
            self.left(state, ahead),
        )
        key = key_of(state.key, SELECT, state.pulls, ahead)
        return focus(self.acquisition, key, state.belief, situation, state.setup)

    def select(
        self,
        state: State,
        avoid: Float[Array, "p d"] | None = None,
        ahead: Count = 0,
        among: Bool[Array, " m"] | None = None,
    ) -> tuple[Array, Info]:
        """The arm, or the point, with the highest score.

        Args:
            state: What is known, learned, and ``situated`` where there is a context.
            avoid: Points of the unit box that the choice must differ from, while there are others.
            ahead: How many choices wait for their rewards; each has randomness of its own.
            among: Which arms are available; None for all of them, or where there is no list.
        """
        return self.choose(*self.focus(state, ahead), state, avoid, among, ahead)

    def focus(self, state: State, ahead: Count = 0) -> tuple[PRNGKeyArray, Score]:
        """The first half of ``select``: randomness for a search, and the score of any point."""
        return key_of(state.key, SELECT, state.pulls, ahead), self.score(state, ahead)

    def choose(
        self,
        key: PRNGKeyArray,
        score: Score,
        state: State,
        avoid: Float[Array, "p d"] | None = None,
        among: Bool[Array, " m"] | None = None,
        ahead: Count = 0,
    ) -> tuple[Array, Info]:
        """The second half: the arm, or the point, with the highest of these scores."""
        settled = self.settled(state, ahead)
        if settled is not None:
            avoid = state.candidates.new(avoid, settled)
        best = state.candidates.choose(key, score, state.belief, avoid, among)
        if self.explore is None:
            return best
        assert isinstance(state.candidates, Listed), "a study without arms refuses to explore"
        return state.candidates.explore(key, self.explore, best, score, state.belief, avoid, among)

    def left(self, state: State, ahead: Count = 0) -> Float[Array, ""]:
        """How many pulls are left after those that wait, this one included; ∞ if nobody knows."""
        budget = jnp.inf if self.budget is None else self.budget
        return jnp.maximum(budget - state.pulls - ahead, 1.0)

    def settled(self, state: State, ahead: Count = 0) -> Tried | None:
        """What is not tried again while there is something that was not; None: anything may be.

        A score knows when nothing is known elsewhere. A draw does not: of equal rewards, from which
        there is nothing to be learned by trying again, the last arm that was not tried would lose
        every other one. In a region no point is left over, nor is one easily drawn twice.
        """
        if not self.repeats:
            return state.belief.repeatable
        if not state.candidates.listed:
            return None
        before = jnp.maximum(state.initial, state.belief.forgotten)  # a change is a beginning
        round, left = state.pulls - before + 1, self.left(state, ahead)
        early = self.acquisition.early(round, state.candidates.size, left)
        if early is None and self.acquisition.averages:
            return None
        tried = state.belief.repeatable
        idle = state.belief.seen.alike if early is None else early
        return dataclasses.replace(tried, live=tried.live & idle)
