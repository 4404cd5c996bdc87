"""Sampled hyper-parameters against a dense grid; the ensemble against its members."""

import dataclasses
import sys
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from models.gp.believing import learned
from models.gp.naive import observed, pulls, standardised
from models.gp.test_sampling import assert_mean

from windfall.acquisition.ucb import VUCB
from windfall.errors import InputError
from windfall.models.gp.bayes import Bayes
from windfall.models.gp.ensemble import Ensemble
from windfall.models.gp.evidence import Hyper, log_evidence
from windfall.models.gp.kernels import Custom, Kernel, SquaredExponential, parameter
from windfall.models.gp.means import Linear, Zero
from windfall.models.gp.model import GP
from windfall.models.gp.observations import Scale
from windfall.models.gp.parameters import BOUNDS
from windfall.models.gp.posterior import condition
from windfall.models.gp.priors import GammaPrior, LogNormalPrior
from windfall.policy import Policy, learn, observe
from windfall.space import Arms

AT = np.random.default_rng(9).uniform(size=(6, 2))
SCALE = Scale(np.float64(1.0), np.float64(2.0))
#: Three sets of hyper-parameters, and as a stack.
HYPERS = [
    Hyper(SquaredExponential([0.3, 0.7], 1.5), np.float64(0.05)),
    Hyper(SquaredExponential([0.1, 2.0], 0.4), np.float64(0.2)),
    Hyper(SquaredExponential([0.8, 0.2], 1.0), np.float64(0.01)),
]
STACK = jax.tree.map(lambda *leaves: np.stack(leaves), *HYPERS)


class Smooth(Kernel):
    lengthscale: Any = parameter("lengthscale")

    def __call__(self, x1, x2):
        return SquaredExponential(self.lengthscale)(x1, x2)


def stacked(hyper, size):
    return jax.tree.map(lambda leaf: np.broadcast_to(leaf, (size, *np.shape(leaf))), hyper)


def ensemble(observations, trend=Zero()):  # noqa: B008
    empty = Ensemble(STACK, observations, SCALE, np.zeros((3, 16, 16)), np.bool_(True), trend)
    return empty.anew(STACK, observations, SCALE)


BATCHES, PER_BATCH = 100, 60
# A density of one's own for the length scale; the noise is log-uniform between its bounds.
SAMPLER = Bayes(
    samples=BATCHES * PER_BATCH, warmup=300, thinning=3, prior=GammaPrior(lengthscale=(2.0, 5.0))
)


@pytest.fixture(scope="module")
def sampled():
    """Samples of the two logarithms by the seed of their key."""
    with jax.enable_x64(True):
        x, y = pulls(repeats=True)
        data = observed(x, standardised(y))
        warm = SAMPLER.begin(condition(Hyper(Smooth(0.5), np.float64(0.1)), data))
        infer = eqx.filter_jit(SAMPLER.infer)

        def logs(seed):
            with jax.enable_x64(True):
                hyper, info = infer(jax.random.key(seed), data, warm, np.int32(0))
                assert info.evaluations >= 3 * SAMPLER.samples
                return np.log(np.column_stack([hyper.kernel.lengthscale, hyper.noise]))

        return logs


def test_samples_have_the_moments_of_a_dense_grid(sampled):
    x, y = pulls(repeats=True)
    observations = observed(x, standardised(y))
    side = [np.linspace(*np.log(BOUNDS[name]), 200) for name in ("lengthscale", "noise")]
    grid = np.stack(np.meshgrid(*side, indexing="ij"), -1).reshape(-1, 2)

    @jax.jit
    def density(logs):
        def one(u):
            hyper = Hyper(Smooth(jnp.exp(u[0])), jnp.exp(u[1]))
            return log_evidence(hyper, observations) + SAMPLER.prior(hyper)

        return jax.lax.map(one, logs)

    weights = np.asarray(density(grid))
    weights = np.exp(weights - weights.max())
    weights /= weights.sum()
    expected = weights @ grid
    centred = grid - expected
    moments = np.concatenate([expected, (weights[:, None] * centred).T @ centred], axis=None)

    logs = sampled(0)
    products = np.einsum("ni,nj->nij", logs - expected, logs - expected).reshape(len(logs), 4)
    # Neighbouring samples are related, batches of them hardly: errors come from batch means.
    numbers = np.concatenate([logs, products], axis=1)
    batch_means = numbers.reshape(BATCHES, PER_BATCH, 6).mean(axis=1)
    assert_mean(batch_means, moments)
    assert np.all(np.std(batch_means, axis=0) / np.sqrt(BATCHES) < 0.05)  # the margins are small


def test_the_same_key_gives_the_same_samples_and_another_key_others(sampled):
    one = sampled(0)
    np.testing.assert_array_equal(sampled(0), one)
    assert not np.any(np.all(sampled(1) == one, axis=1))


