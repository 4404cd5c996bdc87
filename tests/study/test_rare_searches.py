"""Searches become rarer as inputs accumulate; by what the rewards say, whoever plays the round."""

import dataclasses
import json

import numpy as np

import windfall as wf
from windfall.acquisition.candidates import NOWHERE
from windfall.models.gp.news import FEW
from windfall.policy import learn
from windfall.runtime.programs import program
from windfall.study.compiled import moments

ARMS = np.random.default_rng(0).uniform(size=(300, 2))
#: Cheap to compile; a Matérn kernel fits the payoff well enough not to be surprised all the time.
MODEL = wf.GP(wf.kernels.Matern52(0.3), fit=wf.Fit(restarts=0, iterations=20))
POLICY = wf.Policy(wf.VUCB(), MODEL)
#: Rewards that were there before: room for 160 inputs serves the whole test.
BEFORE = FEW + 18
learned = program(learn)


def payoff(x):
    return np.sin(6.0 * x[..., 0]) + x[..., 1] ** 2


def searched(bandit):
    """How many rewards the last search rested on."""
    return bandit._record.searched


def test_searches_are_rare_called_for_by_surprise_and_survive_a_resume():
    rng = np.random.default_rng(1)
    bandit = wf.Bandit(ARMS, POLICY, seed=0)
    for arm in range(BEFORE):
        bandit.tell(arm, payoff(ARMS[arm]) + 0.1 * rng.normal())
    # One more reward, unless it is quite unlikely, is none that a search is due for.
    bandit.ask()
    assert searched(bandit) == BEFORE
    bandit.tell(BEFORE, payoff(ARMS[BEFORE]) + 0.05)
    same = bandit.ask()
    assert searched(bandit) == BEFORE

    # Opened again, also between searches, it goes on alike, to the last bit.
    other = wf.Bandit(ARMS, POLICY)
    other.load_state_dict(json.loads(json.dumps(bandit.state_dict())))
    assert other.ask() == same
    state = simulated(bandit)
    np.testing.assert_array_equal(state.searched, BEFORE)
    mean, deviation = moments(state.belief, bandit.space.points)
    # Two programs round differently, by the condition of a covariance matrix (see models.learning).
    np.testing.assert_allclose(bandit.posterior(ARMS)[0], mean, atol=1e-7)
    np.testing.assert_allclose(bandit.posterior(ARMS)[1], deviation, atol=1e-5)

    # A windfall is a reason.
    for one in (bandit, other):
        one.tell(BEFORE + 1, 50.0)
    state = simulated(bandit)
    assert bandit.ask() == other.ask()
    assert searched(bandit) == searched(other) == state.searched == BEFORE + 2


def simulated(bandit):
    """What a simulated round learns from the rewards and hyper-parameters of a study."""
    decider, record = bandit._decider, bandit._record
    belief = decider._note(record).load(record.belief)
    state = dataclasses.replace(decider._state(record, belief), searched=np.int32(record.searched))
    return learned(MODEL, dataclasses.replace(state, candidates=NOWHERE, setup=None))
