"""A choice says why it was made, and what went wrong on the way."""

from functools import partial

import numpy as np
import pytest

import windfall as wf
from windfall.attention import ratio
from windfall.attention.mixture import fit_mixture

ARMS = np.random.default_rng(0).uniform(size=(30, 2))
SHORT, UNSETTLED = "; its fit was ended after ", "; the mixture of its attention had not settled"


def why(policy, space=ARMS, **fit):
    """Of the first choice after eight rewards."""
    model = wf.GP(fit=wf.Fit(restarts=0, **fit))
    bandit = wf.Bandit(space, wf.Policy(policy, model), seed=0, initial=8)
    for _ in range(8):
        choice = bandit.ask()
        bandit.tell(choice, float(np.sin(9.0 * choice.features[0]) + choice.features[1]))
    return bandit.ask().why


def test_a_search_for_hyper_parameters_that_was_too_short_is_told():
    assert f"{SHORT}2 evaluations" in why(wf.VUCB(), iterations=2)
    assert SHORT not in why(wf.VUCB(), iterations=200)


@pytest.mark.parametrize("space", [ARMS, wf.Box([0.0, 0.0], [1.0, 1.0])], ids=["list", "box"])
def test_a_mixture_that_had_not_settled_is_told(space, monkeypatch):
    assert UNSETTLED not in why(wf.LWUCB(components=3, points=64), space, iterations=20)
    monkeypatch.setattr(ratio, "fit_mixture", partial(fit_mixture, iterations=1))
    # Another number of points: the program above is kept.
    assert UNSETTLED in why(wf.LWUCB(components=3, points=65), space, iterations=20)
