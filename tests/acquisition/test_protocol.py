"""What acquisitions print and refuse; what they compute is in the contract."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from acquisition.contract import ACQUISITIONS, EACH, LIST, evaluated

from windfall.acquisition.ei import EI
from windfall.acquisition.lw import LWUCB
from windfall.acquisition.thompson import TS
from windfall.acquisition.ucb import GPUCB, VUCB, Mean
from windfall.acquisition.windfall import Windfall
from windfall.attention.prior import Gaussian
from windfall.errors import InputError
from windfall.models.gp.model import GP
from windfall.policy import Policy


@EACH
def test_repr_makes_the_acquisition_again(acquisition):
    names = {type(a).__name__: type(a) for a in ACQUISITIONS} | {"Gaussian": Gaussian}
    assert repr(eval(repr(acquisition), names)) == repr(acquisition)


def test_only_thompson_sampling_needs_the_key():
    for acquisition in (EI(), VUCB(), GPUCB(), LWUCB(components=0, points=64), Mean(), Windfall()):
        a, _ = evaluated(acquisition, LIST, jax.random.key(0))
        b, _ = evaluated(acquisition, LIST, jax.random.key(1))
        np.testing.assert_array_equal(a, b)
    a, _ = evaluated(TS(), LIST, jax.random.key(0))
    b, _ = evaluated(TS(), LIST, jax.random.key(1))
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
        (lambda: Policy(VUCB(), "rbf"), "model is 'rbf'; expected a GP"),
        (lambda: GP(fit=None), "fit is None; expected Fit"),
    ],
)
def test_wrong_settings_are_refused(make, message):
    with pytest.raises(InputError, match=f"^{message}"):
        make()
