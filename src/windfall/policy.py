"""Policies as pure functions over explicit state: init, update, select.

A policy joins a model of the payoffs (a Gaussian process and how to fit it) and an acquisition (how
to value an arm). ``update`` learns from a reward, ``select`` chooses and changes nothing, so that a
whole trial is a loop over the two inside one compiled program.
"""

import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int, PRNGKeyArray

from windfall.acquisition.base import Acquisition, Score, Situation
from windfall.acquisition.checks import number
from windfall.acquisition.ei import EI
from windfall.acquisition.lw import LWUCB
from windfall.acquisition.thompson import TS
from windfall.acquisition.ucb import GPUCB, VUCB, Mean
from windfall.arrays import Array
from windfall.attention.ratio import Domain
from windfall.errors import InputError
from windfall.gp.evidence import Hyper
from windfall.gp.fit import Fit, FitInfo, fit
from windfall.gp.kernels import Kernel, SquaredExponential, as_kernel
from windfall.gp.observations import Observations, Scale, natural_scale, pad
from windfall.gp.posterior import Posterior, condition
from windfall.space import Space

__all__ = ["GP", "NAMES", "Arena", "Info", "Policy", "State", "as_policy", "grow"]


class GP(eqx.Module):
    """The model of the payoffs: kernel, first guess of the noise, and how to fit them.

    Attributes:
        kernel: A kernel, or a function ``k(x1, x2)``; it sees features in the unit box.
        noise: First guess of the noise variance, relative to the variance of the rewards.
        fit: How hyper-parameters are searched.
        refit_every: Fit on every so many rewards and extend the factor in between.
        ard: One lengthscale per feature.

    Example:
        >>> from windfall.gp.kernels import Matern52
        >>> GP(kernel=Matern52(lengthscale=0.2)).kernel
        Matern52(lengthscale=0.2, variance=1.0)
    """

    kernel: Kernel = eqx.field(converter=as_kernel, default=SquaredExponential(0.3))
    noise: Float[Array, ""] = eqx.field(converter=number("noise", 0.0, strict=True), default=1e-4)
    fit: Fit = eqx.field(default=Fit())
    refit_every: int = eqx.field(static=True, default=1)
    ard: bool = eqx.field(static=True, default=True)

    def __check_init__(self):
        if not isinstance(self.refit_every, int) or self.refit_every < 1:
            raise InputError(
                f"refit_every is {self.refit_every!r}; expected a whole number above 0"
            )

    def __repr__(self) -> str:
        """Everything that decides, as text that is the same in every process."""
        search = self.fit
        prior = getattr(search.prior, "__qualname__", None) or repr(search.prior)
        return (
            f"{type(self).__name__}(kernel={self.kernel!r}, noise={float(self.noise)}, "
            f"fit=Fit(restarts={search.restarts}, iterations={search.iterations}, prior={prior}), "
            f"refit_every={self.refit_every}, ard={self.ard})"
        )

    def hyper(self, dimension: int) -> Hyper:
        """Where the first search starts."""
        kernel = self.kernel.expanded(dimension) if self.ard else self.kernel
        return Hyper(kernel, self.noise)

    def scale(self, observations: Observations) -> Scale:
        """The units in which the model sees the rewards."""
        return natural_scale(observations)

    def learn(
        self, key: PRNGKeyArray, observations: Observations, previous: Posterior
    ) -> tuple[Posterior, FitInfo]:
        """Fit the hyper-parameters, from the previous ones on, and condition on the rewards."""
        scale = self.scale(observations)
        hyper, info = fit(key, scale.apply(observations), previous.hyper, self.fit)
        return condition(hyper, observations, scale), info

    def absorb(
        self,
        key: PRNGKeyArray,
        observations: Observations,
        previous: Posterior,
        round: Int[Array, ""],
    ) -> Posterior:
        """Bring the model up to date with one more reward: a fit if due, else an extension."""
        if self.refit_every == 1:
            return self.learn(key, observations, previous)[0]
        return jax.lax.cond(
            round % self.refit_every == 0,
            lambda: self.learn(key, observations, previous)[0],
            lambda: previous.extend(observations),
        )


class Arena(eqx.Module):
    """What never changes during a study: the arms and where to look at the model's mean."""

    arms: Float[Array, "m d"]
    prior: Float[Array, " m"]
    domain: Domain
    anchors: Float[Array, "a d"]


