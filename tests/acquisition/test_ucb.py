"""Upper confidence bounds and the plain mean against their formulas."""

import jax
import numpy as np
import pytest
from acquisition.fakes import fake, situation

from windfall.acquisition.lw import LWUCB
from windfall.acquisition.ucb import GPUCB, VUCB, Mean

ARMS = np.random.default_rng(0).random((40, 2))
PRIOR = np.ones(40)
MEAN = np.sin(5.0 * ARMS[:, 0]) + ARMS[:, 1]
DEVIATION = 0.1 + (ARMS[:, 0] - ARMS[:, 1]) ** 2
KEY = None  # no randomness in any of these


def value(acquisition, posterior=None, **about):
    score = acquisition.focus(KEY, posterior or fake(), situation(ARMS, **about))
    return np.asarray(score(ARMS, PRIOR))


@pytest.mark.parametrize("kappa", [0.0, 1.0, 2.5])
def test_v_ucb(kappa):
    np.testing.assert_allclose(value(VUCB(kappa=kappa)), MEAN + kappa * DEVIATION, rtol=1e-12)


def test_mean():
    np.testing.assert_allclose(value(Mean()), MEAN, rtol=1e-12)


@pytest.mark.parametrize("t", [1, 2, 50, 150, 46_341, 2_000_000])
@pytest.mark.parametrize("delta", [0.1, 0.01])
def test_gp_ucb_follows_the_papers_schedule(t, delta):
    beta = 2.0 * np.log(40 * float(t) ** 2 * np.pi**2 / (6.0 * delta))
    found = value(GPUCB(delta=delta), round=t)
    np.testing.assert_allclose(found, MEAN + np.sqrt(beta) * DEVIATION, rtol=1e-10)


@pytest.mark.parametrize("t", [1, 2, 50, 150])
def test_gp_ucb_follows_the_authors_schedule(t):
    beta = 2.0 * np.log(t**2 * np.pi**2 / (6.0 * 0.1)) / 5.0
    np.testing.assert_allclose(GPUCB.scaled().beta(np.int32(t), 40), beta, rtol=1e-12)
    found = value(GPUCB.scaled(), round=t)
    np.testing.assert_allclose(found, MEAN + np.sqrt(beta) * DEVIATION, rtol=1e-10)


def test_gp_ucb_takes_another_size_and_never_a_negative_beta():
    beta = 2.0 * np.log(2 * 9 * np.pi**2 / 0.6)
    assert float(GPUCB(size=2).beta(np.int32(3), 40)) == pytest.approx(beta, rel=1e-12)
    assert float(GPUCB(size=1e-6, delta=1.0).beta(np.int32(1), 40)) == 0.0


def test_more_rounds_mean_more_curiosity():
    betas = [float(GPUCB().beta(np.int32(t), 40)) for t in range(1, 20)]
    assert np.all(np.diff(betas) > 0)


@pytest.mark.parametrize("components", [0, 3])
def test_lw_ucb_without_information_is_v_ucb(components):
    """A flat mean gives w ≡ 1 and the very same scores."""
    flat = fake(mean=lambda x: 0.0 * x[:, 0] + 3.0)
    acquisition = LWUCB(kappa=1.5, components=components)
    found = jax.jit(lambda key: acquisition.focus(key, flat, situation(ARMS)))(jax.random.key(0))
    np.testing.assert_array_equal(found(ARMS, PRIOR), value(VUCB(kappa=1.5), flat))
    np.testing.assert_array_equal(found.ratio(ARMS, PRIOR), 1.0)
