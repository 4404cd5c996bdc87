"""One trial as pure functions: pull the initial arms, then rounds of learn, select, pull.

Randomness: ``fold_in(seed, trial)``, then ``fold_in(·, round)``. Initial arms and noise depend on
the trial and the round only, never on the policy, so that policies are compared on equal luck.
"""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Bool, Float, Int, Integer

from windfall.policy import Policy, State, learn, study_key
from windfall.runtime.arrays import Array
from windfall.simulation.noise import Noise

__all__ = ["Trial", "begin", "play", "pull"]

#: A stream of random numbers of the simulation's own; the policy's are in ``windfall.policy``.
_NOISE = 1


class Trial(eqx.Module):
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


def begin(
    policy: Policy,
    template: State,
    payoff: Float[Array, " m"],
    noise: Noise,
    initial: Int[Array, " initial"],
    seed: Integer[Array, ""],
    trial: Integer[Array, ""],
    rounds: int,
) -> Trial:
    """Pull the initial arms.

    Args:
        policy: The policy.
        template: Its state before any reward.
        payoff: Noise-free payoff of every arm.
        noise: How rewards differ from payoffs.
        initial: The initial arms.
        seed: Randomness, shared by all trials.
        trial: The number of the trial.
        rounds: T.
    """
    state = dataclasses.replace(template, key=study_key(seed, trial))
    rewards = payoff[initial] + noise.draw(_noise_key(state, 0), initial)
    for i in range(initial.shape[0]):
        state = policy.observe(state, initial[i], rewards[i])
    best = jnp.argmax(payoff[initial])
    return Trial(
        state,
        jnp.zeros(rounds, jnp.int32).at[0].set(initial[best]),
        jnp.zeros(rounds).at[0].set(rewards[best]),
        rewards,
        jnp.asarray(True),
    )


def play(
    policy: Policy,
    trial: Trial,
    payoff: Float[Array, " m"],
    noise: Noise,
    first: Int[Array, ""],
    stop: Int[Array, ""],
) -> Trial:
    """Rounds ``first`` to ``stop − 1``; the distinct arms must fit the capacity."""

    def turn(t, trial: Trial) -> Trial:
        return pull(policy, trial, learn(policy.model, trial.state), payoff, noise, t)

    return jax.lax.fori_loop(first, stop, turn, trial)


def pull(
    policy: Policy,
    trial: Trial,
    learned: State,
    payoff: Float[Array, " m"],
    noise: Noise,
    t: Int[Array, ""],
) -> Trial:
    """The second half of a round: choose an arm, pull it, note its reward."""
    arm, info = policy.select(learned)
    arm = arm.astype(jnp.int32)
    reward = payoff[arm] + noise.draw(_noise_key(learned, t), arm)
    return Trial(
        policy.observe(learned, arm, reward),
        trial.arms.at[t].set(arm),
        trial.rewards.at[t].set(reward),
        trial.first,
        trial.healthy & info.healthy,
    )


def _noise_key(state: State, t):
    assert state.key is not None, "a trial has a key"
    return jax.random.fold_in(jax.random.fold_in(state.key, _NOISE), t)