@pytest.mark.parametrize("trend", [Zero(), Linear()], ids=repr)
def test_an_ensemble_is_the_mixture_of_its_members(trend):
    x, y = pulls(repeats=True)
    data = observed(x, y)
    members = [condition(hyper, data, SCALE, trend) for hyper in HYPERS]
    means, deviations = map(np.array, zip(*[m.moments(AT) for m in members], strict=True))
    mean, deviation = ensemble(data, trend).moments(AT)
    np.testing.assert_allclose(mean, means.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(ensemble(data, trend).mean(AT), mean, rtol=1e-12)
    second = np.mean(deviations**2 + means**2, axis=0)  # E f² = E(σ² + μ²)
    np.testing.assert_allclose(deviation, np.sqrt(second - means.mean(axis=0) ** 2), rtol=1e-9)


def test_draws_from_an_ensemble_have_its_moments():
    x, y = pulls(repeats=True)

    @jax.jit
    def draw(keys):
        whole = ensemble(observed(x, y))
        return jax.vmap(lambda key: whole.sample(key, x, features=16)(AT))(keys), whole.moments(AT)

    draws, (mean, deviation) = draw(jax.random.split(jax.random.key(1), 8_000))
    assert_mean(np.asarray(draws), mean)
    assert_mean((np.asarray(draws) - mean) ** 2, deviation**2)


@pytest.mark.parametrize("is_new", [True, False], ids=["new input", "repeated input"])
def test_extending_an_ensemble_equals_conditioning_it(is_new):
    x, y = pulls(repeats=True)
    point = AT[0] if is_new else x[0]

    @jax.jit
    def both(before):
        after = before.add(point, np.float64(4.0))
        return ensemble(before).extend(after), ensemble(after)

    extended, expected = both(observed(x, y))
    np.testing.assert_allclose(extended.whitener, expected.whitener, atol=1e-10)
    assert extended.observations.used == expected.observations.used
    np.testing.assert_allclose(extended.moments(AT), expected.moments(AT), rtol=1e-9)


def test_an_ensemble_is_as_healthy_as_its_worst_member():
    x, y = pulls(repeats=False)
    one = ensemble(observed(x, y))
    assert one.healthy
    bad = dataclasses.replace(one, hyper=one.hyper)
    hyper = eqx.tree_at(lambda h: h.noise, STACK, np.array([0.05, np.nan, 0.01]))
    assert not bad.anew(hyper, observed(x, y), SCALE).healthy


def test_the_model_learns_and_keeps_its_shape():
    x, y = pulls(repeats=True)
    gp = GP(fit=Bayes(samples=3, warmup=20, thinning=1), refit_every=2)
    policy = Policy(VUCB(), gp)
    state = policy.begin(jax.random.key(0), Arms(x), initial=6)
    prior = state.belief
    assert all(isinstance(leaf, np.ndarray | np.generic) for leaf in jax.tree.leaves(prior))
    begun = dataclasses.replace(prior, rewards=observed(x, y))
    update = eqx.filter_jit(learn)
    fitted = update(gp, dataclasses.replace(state, belief=begun, pulls=np.int32(8)))
    assert isinstance(fitted.belief.posterior, Ensemble)
    assert fitted.belief.members == 3
    assert fitted.searched == 8
    assert jax.tree.map(np.shape, fitted.belief) == jax.tree.map(np.shape, prior)
    kept = update(gp, eqx.filter_jit(observe)(fitted, np.int32(11), np.float64(1.0)))
    assert eqx.tree_equal(kept.belief.posterior.hyper, fitted.belief.posterior.hyper)
    assert kept.belief.posterior.observations.count.sum() == len(x) + 1
    again = update(gp, eqx.filter_jit(observe)(kept, np.int32(11), np.float64(1.0)))
    assert not eqx.tree_equal(again.belief.posterior.hyper, fitted.belief.posterior.hyper)


def test_a_kernel_that_is_not_positive_definite_ends_and_is_unhealthy():
    x, y = pulls(repeats=False)
    kernel = Custom(lambda a, b, s: -s * jnp.sum(jnp.abs(a - b)), s=100.0)
    gp = GP(kernel, fit=Bayes(samples=2, warmup=20, thinning=1))
    belief, info = learned(gp, Arms(x), observed(x, y))
    assert not belief.healthy
    assert info.evaluations < 10_000


def test_without_blackjax_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "blackjax", None)
    with pytest.raises(InputError, match=r"pip install windfall\[bayes\]"):
        Bayes()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Bayes(samples=0), "samples is 0; expected a whole number, at least 1"),
        (lambda: Bayes(warmup=5), "warmup is 5; expected a whole number, at least 20"),
        (lambda: Bayes(thinning=0), "thinning is 0"),
        (lambda: Bayes(prior=0.3), "prior is 0.3; expected"),
    ],
)
def test_bad_settings_are_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_the_text_makes_it_again():
    sampler = Bayes(samples=8, prior=LogNormalPrior(noise=(0.1, 1.0)))
    again = eval(repr(sampler))
    assert repr(again) == repr(sampler)
    assert again.prior.terms == sampler.prior.terms
