"""One round: what a Bandit decides is what a simulated trial decides on the same rewards."""

import dataclasses

import numpy as np
import pytest
from policies import ALL, small

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


@pytest.mark.parametrize(
    ("model", "refit_every"),
    [(None, 1), (None, 4), (LINEAR, 4)],
    ids=["its own", "its own, refit every 4", "linear, refit every 4"],
)
@pytest.mark.parametrize("name", ALL)
def test_a_bandit_chooses_the_arms_of_the_trial_whose_rewards_it_is_told(name, model, refit_every):
    acquisition = small(name)
    model = dataclasses.replace(model or acquisition.model(), refit_every=refit_every)
    policy = wf.Policy(acquisition, model)
    trial = wf.simulate(PROBLEM, policy, rounds=ROUNDS, trials=1, seed=SEED, workers=1)
    bandit = wf.Bandit(PROBLEM.arms, policy, seed=SEED, initial=3)
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
