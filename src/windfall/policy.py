"""Policies as pure functions over explicit state: init, update, select.

A policy joins a model of the payoffs (a Gaussian process and how to fit it) and an acquisition (how
to value an arm, or any point of a box). ``update`` learns from a reward, ``select`` chooses and
changes nothing, so that a whole trial is a loop over the two inside one compiled program.
"""

import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int, PRNGKeyArray

from windfall.acquisition.arena import Arena, Region, as_arena
from windfall.acquisition.average import focus
from windfall.acquisition.base import Acquisition, Score, Situation
from windfall.acquisition.ei import EI
from windfall.acquisition.lw import LWUCB
from windfall.acquisition.maximise import Search
from windfall.acquisition.thompson import TS
from windfall.acquisition.ucb import GPUCB, VUCB, Mean
from windfall.acquisition.windfall import Windfall
from windfall.errors import InputError
from windfall.models.gp.fit import FitInfo
from windfall.models.gp.model import GP
from windfall.models.gp.observations import Observations, pad
from windfall.models.gp.posterior import Posterior
from windfall.runtime.arrays import Array
from windfall.space import Parameters, Space

__all__ = ["GP", "NAMES", "Arena", "Info", "Policy", "Region", "State", "as_policy", "grow"]


class State(eqx.Module):
    """All a policy knows: where it may choose, the rewards and the model fitted to them.

    Attributes:
        arena: The arms, or the region.
        key: Randomness of the fits (a JAX key; None in a template that gets one later).
        observations: The rewards so far, in reward units.
        posterior: The model, conditioned on them once ``learn`` has run.
        pulls: How many rewards there are.
        initial: How many of them come from initial arms; policy rounds count after them.
    """

    arena: Arena | Region
    key: Any
    observations: Observations
    posterior: Posterior
    pulls: Int[Array, ""]
    initial: Int[Array, ""]


class Info(eqx.Module):
    """What drove a choice, for people to read; no policy depends on it.

    Attributes:
        score: The highest score.
        mean: Predicted payoff of the choice.
        deviation: Its deviation.
        ratio: The attention paid to it.
        best: The highest predicted payoff among what was tried.
        healthy: False if the computation failed.
        search: How the maximisation ended, where there are no arms to list.
    """

    score: Float[Array, ""]
    mean: Float[Array, ""]
    deviation: Float[Array, ""]
    ratio: Float[Array, ""]
    best: Float[Array, ""]
    healthy: Bool[Array, ""]
    search: Search | None = None

    @property
    def driver(self) -> str:
        """What carried the choice past the best of what was tried: mean, uncertainty or attention.

        Its mean if that is at least as high. Else its uncertainty, or attention if the same bonus
        would not have been enough without it: (score − mean)/ratio is below the gap.
        """
        gap = self.best - self.mean
        if gap <= 1e-9 * abs(self.best):
            return "mean"
        plain = (self.score - self.mean) / max(self.ratio, 1.0)
        return "attention" if self.ratio > 1.0 and plain < gap else "uncertainty"

    def why(self, name: str) -> str:
        """One sentence for a choice, once the numbers are plain Python ones."""
        attention = f", attention {self.ratio:.3g}" if self.ratio != 1.0 else ""
        return (
            f"{name} chose it for its {self.driver}: predicted mean {self.mean:.4g}, deviation "
            f"{self.deviation:.3g}{attention}; the best tried so far is predicted {self.best:.4g}"
        )


