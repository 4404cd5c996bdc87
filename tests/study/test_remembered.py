"""What a study remembers between decisions only saves work: opened anew, it decides alike."""

import json
from contextlib import suppress

import numpy as np
import pytest
from bandit_study import ARMS, PAYOFF

import windfall as wf
from windfall.models.gp.belief import GPBelief
from windfall.study import compiled

QUICK = wf.Fit(restarts=0, iterations=10)
SMALL = wf.GP(fit=QUICK)
MODELS = {
    "gp": SMALL,
    "between searches": wf.GP(fit=QUICK, refit_every=3),
    "sparse": wf.SparseGP(inducing=8, fit=QUICK),
    "sampled": wf.GP(fit=wf.Bayes(samples=4, warmup=20)),
    "linear": wf.BayesianLinear(features="polynomial"),
    "drift": wf.Drifting(SMALL),
}


def opened_again(bandit: wf.Bandit) -> wf.Bandit:
    return wf.Bandit.from_state_dict(json.loads(json.dumps(bandit.state_dict())))


def one_more(bandit: wf.Bandit, i: int, **known) -> None:
    """A choice, and then whatever may come: a reward, a failure, a reward that nobody asked for."""
    choice = bandit.ask(**known)
    reward = float(PAYOFF[choice.arm] + 0.3 * np.sin(7.0 * i))
    if i % 7 == 4:
        bandit.fail(choice)
    else:
        bandit.tell(choice, reward)
    if i % 5 == 3:
        bandit.tell(3 * i, reward, noise=0.5, **known)
    if i == 9:
        bandit.forget(bandit.failed[0])
    bandit.posterior(**known)  # reads leave no trace


@pytest.mark.parametrize("model", MODELS)
def test_a_study_opened_before_every_choice_decides_alike(model):
    """From rewards to hyper-parameters to choices, bit for bit; once past the first room of 16."""
    lasting = wf.Bandit(ARMS, wf.Policy(wf.VUCB(), MODELS[model]), seed=3)
    other = opened_again(lasting)
    for i in range(18 if model == "gp" else 11):
        one_more(lasting, i)
        other = opened_again(other)
        one_more(other, i)
        assert other.state_dict() == lasting.state_dict()


def test_the_same_where_bounds_of_contexts_grow():
    lasting = wf.Bandit(ARMS, wf.Policy(wf.VUCB(), SMALL), seed=3, context=["load"])
    other = opened_again(lasting)
    for i in range(9):
        load = {"context": {"load": float(i % 4) * (1.0 + (i > 5))}}
        one_more(lasting, i, **load)
        other = opened_again(other)
        one_more(other, i, **load)
        assert other.state_dict() == lasting.state_dict()


def test_hyper_parameters_are_loaded_only_where_others_found_them(tmp_path, monkeypatch):
    loaded, load = [], GPBelief.load
    monkeypatch.setattr(
        GPBelief, "load", lambda self, saved: (loaded.append(1), load(self, saved))[1]
    )
    mine = wf.Study("oven", ARMS, wf.Policy(wf.VUCB(), SMALL), store=tmp_path / "lab.db", seed=3)

    def turns(study: wf.Study, count: int) -> int:
        before = len(loaded)
        for _ in range(count):
            choice = study.ask(worker="me")
            study.tell(choice, float(PAYOFF[choice.arm]))
        return len(loaded) - before

    assert turns(mine, 8) == 0
    with wf.Study("oven", store=tmp_path / "lab.db") as theirs:
        assert turns(theirs, 3) == 1
        assert turns(mine, 3) == 1
        # Both have learned the same, each by another way.
        assert mine.posterior()[0].tolist() == theirs.posterior()[0].tolist()
    mine.close()


def test_a_decision_that_was_interrupted_forgets_no_reward(monkeypatch):
    lasting, other = (wf.Bandit(ARMS, wf.Policy(wf.VUCB(), SMALL), seed=3) for _ in range(2))
    search = compiled.search

    def interrupted(*_):
        raise KeyboardInterrupt

    for i in range(8):
        monkeypatch.setattr(compiled, "search", interrupted)
        with suppress(KeyboardInterrupt):  # initial choices need no search
            lasting.ask()
        monkeypatch.setattr(compiled, "search", search)
        one_more(lasting, i)
        one_more(other, i)
    assert lasting.state_dict() == other.state_dict()
