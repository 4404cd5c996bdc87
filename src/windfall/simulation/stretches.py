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
from typing import Any

import equinox as eqx
import jax
import numpy as np

from windfall.acquisition.candidates import NOWHERE, Candidates
from windfall.models.capacity import BUCKETS, bucket
from windfall.policy import Policy, State, learn
from windfall.runtime.execution import float64, on_accelerator
from windfall.runtime.programs import Program, program
from windfall.simulation.noise import Noise
from windfall.simulation.rollout import Table, Trial, begin, play, pull

__all__ = ["Setting", "play_one", "play_together"]

#: An accelerator is mostly idle in smaller buckets than these: more would only cost compilations.
_ACCELERATOR_BUCKETS = (64, 96, 160, 512, 1024, 2048)


@dataclasses.dataclass(frozen=True)
class Setting:
    """What all trials of an experiment share.

    Attributes:
        policy: The policy.
        template: Its state before any reward.
        noise: How rewards differ from payoffs.
        seed: Determines everything.
        rounds: T.
        distinct: How many distinct inputs there can be besides one for each pull: the arms; None
            where every pull may have its own.
    """

    policy: Policy
    template: State
    noise: Noise
    seed: int
    rounds: int
    distinct: int | None

    @property
    def capacities(self) -> list[int]:
        """The buckets that a trial may need, smallest first."""
        initial = int(self.template.initial)
        most = initial + self.rounds
        most = most if self.distinct is None else min(self.distinct, most)
        buckets = _ACCELERATOR_BUCKETS if on_accelerator() else BUCKETS
        usual = [c for c in buckets if initial < c < bucket(most)]
        return [*usual, bucket(most)]


@float64
def play_one(setting: Setting, table: Table, initial: np.ndarray, number: int) -> Trial:
    """One trial, from its initial arms on."""
    trial = _begun(_begin_one, setting, table, initial, np.uint32(number))
    return _advance(_play_one, setting, trial, table, None)


@float64
def play_together(
    setting: Setting,
    tables: Table,
    initial: np.ndarray,
    numbers: np.ndarray,
    on_round: Callable[[int], Any] | None = None,
) -> Trial:
    """A stack of trials, a table of ``tables`` each, all in the same round at the same time."""
    tables = _placed(tables)
    trials = _begun(_begin_all, setting, tables, initial, numbers.astype(np.uint32))
    return _advance(_play_all, setting, _placed(trials), tables, on_round)


def _placed(tree: Any) -> Any:
    """With all arrays where they are computed with, once and not for every round."""
    return jax.tree.map(lambda a: jax.device_put(a) if isinstance(a, np.ndarray) else a, tree)


def _begun(begin, setting: Setting, table: Table, initial: np.ndarray, number: Any) -> Trial:
    """After the initial arms, which no acquisition chose: one program for all policies."""
    template = _resized(setting.template, setting.capacities[0])
    plain = _with_space(template, template.candidates, None)
    seed = np.uint32(setting.seed)
    trial = begin(plain, table, setting.noise, initial, seed, number, setting.rounds)
    state = _with_space(trial.state, template.candidates, template.setup)
    return eqx.tree_at(lambda t: t.state, trial, state)


def _resized(state: State, capacity: int) -> State:
    """A state (or a stack of them) with other room; as it is if its belief needs none."""
    if state.belief.capacity is None:
        return state
    return eqx.tree_at(lambda s: s.belief, state, state.belief.resized(capacity))


def _advance(stretch, setting: Setting, trial: Trial, table: Table, on_round) -> Trial:
    t, noise = 1, setting.noise
    capacities = setting.capacities
    while t < setting.rounds:
        capacity, stop = trial.state.belief.capacity, setting.rounds
        if capacity is not None and capacity < capacities[-1]:  # the last one holds every arm
            room = capacity - int(np.max(np.asarray(trial.state.belief.used)))
            if room == 0:
                larger = capacities[capacities.index(capacity) + 1]
                trial = eqx.tree_at(lambda t: t.state, trial, _resized(trial.state, larger))
                continue
            stop = min(setting.rounds, t + room)
        trial = stretch(setting.policy, trial, table, noise, np.int32(t), np.int32(stop))
        t = stop
        if on_round is not None:
            jax.block_until_ready(trial.rewards)
            on_round(t)
    return trial


def _lanes(trial: Trial) -> Trial:
    """Which parts of a stack of trials differ between trials: all but the space's."""
    each = jax.tree.map(lambda _: 0, trial)
    return eqx.tree_at(lambda t: t.state, each, _lanes_of(trial.state))


def _lanes_of(state: State) -> State:
    return _with_space(jax.tree.map(lambda _: 0, state), None, None)


def _with_space(state: State, candidates: Candidates | None, setup: Any) -> State:
    """A state, or a stack of them, with another space.

    Not by the constructor: a stack has other shapes than those that a state is annotated with.
    """
    parts = (candidates, setup)
    return eqx.tree_at(
        lambda s: (s.candidates, s.setup), state, parts, is_leaf=lambda part: part is None
    )


def _play_all(policy, trials, tables, noise, first, stop):
    for t in range(first, stop):
        state = trials.state
        learned = _learn_all(policy.model, _with_space(state, NOWHERE, None))
        learned = _with_space(learned, state.candidates, state.setup)
        trials = _pull_all(policy, trials, learned, tables, noise, np.int32(t))
    return trials


_begin_one = Program(begin)
_play_one = Program(play)


@program
def _begin_all(template, tables, noise, initial, seed, numbers, rounds):
    def one(table, initial, number):
        return begin(template, table, noise, initial, seed, number, rounds)

    first = jax.tree.map(lambda a: a[0], (tables, initial, numbers))
    shapes = jax.eval_shape(one, *first)
    return jax.vmap(one, out_axes=_lanes(shapes))(tables, initial, numbers)


@program
def _learn_all(model, states):
    return jax.vmap(lambda state: learn(model, state), in_axes=(_lanes_of(states),))(states)


@program
def _pull_all(policy, trials, learned, tables, noise, t):
    def one(trial, state, table):
        return pull(policy, trial, state, table, noise, t)

    lanes = _lanes(trials)
    return jax.vmap(one, in_axes=(lanes, lanes.state, 0), out_axes=lanes)(trials, learned, tables)