class Policy(eqx.Module):
    """A Gaussian process and an acquisition.

    Args:
        acquisition: How to value a point.
        gp: The model of the payoffs; None for the one that goes with the acquisition.

    Example:
        >>> from windfall.policy import GP, Policy
        >>> Policy(VUCB(kappa=1.0)).acquisition
        VUCB(kappa=1.0)
    """

    acquisition: Acquisition
    gp: GP

    def __init__(self, acquisition: Any, gp: Any = None):
        """Join the two."""
        if not isinstance(acquisition, Acquisition):
            raise InputError(
                f"acquisition is {acquisition!r}; expected an object such as VUCB(kappa=1.0)"
            )
        if not isinstance(gp, GP | None):
            raise InputError(f"gp is {gp!r}; expected a GP(...) or None")
        self.acquisition = acquisition
        self.gp = acquisition.model() if gp is None else gp

    def spec_arguments(self) -> dict[str, Any]:
        """For specs."""
        return {"acquisition": self.acquisition, "model": self.gp}

    @classmethod
    def from_spec_arguments(cls, acquisition: Any, model: Any = None) -> "Policy":
        return cls(acquisition, model)

    def __repr__(self) -> str:
        """The expression that makes this policy again."""
        return f"Policy({self.acquisition!r}, {self.gp!r})"

    def init(
        self,
        key: PRNGKeyArray | None,
        space: Space | Parameters,
        *,
        capacity: int = 16,
        initial: int = 0,
    ) -> State:
        """The state before any reward, as host arrays.

        Args:
            key: Randomness of everything this study will do; None if it is set later.
            space: The arms, or a box.
            capacity: Room for distinct arms or points.
            initial: Rewards that will come from initial arms; policy rounds count after them.
        """
        arena = as_arena(self.acquisition, space)
        observations = Observations.empty(capacity, space.dimension)
        posterior = self.gp.prior(space, observations)
        return State(
            arena,
            key,
            observations,
            posterior,
            np.int32(0),
            np.int32(initial),
        )

    def observe(self, state: State, choice: Array, reward: Float[Array, ""]) -> State:
        """Record a reward without learning from it yet (several may come at once).

        A choice is the number of an arm, or a point of the unit box.
        """
        observations = state.observations.add(state.arena.point(choice), reward)
        return dataclasses.replace(state, observations=observations, pulls=state.pulls + 1)

    def learn(self, state: State) -> tuple[State, FitInfo]:
        """Fit the model to all rewards."""
        key = jax.random.fold_in(state.key, state.pulls)
        posterior, info = self.gp.learn(key, state.observations, state.posterior)
        return dataclasses.replace(state, posterior=posterior), info

    def absorb(self, state: State) -> State:
        """Bring the model up to date with one more reward."""
        key = jax.random.fold_in(state.key, state.pulls)
        posterior = self.gp.absorb(
            key, state.observations, state.posterior, state.pulls - state.initial
        )
        return dataclasses.replace(state, posterior=posterior)

    def update(self, state: State, choice: Array, reward: Float[Array, ""]) -> State:
        """Learn from one reward."""
        return self.absorb(self.observe(state, choice, reward))

    def score(self, key: PRNGKeyArray, state: State) -> Score:
        """How this round values any point."""
        observations = state.observations
        best = jnp.max(jnp.where(observations.live, observations.mean, -jnp.inf))
        situation = Situation(
            jnp.maximum(state.pulls - state.initial + 1, 1),
            best,
            state.arena.size,
            state.arena.domain,
            state.arena.anchors,
        )
        return focus(self.acquisition, key, state.posterior, situation)

    def select(
        self, key: PRNGKeyArray, state: State, avoid: Float[Array, "p d"] | None = None
    ) -> tuple[Array, Info]:
        """The arm, or the point, with the highest score.

        Args:
            key: Randomness of this choice.
            state: What is known.
            avoid: Points of the unit box that the choice must differ from, while there are others.
        """
        score = self.score(key, state)
        pick = state.arena.choose(key, score, state.observations, avoid)
        at = pick.x[None]
        mean, deviation = state.posterior.moments(at)
        ratio = score.ratio(at, pick.prior[None])[0]
        tried = state.observations
        best = jnp.max(jnp.where(tried.live, state.posterior.mean(tried.features), -jnp.inf))
        healthy = state.posterior.healthy & pick.valid
        return pick.choice, Info(
            pick.score, mean[0], deviation[0], ratio, best, healthy, pick.search
        )


def grow(state: State, capacity: int) -> State:
    """A state (or a stack of them) with room for more distinct arms, on the host."""
    posterior = state.posterior
    before = posterior.whitener.shape[-1]
    whitener = pad(pad(posterior.whitener, capacity, -1), capacity, -2)
    fresh = np.arange(before, capacity)
    whitener[..., fresh, fresh] = 1.0
    posterior = dataclasses.replace(
        posterior, observations=posterior.observations.padded(capacity), whitener=whitener
    )
    observations = state.observations.padded(capacity)
    return dataclasses.replace(state, observations=observations, posterior=posterior)


_BY_NAME = {
    "windfall": Windfall,
    "ei": EI,
    "ts": TS,
    "v-ucb": VUCB,
    "gp-ucb": GPUCB,
    "gp-ucb-scaled": GPUCB.scaled,
    "lw-ucb": LWUCB,
    "mean": Mean,
}
NAMES = tuple(_BY_NAME)
DEFAULT = "windfall"


def as_policy(policy: Any = None, **settings: Any) -> Policy:
    """A policy from a name, an acquisition or a policy; None is the default policy.

    Args:
        policy: What the user wrote.
        **settings: For a name only: settings of that acquisition, such as ``kappa``; those it does
            not have are left out.

    Example:
        >>> as_policy("v-ucb", kappa=1.0, components=2).acquisition
        VUCB(kappa=1.0)
    """
    if isinstance(policy, Policy):
        return policy
    if isinstance(policy, Acquisition):
        return Policy(policy)
    name = DEFAULT if policy is None else policy
    if not isinstance(name, str) or name not in _BY_NAME:
        raise InputError(
            f"policy is {policy!r}; expected one of {', '.join(NAMES)}, or an object such as "
            "LWUCB(kappa=1.0)"
        )
    make = _BY_NAME[name]
    fields = {f.name for f in dataclasses.fields(make)} if isinstance(make, type) else set()
    return Policy(make(**{k: v for k, v in settings.items() if k in fields}))
