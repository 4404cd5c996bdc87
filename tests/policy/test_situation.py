"""What a policy tells its acquisition of the round: which it is, and how many are left."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import windfall as wf
from windfall.acquisition.base import Acquisition, Score, Situation
from windfall.policy import observe, study_key
from windfall.runtime.execution import float64
from windfall.space import Arms

ARMS = Arms(np.linspace(0.0, 1.0, 5)[:, None])


class Seen(Score):
    situation: Situation

    def __call__(self, x):
        return x[:, 0]


class Witness(Acquisition):
    """Keeps what it is told."""

    def focus(self, key, belief, situation, setup):
        return Seen(situation)


def told(pulls: int, ahead: int = 0, **settings) -> Situation:
    policy = wf.Policy(Witness(), wf.GP(), **settings)
    state = float64(policy.begin)(study_key(0), ARMS, initial=3)
    state = dataclasses.replace(state, pulls=np.int32(pulls))
    return jax.tree.map(np.asarray, float64(policy.score)(state, ahead).situation)


@pytest.mark.parametrize(("pulls", "round"), [(0, 1), (2, 1), (3, 1), (4, 2), (10, 8)])
def test_rounds_are_counted_after_the_initial_arms(pulls, round):
    assert told(pulls).round == round
    assert told(pulls).size == 5


@pytest.mark.parametrize(
    ("budget", "pulls", "ahead", "left"),
    [(None, 7, 2, np.inf), (20, 5, 0, 15), (20, 5, 2, 13), (20, 19, 0, 1), (20, 25, 3, 1)],
)
def test_what_is_left_of_a_budget_is_less_what_waits_and_at_least_this_one(
    budget, pulls, ahead, left
):
    assert told(pulls, ahead, budget=budget).left == left


class Patient(Witness):
    """Tries nothing twice while more than three pulls are left."""

    def early(self, round, size, left):
        return left > 3


@pytest.mark.parametrize(
    ("budget", "ahead", "barred"),
    [(None, 0, True), (6, 0, True), (5, 0, False), (6, 1, False), (2, 0, False)],
)
def test_what_is_tried_again_depends_on_what_is_left_after_those_that_wait(budget, ahead, barred):
    policy = wf.Policy(Patient(), wf.GP(), budget=budget)

    @float64
    def chosen() -> int:
        state = jax.tree.map(jnp.asarray, policy.begin(study_key(0), ARMS))
        for arm in (1, 4):
            state = observe(state, jnp.int32(arm), jnp.float64(0.5))
        return int(policy.select(state, ahead=ahead)[0])

    assert chosen() == (3 if barred else 4)  # the further to the right the higher the score
