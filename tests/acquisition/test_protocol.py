"""What every acquisition promises, on a posterior with known moments."""

import equinox as eqx
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
from windfall.checks import number
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


#: A few arms that are also asked about one at a time.
ALONE = (0, 17, 49)


@eqx.filter_jit
def _scores(acquisition, key, domain, prior):
    """Scores and ratios of all arms, and the scores of a few alone: one program for every test."""
    score = acquisition.focus(key, fake(), situation(ARMS, best=0.5, domain=domain))
    alone = [score(ARMS[i : i + 1], prior[i : i + 1])[0] for i in ALONE]
    return score(ARMS, prior), score.ratio(ARMS, prior), jnp.stack(alone)


def scores(acquisition, seed):
    domain, prior = acquisition.survey(Space.of(ARMS, np.array([[0.0, 0.0], [1.0, 1.0]])))
    return map(np.asarray, _scores(acquisition, jax.random.key(seed), domain, prior))


@EACH
def test_every_acquisition_obeys_the_protocol(acquisition):
    assert isinstance(acquisition, Acquisition)
    values, ratio, _ = scores(acquisition, 0)
    assert values.shape == ratio.shape == (50,)
    assert values.dtype == np.float64
    assert np.all(np.isfinite(values))
    assert np.ptp(values) > 0
    assert np.all(ratio >= 0)
    if not isinstance(acquisition, LWUCB | Windfall):
        np.testing.assert_array_equal(ratio, 1.0)
    again, *_ = scores(acquisition, 0)
    np.testing.assert_array_equal(values, again)


@EACH
def test_one_arm_at_a_time_scores_the_same(acquisition):
    """A score is a function of points: it does not depend on which others are asked about."""
    together, _, alone = scores(acquisition, 1)
    np.testing.assert_allclose(alone, together[list(ALONE)], rtol=1e-9)


@EACH
def test_repr_makes_the_acquisition_again(acquisition):
    names = {type(a).__name__: type(a) for a in ACQUISITIONS}
    assert repr(eval(repr(acquisition), names)) == repr(acquisition)


def test_only_thompson_sampling_needs_the_key():
    for acquisition in (EI(), VUCB(), GPUCB(), LWUCB(components=0, points=64), Mean(), Windfall()):
        (a, *_), (b, *_) = scores(acquisition, 0), scores(acquisition, 1)
        np.testing.assert_array_equal(a, b)
    (a, *_), (b, *_) = scores(TS(features=32), 0), scores(TS(features=32), 1)
    assert not np.allclose(a, b)


def test_a_setting_is_a_finite_number_in_range():
    convert = number("delta", 0.0, high=1.0, strict=True)
    assert convert(1) == 1.0
    assert isinstance(convert(np.array(0.5)), np.float64)
    for wrong in (0.0, -1, 1.5, np.nan, np.inf):
        with pytest.raises(InputError, match=r"^delta is .*; expected a finite number, above 0"):
            convert(wrong)
    for wrong in ("0.1", None, [0.1], True, 1j, np.ones(2), np.str_("a")):
        with pytest.raises(InputError, match=r"^delta is .*; expected a number$"):
            convert(wrong)
    for traced in (jax.numpy.float64(0.5),):
        assert convert(traced) is traced


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: VUCB(kappa=-1.0), "kappa is -1.0; expected a finite number, 0 or more"),
        (lambda: LWUCB(kappa=np.nan), "kappa is nan"),
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
