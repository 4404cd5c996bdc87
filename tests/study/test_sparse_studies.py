"""Studies with a sparse model: one round for all, resumed to the last bit, and said in ``why``."""

import json
import re

import jax
import numpy as np
import pytest

import windfall as wf
from windfall.errors import InputError
from windfall.models.gp.posterior import Posterior
from windfall.models.gp.sparse import Sparse
from windfall.space import as_space
from windfall.study import compiled, decide

#: Irregular arms and noise, as in ``test_one_round``: no two scores are nearly equal.
ARMS = np.random.default_rng(8).uniform(size=(40, 2))
PROBLEM = wf.Problem(
    arms=ARMS,
    payoff=lambda x: np.sin(6.0 * x[:, 0]) + np.exp(-20.0 * np.sum((x - 0.6) ** 2, axis=1)),
    noise=0.05,
)
MODEL = wf.SparseGP(wf.kernels.Matern52(0.3), fit=wf.Fit(restarts=0, iterations=10), inducing=6)
POLICY = wf.Policy(wf.VUCB(), MODEL)


def test_a_bandit_a_simulation_and_a_study_opened_again_choose_alike(monkeypatch):
    monkeypatch.setattr(decide, "ROUND", 4)  # so that there is something to build upon
    trial = wf.simulate(PROBLEM, POLICY, rounds=13, trials=1, seed=5, workers=1)
    bandit = wf.Bandit(ARMS, POLICY, seed=5, initial=3)
    for choice, reward in zip(bandit.ask(3), trial.first[0], strict=True):
        bandit.tell(choice, reward)
    for i, reward in enumerate(trial.rewards[0, 1:]):
        choice = bandit.ask()
        assert choice.arm == trial.arms[0, 1 + i]
        if i % 4 == 0:
            again = wf.Bandit.from_state_dict(json.loads(json.dumps(bandit.state_dict())))
            assert again.ask() == choice
            again.tell(again.ask(), reward)
            bandit.tell(choice, reward)
            assert again.ask() == bandit.ask()
        else:
            bandit.tell(choice, reward)
    assert len(set(trial.arms[0].tolist())) > MODEL.inducing
    # The latest input has a place of its own unless it was chosen anyway.
    said = r"; [56] of \d+ inputs carry the model, \d+\.\d\d% of the variance is beyond them$"
    assert re.search(said, bandit.ask().why)


def test_the_usual_model_becomes_sparse_beyond_1024_inputs_and_exact_again():
    belief = wf.GP().begin(as_space(ARMS), 1024)
    assert type(belief.posterior) is Posterior
    sparse = belief.resized(2048)
    assert isinstance(sparse.posterior, Sparse)
    assert jax.tree.map(np.shape, sparse) == jax.tree.map(
        np.shape, wf.GP().begin(as_space(ARMS), 2048)
    )
    # No n × n matrix: memory is O(n).
    assert max(np.size(leaf) for leaf in jax.tree.leaves(sparse)) == 512**2
    assert jax.tree.map(np.shape, sparse.resized(1024)) == jax.tree.map(np.shape, belief)
    for one in (sparse, sparse.resized(1024)):
        assert one.dump()["hyper"] == belief.dump()["hyper"]
    stack = jax.tree.map(lambda *leaves: np.stack(leaves), belief, belief)
    for capacity, like in ((2048, sparse), (1024, belief)):
        stack = stack.resized(capacity)
        assert [(2, *np.shape(leaf)) for leaf in jax.tree.leaves(like)] == [
            np.shape(leaf) for leaf in jax.tree.leaves(stack)
        ]


def test_what_was_added_up_is_built_upon_and_a_study_opened_again_agrees(monkeypatch):
    monkeypatch.setattr(decide, "ROUND", 4)
    fresh, condition = [], compiled.condition

    def counted(model, belief):
        fresh.append(belief.used > 0 and not belief.posterior.sums.ready)  # else a rehearsal
        return condition(model, belief)

    kept = wf.Policy(wf.VUCB(), wf.SparseGP(wf.kernels.Matern52(0.3), inducing=6, refit_every=1000))
    bandit = wf.Bandit(ARMS, kept, seed=5)
    for arm in range(16):
        bandit.tell(arm, float(np.sin(arm)))
    bandit.ask()
    monkeypatch.setattr(compiled, "condition", counted)
    steps = [(30, 0.5), (3, 0.1), (30, 0.7), (31, 0.2), (32, 0.3), (3, 0.4)]
    for arm, reward in steps:
        bandit.tell(arm, reward)
        again = wf.Bandit.from_state_dict(bandit.state_dict())
        assert again.ask() == bandit.ask()
    # Opened again, all are added up from nothing; going on, when there are four rewards more, or
    # more room: one input outgrows 16.
    assert sum(fresh) == len(steps) + 2


@pytest.mark.parametrize("count", [1, 9])
def test_a_study_kept_when_another_number_of_inputs_carried_the_model_opens(count):
    """As many of them as there are, or the first."""
    belief = MODEL.begin(as_space(ARMS), 16)
    kept = belief.dump() | {"chosen": list(range(count)), "behind": 12}
    chosen = belief.load(kept).posterior.chosen
    places = MODEL.sparsity.chosen
    assert chosen.tolist() == [*range(count), *[-1] * places][:places]
    for wrong in ([0.5] * places, [[1]], "all"):
        with pytest.raises(InputError, match=f"^state chosen is .*; expected {places} numbers$"):
            belief.load(kept | {"chosen": wrong})


def test_a_sparse_model_samples_no_hyper_parameters():
    with pytest.raises(InputError, match=r"^fit is Bayes\(.*\); expected Fit\(...\)"):
        wf.SparseGP(fit=wf.Bayes(samples=2))
    assert isinstance(wf.GP(fit=wf.Bayes(samples=2)).begin(as_space(ARMS), 2048).members, int)
