"""One trial as pure functions: draw the initial arms, then rounds of learn, select, pull.

Randomness: ``fold_in(seed, trial)``, then ``fold_in(·, round)``. Initial arms and noise depend on
the trial and the round only, never on the policy, so that policies are compared on equal luck.
"""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Bool, Float, Int, Integer

from windfall.models.gp.posterior import Posterior
from windfall.policy import GP, Policy, State
from windfall.runtime.arrays import Array
from windfall.simulation.noise import Noise

__all__ = ["Trial", "begin", "learn", "play", "pull"]

_INITIAL, _NOISE, _FIT, _SELECT = range(4)


class Trial(eqx.Module):
    """A trial under way.

    Attributes:
        state: The policy's.
        arms: Entry 0 is the best initial arm, entry t the choice of round t.
        rewards: Of these arms.
        initial: The initial arms.
        healthy: False once a computation failed.
    """

    state: State
    arms: Int[Array, " rounds"]
    rewards: Float[Array, " rounds"]
    initial: Int[Array, " initial"]
    healthy: Bool[Array, ""]


def begin(
    policy: Policy,
    template: State,
    payoff: Float[Array, " m"],
    noise: Noise,
    pool: Int[Array, " p"],
    seed: Integer[Array, ""],
    trial: Integer[Array, ""],
    rounds: int,
    initial: int,
) -> Trial:
    """Draw and pull the initial arms.

    Args:
        policy: The policy.
        template: Its state before any reward.
        payoff: Noise-free payoff of every arm.
        noise: How rewards differ from payoffs.
        pool: Arms from which the initial ones are drawn.
        seed: Randomness, shared by all trials.
        trial: The number of the trial.
        rounds: T.
        initial: How many arms to draw.
    """
    key = jax.random.fold_in(jax.random.key(seed), trial)
    shuffled = jax.random.permutation(jax.random.fold_in(key, _INITIAL), pool)
    chosen = shuffled[:initial].astype(jnp.int32)
    rewards = payoff[chosen] + noise.draw(_round_key(key, _NOISE, 0), chosen)
    state = dataclasses.replace(template, key=key)
    for i in range(initial):
        state = policy.observe(state, chosen[i], rewards[i])
    best = jnp.argmax(payoff[chosen])
    return Trial(
        state,
        jnp.zeros(rounds, jnp.int32).at[0].set(chosen[best]),
        jnp.zeros(rounds).at[0].set(rewards[best]),
        chosen,
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
        posterior = learn(policy.gp, trial.state)
        return pull(policy, trial, posterior, payoff, noise, t)

    return jax.lax.fori_loop(first, stop, turn, trial)


def learn(gp: GP, state: State) -> Posterior:
    """The first half of a round: the model, up to date; the same for every policy."""
    key = _round_key(state.key, _FIT, state.pulls)
    return gp.absorb(key, state.observations, state.posterior, state.pulls - state.initial)


def pull(
    policy: Policy,
    trial: Trial,
    posterior: Posterior,
    payoff: Float[Array, " m"],
    noise: Noise,
    t: Int[Array, ""],
) -> Trial:
    """The second half of a round: choose an arm, pull it, note its reward."""
    key = trial.state.key
    state = dataclasses.replace(trial.state, posterior=posterior)
    arm, info = policy.select(_round_key(key, _SELECT, t), state)
    arm = arm.astype(jnp.int32)
    reward = payoff[arm] + noise.draw(_round_key(key, _NOISE, t), arm)
    return Trial(
        policy.observe(state, arm, reward),
        trial.arms.at[t].set(arm),
        trial.rewards.at[t].set(reward),
        trial.initial,
        trial.healthy & info.healthy,
    )


def _round_key(key, stream: int, t):
    return jax.random.fold_in(jax.random.fold_in(key, stream), t)
