"""One round: what a Bandit decides is what a simulated trial decides on the same rewards."""

import dataclasses

import numpy as np
import pytest

import windfall as wf
from windfall.policy import NAMES, as_policy

#: Irregular arms and noise: no two scores are so near each other that rounding, which differs
#: between the programs of a study and those of a simulation, could turn their order.
ARMS = np.random.default_rng(8).uniform(size=(40, 2))
PROBLEM = wf.Problem(
    arms=ARMS,
    payoff=lambda x: np.sin(6.0 * x[:, 0]) + np.exp(-20.0 * np.sum((x - 0.6) ** 2, axis=1)),
    noise=0.05,
)
#: Three initial arms and twelve choices fit the smallest capacity: one set of programs each.
ROUNDS = 13
SEED = 5


def patient(name: str) -> wf.Policy:
    """A policy that searches for hyper-parameters on every fourth reward."""
    policy = as_policy(name)
    return wf.Policy(policy.acquisition, dataclasses.replace(policy.model, refit_every=4))


def linear(name: str, refit_every: int) -> wf.Policy:
    model = wf.BayesianLinear("polynomial", refit_every=refit_every)
    return wf.Policy(as_policy(name).acquisition, model)


CASES = {
    **{name: {"policy": as_policy(name)} for name in NAMES},
    **{
        f"{name}, refit every 4": {"policy": patient(name)} for name in ("windfall", "ts", "lw-ucb")
    },
    "windfall, linear": {"policy": linear("windfall", 1)},
    "ts, linear, refit every 4": {"policy": linear("ts", 4)},
    # Three initial pulls and these twelve: the last ones know that they are.
    "goal best, budget": {"goal": "best", "budget": 15},
    "goal reward, budget, nothing twice": {"goal": "reward", "budget": 15, "repeats": False},
}


@pytest.mark.parametrize("case", CASES)
def test_a_bandit_chooses_the_arms_of_the_trial_whose_rewards_it_is_told(case):
    how = CASES[case]
    trial = wf.simulate(PROBLEM, **how, rounds=ROUNDS, trials=1, seed=SEED, workers=1)
    bandit = wf.Bandit(PROBLEM.arms, **how, seed=SEED, initial=3)
    first = bandit.ask(3)
    assert [choice.arm for choice in first] == trial.initial[0].tolist()
    for choice, reward in zip(first, trial.first[0], strict=True):
        bandit.tell(choice, reward)
    chosen = []
    for reward in trial.rewards[0, 1:]:
        choice = bandit.ask()
        bandit.tell(choice, reward)
        chosen.append(choice.arm)
    assert chosen == trial.arms[0, 1:].tolist()
    assert len(set(chosen)) > 1
