"""The highest mean among what was tried."""

import dataclasses

import jax.numpy as jnp
import numpy as np
from models.gp.believing import believing
from models.gp.naive import observed, pulls

from windfall.models import peak as module
from windfall.models.gp.evidence import Hyper
from windfall.models.gp.kernels import Matern52
from windfall.models.peak import peak

DATA = observed(*pulls(repeats=True, dimension=2))
BELIEF = believing(Hyper(Matern52(0.3), np.float64(0.3)), DATA)


def test_it_is_the_highest_mean_and_not_the_highest_reward():
    means = np.asarray(BELIEF.mean(jnp.asarray(DATA.features)))[: int(DATA.used)]
    assert float(peak(BELIEF)) == means.max()
    assert means.max() < np.max(DATA.mean)
    nothing = dataclasses.replace(BELIEF, rewards=dataclasses.replace(DATA, used=np.int32(0)))
    assert float(peak(nothing)) == -np.inf


def test_of_many_inputs_those_that_paid_most_are_asked(monkeypatch):
    rewards = np.where(np.arange(DATA.capacity) < DATA.used, DATA.mean, -np.inf)
    for most in (1, 3):
        monkeypatch.setattr(module, "_MOST", most)
        best = np.argsort(-rewards, kind="stable")[:most]
        means = np.asarray(BELIEF.mean(jnp.asarray(DATA.features)[best]))
        np.testing.assert_allclose(float(peak(BELIEF)), means.max(), rtol=1e-12)
