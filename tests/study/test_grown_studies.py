"""Studies whose exact model is conditioned upon an earlier one: one round for all, and resumed."""

import json

import numpy as np
import pytest

import windfall as wf
from windfall.models.gp import model
from windfall.models.gp.grown import Grown
from windfall.models.gp.room import Sparsity
from windfall.models.gp.sparse import Sparse
from windfall.problems.rounds import Rounds
from windfall.study import compiled, decide

CONTEXT = wf.Context({"x": (0.0, 1.0), "y": (0.0, 1.0)})
ARMS = np.eye(3)
KERNEL = {"apiece": wf.kernels.Matern52(0.3)}


def draw(trial: int, pulls: int) -> Rounds:
    contexts = np.random.default_rng([8, trial]).uniform(size=(pulls, 2))
    return Rounds(np.sin(6.0 * contexts[:, :1] + np.arange(3) * 2.0 * contexts[:, 1:]), contexts)


PROBLEM = wf.Problem(arms=ARMS, rounds=draw, context=CONTEXT, noise=0.05)


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Few inputs are many, and four rewards a round number."""
    monkeypatch.setattr(model, "USUAL", Sparsity(6, 5, grown=16))
    monkeypatch.setattr(decide, "ROUND", 4)


def policy(**settings) -> wf.Policy:
    return wf.Policy(wf.VUCB(), wf.GP(**KERNEL, **settings))


def again(bandit: wf.Bandit) -> wf.Bandit:
    return wf.Bandit.from_state_dict(json.loads(json.dumps(bandit.state_dict())))


def test_a_bandit_a_simulation_and_a_study_opened_again_choose_alike():
    fitted = policy(fit=wf.Fit(restarts=0, iterations=10))
    trial = wf.simulate(PROBLEM, fitted, rounds=14, trials=1, seed=5, workers=1)
    rounds = draw(0, 18)
    bandit = wf.Bandit(ARMS, fitted, seed=5, initial=3, context=CONTEXT)
    for i in range(3):
        bandit.tell(bandit.ask(context=rounds.contexts[i]), trial.first[0, i])
    for i in range(1, 14):
        context = rounds.contexts[i + 2]
        choice = bandit.ask(context=context)
        assert choice.arm == trial.arms[0, i]
        opened = again(bandit)
        assert opened.ask(context=context) == choice
        bandit.tell(choice, trial.rewards[0, i])
    # Beyond sixteen inputs the model is sparse.
    why = []
    for context in np.random.default_rng(2).uniform(size=(2, 2)):
        choice = bandit.ask(context=context)
        why.append(choice.why)
        bandit.tell(choice, 0.5)
    assert ["inputs carry the model" in said for said in why] == [False, True]


def test_it_is_built_upon_a_round_number_of_rewards(monkeypatch):
    fresh, condition = [], compiled.condition

    def counted(model, belief):
        assert isinstance(belief.posterior, Grown)
        fresh.append(belief.used > 0 and not np.any(np.asarray(belief.posterior.earlier)))
        return condition(model, belief)

    bandit = wf.Bandit(ARMS, policy(refit_every=1000), seed=5, initial=3, context=CONTEXT)
    contexts = np.random.default_rng(1).uniform(size=(14, 2))
    for i in range(8):
        bandit.tell(i % 3, float(np.sin(i)), context=contexts[i])
    bandit.ask(context=contexts[8])
    monkeypatch.setattr(compiled, "condition", counted)
    for i in range(8, 13):
        bandit.tell(i % 3, float(np.sin(i)), context=contexts[i])
        opened, context = again(bandit), contexts[i + 1]
        assert opened.ask(context=context) == bandit.ask(context=context)
    # Opened again it is conditioned from nothing; going on, at the twelfth reward.
    assert sum(fresh) == 5 + 1


def test_a_study_kept_when_the_model_was_sparse_there_opens(monkeypatch):
    settled = policy(fit=wf.Fit(restarts=0, iterations=5), refit_every=1000)
    monkeypatch.setattr(model, "USUAL", Sparsity(6, 5))
    before = wf.Bandit(ARMS, settled, seed=5, initial=3, context=CONTEXT)
    contexts = np.random.default_rng(1).uniform(size=(14, 2))
    for i in range(10):
        before.tell(i % 3, float(np.sin(i)), context=contexts[i])
    choice = before.ask(context=contexts[10])
    assert "inputs carry the model" in choice.why
    before.tell(choice, 0.5)
    kept = before.state_dict()
    monkeypatch.setattr(model, "USUAL", Sparsity(6, 5, grown=16))
    opened = wf.Bandit.from_state_dict(json.loads(json.dumps(kept)))
    choice = opened.ask(context=contexts[11])
    assert "inputs carry the model" not in choice.why
    assert again(opened).ask(context=contexts[11]) == choice
    assert Sparsity(6, 5).kind(16) is Sparse
