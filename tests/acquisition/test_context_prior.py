"""The input density p_x where it depends on the context: p_x(x | z)/p_μ(μ(x, z)), over x."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from acquisition.fakes import situation
from models.learning import learned
from scipy.stats import gaussian_kde

import windfall as wf
from windfall.acquisition.lw import LWUCB
from windfall.attention.prior import InContext, LogDensity, gaussian
from windfall.errors import InputError
from windfall.models.gp.model import GP
from windfall.models.situated import Situated
from windfall.space import Arms, Box, Context
from windfall.space.joint import Joint
from windfall.specs import from_spec, to_spec

KEY = jax.random.key(0)
#: Doses from 10 to 30; a load from −1 to 1. The unit box is that of ``models.learning``.
DOSES = Arms(np.linspace(10.0, 30.0, 9)[:, None])
DOSE = Box([10.0], [30.0], names=["dose"])
CONTEXT = Context({"load": (-1.0, 1.0)})
FRAME = CONTEXT.frame(None)
LOADS = (-0.4, 0.8)


def log_density(x):
    """The higher the load, the higher the doses that matter."""
    return -0.5 * ((x[:, 0] - 20.0 - 8.0 * x[:, 1]) / 3.0) ** 2


def density(x):
    return jnp.exp(log_density(x))


def fixed(load):
    """The same density, told what the load is."""

    def here(features):
        return density(jnp.column_stack([features[:, 0], jnp.full(len(features), load)]))

    return here


PRIORS = {"function": density, "log": LogDensity(log_density), "gaussian": gaussian([25, 0], 5.0)}


def score_of(prior, space, load, components=0):
    acquisition = LWUCB(components=components, points=64, prior=prior)
    inputs = Joint(space, CONTEXT, FRAME) if acquisition.contextual else space
    belief = Situated.at(learned(GP()), FRAME.unit([(load,)])[0])
    return acquisition.focus(KEY, belief, situation(DOSES.points), acquisition.setup(inputs))


@pytest.mark.parametrize("name", PRIORS)
def test_the_ratio_is_the_prior_here_over_the_density_of_the_mean_here(name):
    """With mean 1 over the domain; p_μ by SciPy, weighted by p_x."""
    x = DOSES.fill(64)
    doses = 10.0 + 20.0 * x[:, 0]
    for load in LOADS:
        both = np.column_stack([doses, np.full(64, load)])
        prior = np.asarray(np.exp(log_density(both)) if name != "gaussian" else PRIORS[name](both))
        unit = np.column_stack([x, np.full(64, (load + 1.0) / 2.0)])
        mean = np.asarray(learned(GP()).mean(unit))
        naive = prior / gaussian_kde(mean, weights=prior)(mean)
        # SciPy sums kernels exactly; here they are summed on a grid.
        found = score_of(InContext(PRIORS[name]), DOSES, load).ratio(x)
        np.testing.assert_allclose(found, naive / naive.mean(), rtol=0.02, atol=1e-3)


@pytest.mark.parametrize("components", [0, 2])
@pytest.mark.parametrize("space", [DOSES, DOSE], ids=["arms", "box"])
def test_at_one_context_it_is_the_prior_that_knows_of_no_other(space, components):
    x = DOSES.points
    scores = []
    for load in LOADS:
        found = score_of(InContext(density), space, load, components)
        plain = score_of(fixed(load), space, load, components)
        np.testing.assert_allclose(found(x), plain(x), rtol=1e-9)
        np.testing.assert_allclose(found.ratio(x), plain.ratio(x), rtol=1e-9)
        scores.append(np.asarray(found.ratio(x)))
    assert not np.allclose(*scores)


def test_where_nothing_matters_all_matter_alike():
    found = score_of(InContext(lambda x: 0.0 * x[:, 0]), DOSES, 0.8, 2)
    plain = score_of(None, DOSES, 0.8, 2)
    np.testing.assert_allclose(found(DOSES.points), plain(DOSES.points), rtol=1e-9)


def test_a_study_sees_the_density_of_the_context_that_it_is_asked_about():
    def ratios(prior, load):
        policy = LWUCB(components=0, points=64, prior=prior)
        bandit = wf.Bandit(DOSES.arms, policy, context={"load": (-1.0, 1.0)}, seed=0)
        for at in LOADS:
            for arm, reward in ((2, 1.0), (4, 1.2), (6, 1.5)):
                bandit.tell(arm, reward + 0.1 * at, context={"load": at})
        return bandit.explain(context={"load": load})["ratio"]

    for load in LOADS:
        expected = ratios(fixed(load), load)
        assert np.ptp(expected) > 0.1
        np.testing.assert_allclose(ratios(InContext(density), load), expected, rtol=1e-6)


def plain_numpy(x):
    return np.array([float(row[0]) for row in x])


@pytest.mark.parametrize(
    ("prior", "context", "message"),
    [
        (InContext(density), None, "expected a study with a context whose bounds are given"),
        (InContext(density), ["load"], "expected a study with a context whose bounds are given"),
        (InContext(plain_numpy), {"load": (0, 1)}, "cannot be traced by JAX"),
        (InContext(lambda x: x), {"load": (0, 1)}, "shape \\(3, 2\\) for 3 points"),
        (InContext(gaussian([0.0], 1.0)), {"load": (0, 1)}, "cannot be traced|over 1 features"),
    ],
)
def test_what_cannot_be_is_refused_when_a_study_begins(prior, context, message):
    with pytest.raises(InputError, match=message):
        wf.Bandit(DOSES.arms, LWUCB(prior=prior), context=context).ask(
            context=None if context is None else {"load": 0.5}
        )


def test_only_a_function_is_a_density():
    for wrong in (3.0, InContext(density)):
        with pytest.raises(InputError, match="expected a function of features and context"):
            InContext(wrong)


def test_it_is_part_of_a_spec():
    policy = LWUCB(prior=InContext(gaussian([20.0, 0.0], [3.0, 1.0])))
    assert repr(from_spec(to_spec(policy))) == repr(policy)
