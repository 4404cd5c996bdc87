"""One round: what a Bandit decides is what a simulated trial decides on the same rewards."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from policies import ALL, FEW, small

import windfall as wf

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


LINEAR = wf.BayesianLinear("polynomial")


def with_model(name: str, model: Any, refit_every: int) -> wf.Policy:
    acquisition = small(name)
    model = dataclasses.replace(model or acquisition.model(), refit_every=refit_every)
    return wf.Policy(acquisition, model)


CASES = {
    **{name: {"policy": with_model(name, None, 1)} for name in ALL},
    # When a search is due, and what a model is made of, is no matter of the policy.
    **{f"{name}, refit every 4": {"policy": with_model(name, None, 4)} for name in FEW[:2]},
    **{f"{name}, linear": {"policy": with_model(name, LINEAR, 4)} for name in FEW},
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