class State(eqx.Module):
    """All a policy knows: the arms, the rewards and the model fitted to them.

    Attributes:
        arena: The arms.
        key: Randomness of the fits (a JAX key; None in a template that gets one later).
        observations: The rewards so far, in reward units.
        posterior: The model, conditioned on them once ``learn`` has run.
        pulls: How many rewards there are.
        initial: How many of them come from initial arms; policy rounds count after them.
    """

    arena: Arena
    key: Any
    observations: Observations
    posterior: Posterior
    pulls: Int[Array, ""]
    initial: Int[Array, ""]


class Info(eqx.Module):
    """What drove a choice, for people to read; no policy depends on it."""

    score: Float[Array, ""]
    mean: Float[Array, ""]
    deviation: Float[Array, ""]
    ratio: Float[Array, ""]
    healthy: Bool[Array, ""]


class Policy(eqx.Module):
    """A Gaussian process and an acquisition.

    Example:
        >>> from windfall.policy import GP, Policy
        >>> Policy(VUCB(kappa=1.0)).acquisition
        VUCB(kappa=1.0)
    """

    acquisition: Acquisition
    gp: GP = eqx.field(default=GP())

    def __repr__(self) -> str:
        """The expression that makes this policy again."""
        return f"Policy({self.acquisition!r}, {self.gp!r})"

    def init(
        self, key: PRNGKeyArray | None, space: Space, *, capacity: int = 16, initial: int = 0
    ) -> State:
        """The state before any reward, as host arrays.

        Args:
            key: Randomness of everything this study will do; None if it is set later.
            space: The arms.
            capacity: Room for distinct arms.
            initial: Rewards that will come from initial arms; policy rounds count after them.
        """
        domain, prior = self.acquisition.survey(space)
        arena = Arena(space.arms, prior, domain, space.anchors())
        observations = Observations.empty(capacity, space.dimension)
        hyper = jax.tree.map(np.asarray, self.gp.hyper(space.dimension))
        posterior = _unconditioned(hyper, observations)
        return State(
            arena,
            key,
            observations,
            posterior,
            np.int32(0),
            np.int32(initial),
        )

    def observe(self, state: State, arm: Int[Array, ""], reward: Float[Array, ""]) -> State:
        """Record a reward without learning from it yet (several may come at once)."""
        observations = state.observations.add(state.arena.arms[arm], reward)
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

    def update(self, state: State, arm: Int[Array, ""], reward: Float[Array, ""]) -> State:
        """Learn from one reward."""
        return self.absorb(self.observe(state, arm, reward))

    def score(self, key: PRNGKeyArray, state: State) -> Score:
        """How this round values any point."""
        observations = state.observations
        best = jnp.max(jnp.where(observations.live, observations.mean, -jnp.inf))
        situation = Situation(
            jnp.maximum(state.pulls - state.initial + 1, 1),
            best,
            state.arena.arms.shape[0],
            state.arena.domain,
            state.arena.anchors,
        )
        return self.acquisition.focus(key, state.posterior, situation)

    def select(self, key: PRNGKeyArray, state: State) -> tuple[Int[Array, ""], Info]:
        """The arm with the highest score."""
        score = self.score(key, state)
        arena = state.arena
        values = score(arena.arms, arena.prior)
        arm = jnp.argmax(jnp.where(jnp.isnan(values), -jnp.inf, values))
        at, prior = arena.arms[arm][None], arena.prior[arm][None]
        mean, deviation = state.posterior.moments(at)
        healthy = state.posterior.healthy & ~jnp.any(jnp.isnan(values))
        ratio = score.ratio(at, prior)[0]
        return arm, Info(values[arm], mean[0], deviation[0], ratio, healthy)


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


def _unconditioned(hyper: Hyper, observations: Observations) -> Posterior:
    """The prior in the shape of a posterior, as host arrays."""
    scale = Scale(np.float64(0.0), np.float64(1.0))
    return Posterior(hyper, observations, scale, np.eye(observations.capacity), np.bool_(True))


_BY_NAME = {
    "ei": EI,
    "ts": TS,
    "v-ucb": VUCB,
    "gp-ucb": GPUCB,
    "gp-ucb-scaled": GPUCB.scaled,
    "lw-ucb": LWUCB,
    "mean": Mean,
}
NAMES = tuple(_BY_NAME)
DEFAULT = "lw-ucb"


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
