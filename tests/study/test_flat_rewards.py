"""Flat land: rewards that are all equal say nothing, and nothing is tried twice."""

import dataclasses

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

import windfall as wf
from windfall.policy import as_policy, learn, observe, study_key
from windfall.runtime.execution import float64
from windfall.study import compiled

SIDE = np.linspace(0.0, 1.0, 4)
ARMS = np.stack(np.meshgrid(SIDE, SIDE), axis=-1).reshape(-1, 2)


def asked(policy, reward, pulls):
    bandit = wf.Bandit(ARMS, policy, seed=1)
    arms = []
    for _ in range(pulls):
        choice = bandit.ask()
        bandit.tell(choice, reward)
        arms.append(choice.arm)
    return arms


@pytest.mark.parametrize("policy", [None, "v-ucb", "lw-ucb", "ei", "gp-ucb"])
def test_equal_rewards_leave_no_arm_untried(policy):
    assert sorted(asked(policy, 0.0, len(ARMS))) == list(range(len(ARMS)))


def test_a_draw_tries_new_arms_while_there_are_many():
    """Half of the draws have the last untried arm below the tried ones: here half are untried."""
    assert len(set(asked("ts", 7.5, 8))) == 8


def test_equal_rewards_spread_over_a_box():
    """A study's rounds, with room for all points from the start: one program instead of four."""
    box, pulls, first = wf.Box([0.0, 0.0], [1.0, 1.0]), 50, 6
    policy = as_policy()

    @float64
    @eqx.filter_jit
    def told(state, point):
        return observe(state, point, jnp.asarray(3.0))

    @float64
    @eqx.filter_jit
    def learned(state):
        return learn(policy.model, state)

    points = [choice.features for choice in wf.Bandit(box, seed=1, initial=first).ask(first)]
    state = float64(policy.begin)(study_key(1), box, capacity=64, initial=first)
    square = state.candidates  # which a region keeps on the host
    for i in range(pulls):
        if i >= first:
            ready = dataclasses.replace(learned(state), candidates=square)
            points.append(compiled.select(policy, ready, None, np.int32(0))[0])
        state = told(state, points[i])
    apart = np.linalg.norm(np.array(points)[:, None] - points, axis=-1) + np.eye(pulls)
    # Of 50 points in a square no two can be further apart than 0.166; of 50 drawn at random two
    # are 0.01 from each other.
    assert apart.min() > 0.07
