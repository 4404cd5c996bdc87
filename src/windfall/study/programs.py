"""The compiled programs of a study: observe, fit, condition, choose, tell what is believed.

Each is one compilation per shape. Lists of points that grow (pending, failed) come padded to a few
sizes; a study that has none runs programs without them.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from windfall.models.gp.health import check
from windfall.models.gp.observations import Observations, bucket
from windfall.policy import Info, Policy, State, grow
from windfall.runtime.execution import float64
from windfall.space import Parameters, Space
from windfall.study.record import Pull

__all__ = ["begin", "choose", "learn", "moments", "observe", "table"]

Units = Sequence[np.ndarray]


@float64
def begin(policy: Policy, space: Space | Parameters, seed: int, initial: int) -> State:
    """The state before any reward."""
    return policy.init(jax.random.key(seed), space, initial=initial)


def observe(state: State, x: np.ndarray, pull: Pull) -> State:
    """Record a reward at a unit point."""
    known = pull.noise is not None
    if not state.observations.has(x, known):
        state = _room(state, 1)
    if known:
        return _observe_known(state, x, np.float64(pull.reward), np.float64(pull.noise) ** 2)
    if pull.pulls > 1:
        numbers = pull.pulls, pull.reward, pull.squares
        return _observe_replicates(state, x, *map(np.float64, numbers))
    return _observe(state, x, np.float64(pull.reward))


def learn(policy: Policy, state: State, failed: Units, worst: float, *, search: bool) -> State:
    """The model, up to date: hyper-parameters searched if asked for, then conditioned.

    Args:
        policy: The policy.
        state: With all rewards.
        failed: Unit points that failed, believed to pay ``worst``.
        worst: The lowest reward so far.
        search: Whether the hyper-parameters are fitted, or kept.
    """
    state = _room(state, len(failed))
    believed = _believing(state, failed, worst)
    if search:
        hyper = _fit(policy, believed)
        posterior = dataclasses.replace(state.posterior, hyper=hyper)
        believed = dataclasses.replace(believed, posterior=posterior)
    posterior = _condition(policy, believed)
    check(posterior, posterior.healthy)
    return dataclasses.replace(state, posterior=posterior)


def choose(
    policy: Policy, state: State, pending: Units, failed: Units, worst: float
) -> tuple[Any, Info]:
    """The next choice, which differs from the pending ones and those that failed.

    Pending points are believed to pay what the model expects: its mean stays, its deviation
    shrinks.
    """
    state = _room(state, len(pending) + len(failed))
    state = _believing(state, failed, worst)
    if pending:
        state = _imagine(state, _padded(pending), np.int32(len(pending)))
    avoid = _padded([*pending, *failed]) if pending or failed else None
    decided, info = _select(policy, state, avoid, np.int32(len(pending)) if pending else None)
    if not info.healthy:
        check(state.posterior, info.healthy)
    return decided, jax.tree.map(lambda a: np.asarray(a).item(), info)


@float64
def moments(state: State, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and deviation in reward units."""
    mean, deviation = _moments(state, x)
    return np.asarray(mean), np.asarray(deviation)


def table(policy: Policy, state: State, x: np.ndarray) -> dict[str, np.ndarray]:
    """What is believed about some points, by column."""
    columns = map(np.asarray, _table(policy, state, x))
    return dict(zip(("mean", "std", "ratio", "acquisition"), columns, strict=True))


def _room(state: State, more: int) -> State:
    """A state with room for so many more inputs."""
    needed = int(state.observations.used) + more
    return state if needed <= state.observations.capacity else grow(state, bucket(needed))


def _padded(rows: Units) -> np.ndarray:
    """Rows as an array of one of a few lengths, filled up with NaN."""
    length = 4 ** int(np.ceil(np.log(max(len(rows), 4)) / np.log(4) - 1e-9))
    filled = np.full((length, len(rows[0])), np.nan)
    filled[: len(rows)] = rows
    return filled


def _believing(state: State, failed: Units, worst: float) -> State:
    """The state as if points that failed had paid as little as the worst."""
    if not failed:
        return state
    values = np.full(len(_padded(failed)), worst)
    observations = _believe(state.observations, _padded(failed), values, np.int32(len(failed)))
    return dataclasses.replace(state, observations=observations)


@float64
@eqx.filter_jit
def _observe(state: State, x, reward) -> State:
    return _told(state, state.observations.add(x, reward))


@float64
@eqx.filter_jit
def _observe_known(state: State, x, reward, variance) -> State:
    return _told(state, state.observations.add_known(x, reward, variance))


@float64
@eqx.filter_jit
def _observe_replicates(state: State, x, count, mean, squares) -> State:
    return _told(state, state.observations.merge(x, count, mean, squares))


def _told(state: State, observations: Observations) -> State:
    return dataclasses.replace(state, observations=observations, pulls=state.pulls + 1)


@float64
@eqx.filter_jit
def _believe(observations: Observations, x, values, count) -> Observations:
    return jax.lax.fori_loop(0, count, lambda i, o: o.add(x[i], values[i]), observations)


@float64
@eqx.filter_jit
def _imagine(state: State, x, count) -> State:
    def add(i, carry):
        observations, posterior = carry
        observations = observations.add(x[i], posterior.mean(x[i][None])[0])
        return observations, posterior.extend(observations)

    start = jax.tree.map(jnp.asarray, (state.observations, state.posterior))
    observations, posterior = jax.lax.fori_loop(0, count, add, start)
    return dataclasses.replace(state, observations=observations, posterior=posterior)


@float64
@eqx.filter_jit
def _fit(policy: Policy, state: State):
    # Not the posterior: conditioning is a program of its own, so that a study that is resumed runs
    # the same one on the same numbers and chooses the same arm even where two are nearly tied.
    return policy.learn(state)[0].posterior.hyper


@float64
@eqx.filter_jit
def _condition(policy: Policy, state: State):
    return policy.gp.condition(state.posterior.hyper, state.observations, state.posterior)


@float64
@eqx.filter_jit
def _select(policy: Policy, state: State, avoid, ahead):
    key = _select_key(state)
    key = key if ahead is None else jax.random.fold_in(key, ahead)
    return policy.select(key, state, avoid)


@float64
@eqx.filter_jit
def _table(policy: Policy, state: State, x):
    score = policy.score(_select_key(state), state)
    mean, deviation = state.posterior.moments(x)
    prior = state.arena.priors(x)
    return mean, deviation, score.ratio(x, prior), score(x, prior)


@float64
@eqx.filter_jit
def _moments(state: State, x):
    return state.posterior.moments(x)


def _select_key(state: State):
    """Another stream than the fits', one key per number of pulls."""
    return jax.random.fold_in(jax.random.fold_in(state.key, 2**31), state.pulls)
