"""What every acquisition promises, on a posterior with known moments."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from acquisition.fakes import fake, situation

from windfall.acquisition.base import Acquisition
from windfall.acquisition.ei import EI
from windfall.acquisition.lw import LWUCB
from windfall.acquisition.thompson import TS
from windfall.acquisition.ucb import GPUCB, VUCB, Mean
from windfall.acquisition.windfall import Windfall
from windfall.errors import InputError
from windfall.models.gp.model import GP
from windfall.policy import Policy
from windfall.space import Space

ARMS = np.random.default_rng(0).random((50, 2))
ACQUISITIONS = [
    EI(),
    EI(xi=0.1),
    TS(features=32),
    VUCB(),
    GPUCB(),
    GPUCB.scaled(),
    LWUCB(points=64),
    LWUCB(components=0, points=64),
    LWUCB(components=2, domain="arms"),
    LWUCB(prior=np.arange(1.0, 51.0)),
    Mean(),
    Windfall(),
]
EACH = pytest.mark.parametrize(
    "acquisition", ACQUISITIONS, ids=[f"{type(a).__name__}{i}" for i, a in enumerate(ACQUISITIONS)]
)


def scores(acquisition, key, posterior, arms, best=0.0):
    domain, prior = acquisition.survey(Space.of(arms, np.array([[0.0, 0.0], [1.0, 1.0]])))

    @jax.jit
    def run(key):
        score = acquisition.focus(key, posterior, situation(arms, best=best, domain=domain))
        return score(arms, prior), score.ratio(arms, prior)

    return jax.tree.map(np.asarray, run(key))


@EACH
def test_every_acquisition_obeys_the_protocol(acquisition):
    assert isinstance(acquisition, Acquisition)
    values, ratio = scores(acquisition, jax.random.key(0), fake(), ARMS)
    assert values.shape == ratio.shape == (50,)
    assert values.dtype == np.float64
    assert np.all(np.isfinite(values))
    assert np.ptp(values) > 0
    assert np.all(ratio >= 0)
    if not isinstance(acquisition, LWUCB | Windfall):
        np.testing.assert_array_equal(ratio, 1.0)
    again, _ = scores(acquisition, jax.random.key(0), fake(), ARMS)
    np.testing.assert_array_equal(values, again)


@EACH
def test_one_arm_at_a_time_scores_the_same(acquisition):
    """A score is a function of points: it does not depend on which others are asked about."""
    domain, prior = acquisition.survey(Space.of(ARMS, np.array([[0.0, 0.0], [1.0, 1.0]])))
    around = situation(ARMS, best=0.5, domain=domain)
    score = acquisition.focus(jax.random.key(1), fake(), around)
    together = np.asarray(score(ARMS, prior))
    alone = [float(score(ARMS[i : i + 1], prior[i : i + 1])[0]) for i in (0, 17, 49)]
    np.testing.assert_allclose(alone, together[[0, 17, 49]], rtol=1e-9)


@EACH
def test_repr_makes_the_acquisition_again(acquisition):
    names = {type(a).__name__: type(a) for a in ACQUISITIONS}
    assert repr(eval(repr(acquisition), names)) == repr(acquisition)


def test_only_thompson_sampling_needs_the_key():
    for acquisition in (EI(), VUCB(), GPUCB(), LWUCB(components=0, points=64), Mean()):
        a, _ = scores(acquisition, jax.random.key(0), fake(), ARMS)
        b, _ = scores(acquisition, jax.random.key(1), fake(), ARMS)
        np.testing.assert_array_equal(a, b)
    a, _ = scores(TS(), jax.random.key(0), fake(), ARMS)
    b, _ = scores(TS(), jax.random.key(1), fake(), ARMS)
    assert not np.allclose(a, b)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: VUCB(kappa=-1.0), "kappa is -1.0; expected a finite number, 0 or more"),
        (lambda: LWUCB(kappa=np.nan), "kappa is nan"),
        (lambda: VUCB(kappa=jnp.array(-5.0)), "kappa is -5.0; expected a finite number, 0 or more"),
        (lambda: Windfall(curiosity=jnp.array(np.nan)), "curiosity is nan; expected a finite"),
        (lambda: EI(xi=jnp.ones(3)), r"xi is Array\(\[1., 1., 1.\].*; expected a number"),
        (lambda: LWUCB(components=jnp.array(65)), "components is 65; expected a whole number from"),
        (lambda: LWUCB(bandwidth=jnp.array(-1.0)), "bandwidth is -1.0; expected 'scott'"),
        (lambda: LWUCB(bandwidth="0.5"), "bandwidth is '0.5'; expected 'scott'"),
        (lambda: LWUCB(prior=["1", "2"]), r"prior is \['1', '2'\]; expected None, a function"),
        (lambda: LWUCB(prior=[1.0, np.nan]), r"prior is \[1.0, nan\]; expected None, a function"),
        (lambda: GP(noise=jnp.array(-1.0)), "noise is -1.0; expected a finite number, above 0"),
        (lambda: GP(refit_every=True), "refit_every is True; expected a whole number, at least 1"),
        (lambda: GP(ard="no"), "ard is 'no'; expected True or False"),
        (lambda: EI(xi="much"), "xi is 'much'; expected a number"),
        (lambda: GPUCB(delta=2.0), "delta is 2.0; expected a finite number, above 0, at most 1"),
        (lambda: GPUCB(scale=0.0), "scale is 0.0"),
        (lambda: GPUCB(size=-3), "size is -3"),
        (lambda: TS(features=0), "features is 0; expected a whole number from 1 to"),
        (lambda: LWUCB(components=-1), "components is -1; expected a whole number from 0 to 64"),
        (lambda: LWUCB(components=65), "components is 65"),
        (lambda: LWUCB(components=2.0), "components is 2.0"),
        (lambda: LWUCB(components=True), "components is True"),
        (lambda: LWUCB(points=8), "points is 8; expected a whole number from 16 to"),
        (lambda: LWUCB(domain="sphere"), "domain is 'sphere'; expected 'box' or 'arms'"),
        (lambda: LWUCB(bandwidth=-1.0), "bandwidth is -1.0; expected 'scott'"),
        (lambda: LWUCB(bandwidth="wide"), "bandwidth is 'wide'; expected 'scott'"),
        (lambda: LWUCB(prior="uniform"), "prior is 'uniform'; expected None, a function"),
        (lambda: Policy("ei"), "acquisition is 'ei'; expected an object such as VUCB"),
        (lambda: Policy(VUCB), "acquisition is <class .*; expected an object such as VUCB"),
        (lambda: Policy(VUCB(), "rbf"), "gp is 'rbf'; expected a GP"),
        (lambda: GP(fit=None), "fit is None; expected Fit"),
    ],
)
def test_wrong_settings_are_refused(make, message):
    with pytest.raises(InputError, match=f"^{message}"):
        make()
