"""How probable a policy's choices are: one that draws (Thompson sampling) is asked again and again.

With S further draws, c of which choose the same arm, its propensity is p̂ = (c + 1)/(S + 1): the
draw that chose it counts as well. So it is never 0, and its inverse, which weighs rewards in
estimates from a log, has the expectation (1 − (1 − p)^(S + 1))/p: right for every arm but those far
rarer than 1/S.
"""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int

from windfall.acquisition.candidates import Listed
from windfall.errors import InputError
from windfall.policy.policy import Policy
from windfall.policy.state import Count, State
from windfall.runtime.arrays import Array
from windfall.space import Space

__all__ = ["chances", "check_known", "propensity"]

#: A stream of random numbers beside those of ``windfall.policy.state``.
_AGAIN = 5


def check_known(policy: Policy, space: Space) -> None:
    """Refuse propensities where there are none: of uncountably many points each has 0."""
    for name in ("explore", "propensities"):
        value = getattr(policy, name)
        if value is not None and space.arms is None:
            raise InputError(f"{name} is {value} without arms; expected None, or a list of arms")


def propensity(
    policy: Policy,
    state: State,
    choice: Int[Array, ""],
    avoid: Float[Array, "p d"] | None = None,
    ahead: Count = 0,
    among: Bool[Array, " m"] | None = None,
) -> Float[Array, ""]:
    """p̂ of the arm that ``policy.select`` chose, from ``policy.propensities`` draws."""
    assert policy.propensities is not None, "nobody wants to know"
    others = _again(policy, state, policy.propensities, avoid, ahead, among)
    return (jnp.sum(others == choice) + 1.0) / (policy.propensities + 1.0)


def chances(
    policy: Policy, state: State, draws: int, among: Bool[Array, " m"] | None = None
) -> Float[Array, " m"]:
    """The probability of each arm at this moment.

    Args:
        policy: The policy; its own choice is taken for certain, unless its acquisition draws.
        state: What it knows, learned, and ``situated`` where there is a context.
        draws: How many draws frequencies are taken from, where it draws.
        among: Which arms are available; None for all of them.
    """
    plain = dataclasses.replace(policy, explore=None)
    arms = _again(plain, state, 1 if policy.acquisition.averages else draws, None, 0, among)
    shares = jnp.zeros(state.candidates.size).at[arms].add(1.0 / len(arms))
    if policy.explore is None:
        return shares
    assert isinstance(state.candidates, Listed), "only arms can be explored"
    settled = policy.settled(state)
    avoid = None if settled is None else state.candidates.new(None, settled)
    open = state.candidates.open(avoid, among)
    return (1.0 - policy.explore) * shares + policy.explore * open / jnp.sum(open)


def _again(policy: Policy, state: State, draws: int, avoid, ahead, among) -> Int[Array, " s"]:
    """What the policy would choose with other random numbers."""
    assert state.key is not None, "a template has no key yet"
    key = jax.random.fold_in(state.key, _AGAIN)

    def choose(i):
        other = dataclasses.replace(state, key=jax.random.fold_in(key, i))
        return policy.select(other, avoid, ahead, among)[0]

    return jax.lax.map(choose, np.arange(draws))
