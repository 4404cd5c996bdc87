"""Flat land: rewards that are all equal say nothing, and nothing is tried twice."""

import numpy as np
import pytest

import windfall as wf

SIDE = np.linspace(0.0, 1.0, 4)
ARMS = np.stack(np.meshgrid(SIDE, SIDE), axis=-1).reshape(-1, 2)


def asked(space, policy, reward, pulls):
    bandit = wf.Bandit(space, policy, seed=1)
    choices = []
    for _ in range(pulls):
        choice = bandit.ask()
        bandit.tell(choice, reward)
        choices.append(choice)
    return choices


@pytest.mark.parametrize("policy", [None, "v-ucb", "lw-ucb", "ei", "gp-ucb"])
def test_equal_rewards_leave_no_arm_untried(policy):
    arms = [choice.arm for choice in asked(ARMS, policy, 0.0, len(ARMS))]
    assert sorted(arms) == list(range(len(ARMS)))


def test_a_draw_tries_new_arms_while_there_are_many():
    """Half of the draws have the last untried arm below the tried ones: here half are untried."""
    arms = [choice.arm for choice in asked(ARMS, "ts", 7.5, 8)]
    assert len(set(arms)) == 8


def test_equal_rewards_spread_over_a_box():
    box = wf.Box([0.0, 0.0], [1.0, 1.0])
    points = np.array([choice.features for choice in asked(box, None, 3.0, 14)])
    apart = np.linalg.norm(points[:, None] - points, axis=-1) + np.eye(14)
    # 14 discs of diameter 0.37 are about as many as the square holds (centres inside).
    assert apart.min() > 0.15
