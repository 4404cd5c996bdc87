"""LW-UCB: the formula, where the attention is estimated, and its priors."""

import jax
import numpy as np
import pytest
from acquisition.fakes import bumpy_deviation, fake, situation, wavy_mean

from windfall.acquisition.lw import LWUCB, Survey
from windfall.attention.prior import gaussian
from windfall.attention.ratio import Domain, direct_ratio, mixture_ratio
from windfall.errors import InputError
from windfall.space import Arms

KEY = jax.random.key(0)
ARMS = np.random.default_rng(0).random((60, 2))
SPACE = Arms(ARMS, box=[[0.0, 0.0], [1.0, 1.0]])
PEAK = np.array([0.7, 0.3])


def peaked_mean(x):
    return jax.numpy.exp(-jax.numpy.sum((x - PEAK) ** 2, axis=1) / 0.02)


def focus(acquisition, belief):
    return acquisition.focus(KEY, belief, situation(ARMS), acquisition.setup(SPACE))


@pytest.mark.parametrize("components", [0, 2])
def test_is_the_mean_plus_kappa_ratio_deviations(components):
    acquisition = LWUCB(kappa=1.5, components=components, points=128)
    score, domain = focus(acquisition, fake()), acquisition.setup(SPACE).domain
    at_domain, one = np.asarray(wavy_mean(domain.points)), np.ones(())
    if components:
        w = mixture_ratio(KEY, at_domain, domain, one, components)
    else:
        w = direct_ratio(at_domain, domain, one)
    mean = np.asarray(wavy_mean(ARMS))
    ratio = np.asarray(w(ARMS, mean, np.ones(60)))
    np.testing.assert_allclose(score.ratio(ARMS), ratio, rtol=1e-9)
    wanted = mean + 1.5 * ratio * np.asarray(bumpy_deviation(ARMS))
    np.testing.assert_allclose(score(ARMS), wanted, rtol=1e-9)


@pytest.mark.parametrize("components", [0, 4])
def test_attention_goes_to_rare_payoffs_and_is_one_on_average(components):
    score = focus(LWUCB(components=components, points=256), fake(mean=peaked_mean))
    domain = LWUCB(points=256).setup(SPACE).domain
    assert np.mean(score.ratio(domain.points)) == pytest.approx(1.0, rel=1e-9)
    ratio, away = np.asarray(score.ratio(ARMS)), np.linalg.norm(ARMS - PEAK, axis=1)
    assert ratio[away < 0.1].min() > 3.0 * ratio[away > 0.45].max()


def test_the_domain_is_the_box_or_the_arms():
    box = LWUCB(points=100, components=0).setup(SPACE)
    np.testing.assert_array_equal(box.domain.points, SPACE.fill(100))
    np.testing.assert_array_equal(box.domain.prior, 1.0)
    assert box.prior is None  # uniform
    np.testing.assert_array_equal(LWUCB(domain="arms").setup(SPACE).domain.points, SPACE.points)


def test_weights_per_arm_make_the_arms_the_domain():
    weights = np.arange(60.0)
    assert LWUCB(prior=list(weights)).setup(SPACE).prior is None  # a mixture contains it
    direct = LWUCB(components=0, prior=list(weights))
    survey = direct.setup(SPACE)
    assert survey.prior is not None
    np.testing.assert_array_equal(survey.domain.points, SPACE.points)
    np.testing.assert_allclose(survey.domain.prior, weights / weights.mean())
    np.testing.assert_allclose(survey.prior(SPACE.points), survey.domain.prior)
    score = focus(direct, fake())
    ratio = np.asarray(score.ratio(ARMS))
    assert ratio[0] == 0.0  # the arm without weight
    assert np.mean(ratio) == pytest.approx(1.0)


def test_a_prior_sees_features_in_the_users_units():
    arms = 1000.0 * ARMS - 300.0
    space = Arms(arms)
    prior = gaussian([400.0, 0.0], [50.0, 50.0])
    survey = LWUCB(prior=prior, points=128, components=0).setup(space)
    natural = space.natural(survey.domain.points)
    wanted = prior(natural) / prior(natural).mean()
    np.testing.assert_allclose(survey.domain.prior, wanted)
    assert survey.prior is not None
    at_arms = np.asarray(survey.prior(space.points))
    # The arms are on the scale of the domain, though their own mean is another.
    np.testing.assert_allclose(at_arms, prior(arms) / prior(natural).mean(), rtol=1e-6)
    assert abs(at_arms.mean() - 1.0) > 0.01


@pytest.mark.parametrize("components", [0, 2])
def test_a_prior_moves_the_attention(components):
    corner = np.array([0.1, 0.9])

    def wave(x):
        return jax.numpy.sin(30.0 * x.sum(axis=1))

    near = np.linalg.norm(ARMS - corner, axis=1) < 0.25
    shares = []
    for prior in (None, gaussian(corner, 0.1)):
        acquisition = LWUCB(components=components, points=256, prior=prior)
        ratio = np.asarray(focus(acquisition, fake(mean=wave)).ratio(ARMS))
        shares.append(ratio[near].sum() / ratio.sum())
    assert shares[0] < 0.3
    assert shares[1] > 0.6


def test_a_prior_that_does_not_fit_the_arms_is_refused():
    with pytest.raises(InputError, match="expected one weight for each of 60 arms"):
        LWUCB(prior=np.ones(3)).setup(SPACE)
    with pytest.raises(InputError, match="prior is 0 everywhere"):
        LWUCB(prior=gaussian([1e6, 1e6], 1.0)).setup(SPACE)


def test_a_small_difference_counts_only_against_the_models_own_scale():
    """Rounding in the mean of a model whose payoffs vary by 1 is not information."""

    def rounding(x):
        return 1e-9 * x[:, 0]

    def tiny(x):
        return jax.numpy.full(x.shape[0], 1e-9)

    indifferent = focus(LWUCB(components=0), fake(mean=rounding))
    np.testing.assert_array_equal(indifferent.ratio(ARMS), 1.0)
    attentive = focus(LWUCB(components=0), fake(mean=rounding, prior=tiny))
    assert np.ptp(attentive.ratio(ARMS)) > 0.1


def test_the_scale_of_a_kernel_that_vanishes_at_one_point_is_found():
    """A linear kernel is 0 at the origin, which may be the first point of the domain."""

    def linear(x):
        return jax.numpy.sqrt(jax.numpy.sum(x**2, axis=1))

    belief = fake(mean=lambda x: 1e-9 * x[:, 0], prior=linear)
    origin_first = np.concatenate([np.zeros((1, 2)), ARMS])
    survey = Survey(Domain(origin_first, np.ones(61)))
    score = LWUCB(components=0).focus(KEY, belief, situation(ARMS), survey)
    np.testing.assert_array_equal(score.ratio(ARMS), 1.0)
