"""One trial as pure functions: pull the initial arms, then rounds of learn, select, pull.

Randomness: ``fold_in(seed, trial)``, then ``fold_in(·, round)``. Initial arms and noise depend on
the trial and the round only, never on the policy, so that policies are compared on equal luck.
"""

import dataclasses

import jax
import jax.numpy as jnp
from jaxtyping import Bool, Float, Int, Integer

from windfall.policy import Policy, State, learn, observe, situated, study_key
from windfall.policy.state import Count
from windfall.runtime.arrays import Array
from windfall.runtime.modules import Module
from windfall.simulation.noise import Noise

__all__ = ["Table", "Trial", "begin", "play", "pull"]

#: A stream of random numbers of the simulation's own; the policy's are in ``windfall.policy``.
_NOISE = 1


class Trial(Module):
    """A trial under way.

    Attributes:
        state: The policy's.
        arms: Entry 0 is the best initial arm, entry t the choice of round t.
        rewards: Of these arms.
        first: The rewards of the initial arms.
        healthy: False once a computation failed.
    """

    state: State
    arms: Int[Array, " rounds"]
    rewards: Float[Array, " rounds"]
    first: Float[Array, " initial"]
    healthy: Bool[Array, ""]


class Table(Module):
    """What a trial pays and shows, pull by pull.

    Attributes:
        payoffs: Noise-free payoff of every arm; a row for each pull where rounds differ.
        contexts: Columns of each pull's context; None where there are no contexts.
        available: Which arms each pull has; None where it has all of them.
    """

    payoffs: Float[Array, " m"] | Float[Array, "p m"]
    contexts: Float[Array, "p c"] | None = None
    available: Bool[Array, "p m"] | None = None

    def at(self, pull: Count) -> tuple[Array, Array | None, Array | None]:
        """Payoffs, context and available arms of a pull."""
        payoffs = self.payoffs[pull] if self.payoffs.ndim > 1 else self.payoffs
        context = None if self.contexts is None else self.contexts[pull]
        return payoffs, context, None if self.available is None else self.available[pull]


def begin(
    template: State,
    table: Table,
    noise: Noise,
    initial: Int[Array, " initial"],
    seed: Integer[Array, ""],
    trial: Integer[Array, ""],
    rounds: int,
) -> Trial:
    """Pull the initial arms.

    Args:
        template: The policy's state before any reward.
        table: What arms pay, and what is known.
        noise: How rewards differ from payoffs.
        initial: The initial arms.
        seed: Randomness, shared by all trials.
        trial: The number of the trial.
        rounds: T.
    """
    state = dataclasses.replace(template, key=study_key(seed, trial))
    table = jax.tree.map(jnp.asarray, table)
    luck = noise.draw(_noise_key(state, 0), initial)
    rewards, gaps = [], []
    for i in range(initial.shape[0]):
        payoff, context, available = table.at(i)
        rewards.append(payoff[initial[i]] + luck[i])
        gaps.append(jnp.max(payoff, where=available, initial=-jnp.inf) - payoff[initial[i]])
        state = observe(state, initial[i], rewards[i], context)
    best = jnp.argmin(jnp.stack(gaps))
    first = jnp.stack(rewards)
    return Trial(
        state,
        jnp.zeros(rounds, jnp.int32).at[0].set(initial[best]),
        jnp.zeros(rounds).at[0].set(first[best]),
        first,
        jnp.asarray(True),
    )


def play(
    policy: Policy,
    trial: Trial,
    table: Table,
    noise: Noise,
    first: Int[Array, ""],
    stop: Int[Array, ""],
) -> Trial:
    """Rounds ``first`` to ``stop − 1``; the distinct inputs must fit the capacity."""
    table = jax.tree.map(jnp.asarray, table)

    def turn(t, trial: Trial) -> Trial:
        return pull(policy, trial, learn(policy.model, trial.state), table, noise, t)

    return jax.lax.fori_loop(first, stop, turn, trial)


def pull(
    policy: Policy,
    trial: Trial,
    learned: State,
    table: Table,
    noise: Noise,
    t: Int[Array, ""],
) -> Trial:
    """The second half of a round: choose an arm, pull it, note its reward."""
    payoff, context, available = table.at(trial.first.shape[0] + t - 1)
    arm, info = policy.select(situated(learned, context), among=available)
    arm = arm.astype(jnp.int32)
    reward = payoff[arm] + noise.draw(_noise_key(learned, t), arm)
    return Trial(
        observe(learned, arm, reward, context),
        trial.arms.at[t].set(arm),
        trial.rewards.at[t].set(reward),
        trial.first,
        trial.healthy & info.healthy,
    )


def _noise_key(state: State, t):
    assert state.key is not None, "a trial has a key"
    return jax.random.fold_in(jax.random.fold_in(state.key, _NOISE), t)
