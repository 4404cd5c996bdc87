"""The likelihood ratio: its mean, what it favours, and the naive formula."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import gaussian_kde, qmc

from windfall.attention.ratio import Domain, direct_ratio, mixture_ratio

SIZE = 128
POINTS = qmc.Sobol(2, rng=0).random_base2(7)
UNIFORM = np.ones(SIZE)
#: A plain with one narrow peak: what rare payoffs look like.
PEAK = np.array([0.7, 0.3])
PEAKED = np.exp(-np.sum((POINTS - PEAK) ** 2, axis=1) / 0.02)


@jax.jit
def direct(mean, prior, resolution=1.0):
    domain = Domain(POINTS, prior)
    return direct_ratio(mean, domain, jnp.asarray(resolution))(domain.points, mean, prior)


@jax.jit
def smooth(mean, prior, resolution=1.0, seed=0):
    domain = Domain(POINTS, prior)
    ratio = mixture_ratio(jax.random.key(seed), mean, domain, jnp.asarray(resolution), 3)
    return ratio(domain.points, mean, prior)


BOTH = pytest.mark.parametrize("ratio", [direct, smooth], ids=["direct", "mixture"])
means = hnp.arrays(float, SIZE, elements=st.floats(-5, 5))
priors = hnp.arrays(float, SIZE, elements=st.floats(0.01, 10))


@BOTH
@given(mean=means, prior=priors, unit=st.sampled_from([1e-12, 1.0, 1e9]))
def test_the_mean_over_the_domain_is_one(ratio, mean, prior, unit):
    w = np.asarray(ratio(unit * mean, prior, unit))
    assert np.all(np.isfinite(w))
    assert np.all(w >= 0)
    assert w.mean() == pytest.approx(1.0, rel=1e-9)


@BOTH
@pytest.mark.parametrize("level", [0.0, 1.0, -1e9])
def test_a_flat_mean_draws_no_attention(ratio, level):
    prior = np.linspace(0.0, 2.0, SIZE)
    noise = 1e-8 * np.random.default_rng(0).random(SIZE)
    for mean in (np.full(SIZE, level), level + noise):
        np.testing.assert_array_equal(ratio(mean, prior, 1.0), 1.0)
    # The same wobble counts where the model can tell such differences.
    assert np.ptp(ratio(noise, prior, 1e-8)) > 0.1


def test_the_direct_ratio_is_the_naive_formula():
    rng = np.random.default_rng(1)
    mean, prior = rng.normal(size=SIZE), rng.random(SIZE)
    density = gaussian_kde(mean, "scott", prior)(mean)
    wanted = prior / density / np.mean(prior / density)
    # Bins err by ¼ (step/h)² φ(0)/h at most (see the density's tests), against densities of at
    # least prior_i φ(0)/h, for their own kernel is among the summands.
    width = np.sqrt(gaussian_kde(mean, "scott", prior).covariance[0, 0])
    step = (np.ptp(mean) + 12 * width) / 1023
    sure = prior / prior.sum() > 1e-3
    tolerance = 0.25 * (step / width) ** 2 / 1e-3
    assert tolerance < 0.2
    found = np.asarray(direct(mean, prior))
    np.testing.assert_allclose(found[sure], wanted[sure], rtol=tolerance)
    # And hardly anywhere as bad as that.
    np.testing.assert_allclose(found, wanted, rtol=0.01, atol=1e-3)


@BOTH
def test_rare_payoffs_draw_attention(ratio):
    w = np.asarray(ratio(PEAKED, UNIFORM))
    near = np.linalg.norm(POINTS - PEAK, axis=1) < 0.1
    far = np.linalg.norm(POINTS - PEAK, axis=1) > 0.4
    assert w[near].min() > 3.0 * w[far].max()


def test_a_rarer_mean_has_a_larger_direct_ratio():
    density = gaussian_kde(PEAKED)(PEAKED)
    w = np.asarray(direct(PEAKED, UNIFORM))
    common, rare = density > np.median(density), density < np.quantile(density, 0.1)
    assert w[rare].min() > w[common].max()


@BOTH
def test_units_of_the_mean_do_not_matter(ratio):
    plain = ratio(PEAKED, UNIFORM)
    np.testing.assert_allclose(ratio(1e6 * PEAKED - 3e7, UNIFORM, 1e6), plain, rtol=1e-4)
    np.testing.assert_allclose(ratio(-PEAKED, UNIFORM), plain, rtol=1e-6)


def test_the_order_of_the_points_does_not_matter():
    order = np.random.default_rng(2).permutation(SIZE)
    prior = np.linspace(0.5, 1.5, SIZE)
    domain = Domain(POINTS[order], prior[order])
    shuffled = direct_ratio(PEAKED[order], domain, np.ones(()))
    np.testing.assert_allclose(shuffled(POINTS, PEAKED, prior), direct(PEAKED, prior), rtol=1e-8)


@BOTH
def test_a_concentrated_prior_moves_the_attention(ratio):
    # A wave has every payoff near every place, so that only the prior says where to look.
    wave, corner = np.sin(30.0 * POINTS.sum(axis=1)), np.array([0.15, 0.85])
    prior = np.exp(-0.5 * np.sum(((POINTS - corner) / 0.1) ** 2, axis=1))
    near = np.linalg.norm(POINTS - corner, axis=1) < 0.2
    before, after = (np.asarray(ratio(wave, p))[near].sum() / SIZE for p in (UNIFORM, prior))
    assert before < 0.2
    assert after > 0.6


def test_points_without_prior_get_no_direct_attention():
    prior = np.where(np.arange(SIZE) < 64, 1.0, 0.0)
    w = np.asarray(direct(PEAKED, prior))
    assert np.all(w[64:] == 0)
    assert np.all(w[:64] > 0)


@given(mean=means, at=st.integers(0, SIZE - 1))
def test_all_prior_mass_on_one_point(mean, at):
    assume(np.ptp(mean) > 1e-3)
    prior = np.eye(SIZE)[at] * SIZE
    np.testing.assert_allclose(direct(mean, prior), prior, rtol=1e-9)
    assert np.all(np.isfinite(smooth(mean, prior)))


#: As many points as LW-UCB has by default, and the same mean as above.
MANY = qmc.Sobol(2, rng=0).random_base2(11)
NARROW = np.exp(-np.sum((MANY - PEAK) ** 2, axis=1) / 0.02)


@jax.jit
def attention(ordered, others):
    unseen = jnp.exp(-jnp.sum((others - PEAK) ** 2, axis=1) / 0.02)
    ratio = mixture_ratio(jax.random.key(0), jnp.asarray(NARROW), ordered, jnp.ones(()), 3)
    return ratio(others, unseen, jnp.ones(len(others)))


def test_half_of_many_points_make_as_likely_a_mixture():
    """At points that neither has seen, weighted by the ratio itself."""
    others = np.random.default_rng(0).random((4000, 2))
    uniform = np.ones(len(MANY))
    half, all_of_them = (
        np.asarray(attention(Domain(MANY, uniform, ordered), others)) for ordered in (True, False)
    )
    mean = np.exp(-np.sum((others - PEAK) ** 2, axis=1) / 0.02)
    weights = direct_ratio(jnp.asarray(mean), Domain(others, np.ones(4000)), jnp.ones(()))(
        others, mean, np.ones(4000)
    )
    likelihood = [np.average(np.log(w), weights=weights) for w in (half, all_of_them)]
    # Two starts of one and the same fit differ by up to 0.2 on the landscapes of the paper.
    assert likelihood[0] > likelihood[1] - 0.1
    assert not np.array_equal(half, all_of_them)


def test_an_input_density_that_is_zero_at_the_first_half_leaves_attention_finite():
    prior = np.where(np.arange(len(MANY)) < 1024, 0.0, 2.0)
    w = np.asarray(attention(Domain(MANY, prior, ordered=True), MANY))
    assert np.all(np.isfinite(w))
    assert w.mean() == pytest.approx(1.0, rel=1e-9)
