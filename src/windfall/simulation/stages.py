"""Whole trials, bucket by bucket: compiled loops that the host moves to larger capacities.

A stretch of rounds runs as long as its distinct arms must fit the capacity; then the host makes
room.

- One trial (CPU): the stretch is one compiled loop.
- A stack of trials (accelerator): vmapped, and each round is two programs, learn and pull. The
  first knows neither the policy nor the arms, so that one compilation serves every experiment with
  trials of the same shape; a launch more per round costs nothing beside it.
"""

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any

import equinox as eqx
import jax
import numpy as np

from windfall.models.gp.observations import BUCKETS, bucket
from windfall.policy import Policy, State, grow
from windfall.runtime.execution import first_call_alone, float64, on_accelerator
from windfall.simulation.noise import Noise
from windfall.simulation.rollout import Trial, begin, learn, play, pull

__all__ = ["Setting", "play_one", "play_together"]

#: An accelerator is mostly idle in smaller buckets than these: more would only cost compilations.
_ACCELERATOR_BUCKETS = (64, 96, 160, 512, 2048)
#: Trying out several algorithms for every matrix product takes longer than it ever gives back here.
_OPTIONS = {"xla_gpu_autotune_level": 0}


@dataclasses.dataclass(frozen=True)
class Setting:
    """What all trials of an experiment share."""

    policy: Policy
    template: State
    noise: Noise
    pool: np.ndarray
    seed: int
    rounds: int
    initial: int

    @property
    def capacities(self) -> list[int]:
        """The buckets that a trial may need, smallest first."""
        most = min(self.template.arena.size, self.initial + self.rounds)
        buckets = _ACCELERATOR_BUCKETS if on_accelerator() else BUCKETS
        usual = [c for c in buckets if self.initial < c < bucket(most)]
        return [*usual, bucket(most)]


@float64
def play_one(setting: Setting, payoff: np.ndarray, number: int) -> Trial:
    """One trial."""
    trial = _begin_one(*_arguments(setting, payoff, np.uint32(number)))
    return _advance(_play_one, setting, trial, payoff, None)


@float64
def play_together(
    setting: Setting,
    payoffs: np.ndarray,
    numbers: np.ndarray,
    on_round: Callable[[int], Any] | None = None,
) -> Trial:
    """A stack of trials, one row of ``payoffs`` each, all in the same round at the same time."""
    trials = _begin_all(*_arguments(setting, payoffs, numbers.astype(np.uint32)))
    return _advance(_play_all, setting, trials, payoffs, on_round)


def _arguments(setting: Setting, payoff: np.ndarray, number: Any) -> tuple:
    s = setting
    template = grow(s.template, s.capacities[0])
    seed = np.uint32(s.seed)
    return s.policy, template, payoff, s.noise, s.pool, seed, number, s.rounds, s.initial


def _advance(stretch, setting: Setting, trial: Trial, payoff: np.ndarray, on_round) -> Trial:
    t, noise = 1, setting.noise
    capacities = setting.capacities
    while t < setting.rounds:
        capacity = trial.state.observations.count.shape[-1]
        room = capacity - int(np.max(np.asarray(trial.state.observations.used)))
        if room == 0 and capacity < capacities[-1]:
            larger = capacities[capacities.index(capacity) + 1]
            trial = dataclasses.replace(trial, state=grow(trial.state, larger))
            continue
        # The last bucket holds every arm that there is.
        stop = setting.rounds if capacity == capacities[-1] else min(setting.rounds, t + room)
        trial = stretch(setting.policy, trial, payoff, noise, np.int32(t), np.int32(stop))
        t = stop
        if on_round is not None:
            jax.block_until_ready(trial.rewards)
            on_round(t)
    return trial


def _lanes(trial: Trial) -> Trial:
    """Which parts of a stack of trials differ between trials: all but the arms."""
    each = jax.tree.map(lambda _: 0, trial)
    return eqx.tree_at(lambda t: t.state, each, _without_arms(each.state))


def _without_arms(state: State) -> State:
    return eqx.tree_at(lambda s: s.arena, state, None)


def _play_all(policy, trials, payoffs, noise, first, stop):
    for t in range(first, stop):
        posterior = _learn_all(policy.gp, _without_arms(trials.state))
        trials = _pull_all(policy, trials, posterior, payoffs, noise, np.int32(t))
    return trials


_begin_one = eqx.filter_jit(begin)
_play_one = eqx.filter_jit(play)
# JAX's own options of jit, which equinox passes on without declaring them.
_jit_all: Any = partial(eqx.filter_jit, compiler_options=_OPTIONS)  # pyright: ignore[reportCallIssue]


@first_call_alone
@_jit_all
def _begin_all(policy, template, payoffs, noise, pool, seed, numbers, rounds, initial):
    def one(payoff, number):
        return begin(policy, template, payoff, noise, pool, seed, number, rounds, initial)

    shapes = jax.eval_shape(one, payoffs[0], numbers[0])
    return jax.vmap(one, out_axes=_lanes(shapes))(payoffs, numbers)


@first_call_alone
@_jit_all
def _learn_all(gp, states):
    return jax.vmap(lambda state: learn(gp, state))(states)


@first_call_alone
@_jit_all
def _pull_all(policy, trials, posteriors, payoffs, noise, t):
    def one(trial, posterior, payoff):
        return pull(policy, trial, posterior, payoff, noise, t)

    lanes = _lanes(trials)
    return jax.vmap(one, in_axes=(lanes, 0, 0), out_axes=lanes)(trials, posteriors, payoffs)
