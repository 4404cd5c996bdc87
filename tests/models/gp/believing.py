"""A study that believes what a test wants it to believe."""

import dataclasses

import equinox as eqx
import jax
import numpy as np

from windfall.models.base import FitInfo
from windfall.models.gp.belief import GPBelief
from windfall.models.gp.evidence import Hyper
from windfall.models.gp.model import GP
from windfall.models.gp.observations import Observations, Scale
from windfall.models.gp.posterior import condition
from windfall.policy import Policy, State
from windfall.space import Space


def believing(hyper: Hyper, observations: Observations, scale: Scale | None = None) -> GPBelief:
    """The posterior of these hyper-parameters, with what it rests on."""
    return GPBelief(observations, condition(hyper, observations, scale), observations.used)


def studying(
    policy: Policy, space: Space, hyper: Hyper, observations: Observations, seed: int = 0
) -> State:
    """The state of a study with this belief."""
    state = policy.begin(jax.random.key(seed), space, capacity=observations.capacity)
    belief = believing(hyper, observations)
    return dataclasses.replace(state, belief=belief, pulls=np.int32(observations.used))


def learned(gp: GP, space: Space, observations: Observations) -> tuple[GPBelief, FitInfo]:
    """What a model makes of these rewards, and how its search ended."""

    @eqx.filter_jit
    def run(belief):
        found, info = gp.search(jax.random.key(0), belief)
        return gp.condition(found), info

    begun = gp.begin(space, observations.capacity)
    return run(dataclasses.replace(begun, rewards=observations))
