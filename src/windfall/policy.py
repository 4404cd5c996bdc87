"""A round as pure functions over explicit state: observe, learn, select.

A policy joins a model of the payoffs and an acquisition (how to value an arm, or any point of a
box). This is the only implementation of a round: ``Bandit`` runs these functions one by one, and a
simulation runs them in a loop inside one compiled program.
"""

import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, PRNGKeyArray

from windfall import registry
from windfall.acquisition.average import focus
from windfall.acquisition.base import Acquisition, Score, Situation
from windfall.acquisition.candidates import Listed, candidates
from windfall.acquisition.driver import Info
from windfall.checks import known_name, number, true_or_false, whole
from windfall.errors import InputError
from windfall.models.base import Belief, FitInfo, Model, Reward
from windfall.models.situated import Situated, joined
from windfall.runtime.arrays import Array
from windfall.space import Inputs, Space
from windfall.state import FIT, SELECT, Count, State, key_of, study_key

__all__ = [
    "NAMES",
    "Info",
    "Policy",
    "State",
    "as_policy",
    "due",
    "learn",
    "search",
    "situated",
    "study_key",
]

_share = number("explore", 0.0, high=1.0, strict=True)


class Policy(eqx.Module):
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
        acquisition: Any,
        model: Any = None,
        *,
        repeats: Any = None,
        budget: Any = None,
        explore: Any = None,
        propensities: Any = None,
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
        return State(
            candidates(space),
            self.acquisition.setup(space),
            key,
            self.model.begin(space if inputs is None else inputs, capacity),
            np.int32(0),
            np.int32(initial),
            np.int32(-1),
        )

    def observe(
        self,
        state: State,
        choice: Array,
        reward: Float[Array, ""],
        context: Float[Array, " c"] | None = None,
    ) -> State:
        """Note a reward without learning from it yet (several may come at once).

        A choice is the number of an arm, or a point of the unit box.
        """
        x = state.candidates.point(choice)
        x = x if context is None else joined(x[None], context)[0]
        belief = state.belief.observe(x, Reward(reward))
        return dataclasses.replace(state, belief=belief, pulls=state.pulls + 1)

    def score(self, state: State, ahead: Count = 0) -> Score:
        """How this round values any point; see ``select``."""
        budget = jnp.inf if self.budget is None else self.budget
        situation = Situation(
            jnp.maximum(state.pulls - state.initial + 1, 1),
            state.candidates.size,
            state.candidates.anchors,
            jnp.maximum(budget - state.pulls - ahead, 1.0),
        )
        return focus(self.acquisition, key_of(state, SELECT, ahead), state.belief, situation,
                     state.setup)  # fmt: skip

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
        return self.choose(*self.focus(state, ahead), state, avoid, among)

    def focus(self, state: State, ahead: Count = 0) -> tuple[PRNGKeyArray, Score]:
        """The first half of ``select``: randomness for a search, and the score of any point."""
        return key_of(state, SELECT, ahead), self.score(state, ahead)

    def choose(
        self,
        key: PRNGKeyArray,
        score: Score,
        state: State,
        avoid: Float[Array, "p d"] | None = None,
        among: Bool[Array, " m"] | None = None,
    ) -> tuple[Array, Info]:
        """The second half: the arm, or the point, with the highest of these scores."""
        if not self.repeats:
            avoid = state.candidates.new(avoid, state.belief.repeatable)
        best = state.candidates.choose(key, score, state.belief, avoid, among)
        if self.explore is None:
            return best
        assert isinstance(state.candidates, Listed), "a study without arms refuses to explore"
        return state.candidates.explore(key, self.explore, best, score, state.belief, avoid, among)


def learn(model: Model, state: State) -> State:
    """Bring the belief up to date with all rewards: a search if one is due, then conditioning."""

    def found(state: State) -> State:
        belief, _ = search(model, state)
        return dataclasses.replace(state, belief=belief, searched=state.pulls)

    def conditioned(state: State) -> State:
        return dataclasses.replace(state, belief=model.condition(state.belief))

    if model.refit_every == 1 and not state.belief.thrifty:
        return conditioned(found(state))
    state = jax.tree.map(jnp.asarray, state)
    if not state.belief.thrifty:
        now = due(state.pulls, state.searched, state.initial, model.refit_every)
        return conditioned(jax.lax.cond(now, found, lambda state: state, state))
    state = conditioned(state)
    outdated = state.belief.outdated()
    now = due(state.pulls, state.searched, state.initial, model.refit_every, outdated)
    return jax.lax.cond(now, lambda state: conditioned(found(state)), lambda state: state, state)


def situated(state: State, context: Float[Array, " c"] | None) -> State:
    """A learned state as it is seen in a context; as it is where there is none."""
    if context is None:
        return state
    return dataclasses.replace(state, belief=Situated.at(state.belief, context))


def search(model: Model, state: State) -> tuple[Belief, FitInfo]:
    """The belief with hyper-parameters found anew, and how the search ended."""
    return model.search(key_of(state, FIT), state.belief)


def due(
    pulls: Count,
    searched: Count,
    initial: Count,
    every: int,
    outdated: bool | Bool[Array, ""] = True,
) -> bool | Bool[Array, ""]:
    """Whether a search is due: at the first choice, then on every so many rewards.

    Where a search is dear, only if the last one is ``outdated``, too.

    >>> [t for t in range(3, 12) if due(t, t - 1, 3, 4)]
    [3, 7, 11]
    """
    another = (pulls - initial) // every > (searched - initial) // every
    return (searched < 0) | (another & outdated)


NAMES = tuple(registry.POLICIES)


def as_policy(
    policy: Any = None,
    *,
    goal: str | None = None,
    model: Any = None,
    repeats: Any = None,
    budget: Any = None,
    **settings: Any,
) -> Policy:
    """A policy from a name, an acquisition or a policy; None is the default policy of the goal.

    Args:
        policy: What the user wrote.
        goal: What counts, if no policy is named: "reward", the sum, or "best", the best found.
        model: See ``Policy``; None leaves it to the policy.
        repeats: The same.
        budget: The same.
        **settings: For a name only: settings of that acquisition, such as ``kappa``; those that
            belong to another acquisition are left out.

    Example:
        >>> as_policy("v-ucb", kappa=1.0, components=2).acquisition
        VUCB(kappa=1.0)
        >>> as_policy(goal="best").acquisition
        Prospect()
    """
    chosen = _joined(registry.wanted(policy, goal), settings)
    given = {"model": model, "repeats": repeats, "budget": budget}
    changes = {name: value for name, value in given.items() if value is not None}
    return Policy(**chosen.spec_arguments() | changes) if changes else chosen


def _joined(policy: Any, settings: dict[str, Any]) -> Policy:
    if isinstance(policy, Policy):
        return policy
    if isinstance(policy, Acquisition):
        return Policy(policy)
    known_name("policy", policy, NAMES, "an object such as LWUCB(kappa=1.0), or")
    makers = {name: registry.find(make) for name, make in registry.POLICIES.items()}
    known = sorted({field for make in makers.values() for field in _settings(make)})
    for setting in settings:
        known_name("setting", setting, known)
    make = makers[policy]
    return Policy(make(**{k: v for k, v in settings.items() if k in _settings(make)}))


def _settings(make: Any) -> set[str]:
    """The settings that a constructor takes; a named variant has none."""
    return {f.name for f in dataclasses.fields(make)} if isinstance(make, type) else set()
