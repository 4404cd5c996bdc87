"""A first look in single precision is never below what double precision finds."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from models.gp.believing import believing
from models.gp.naive import observed, pulls

from windfall.models import glance
from windfall.models.glance import UNIT, Glance
from windfall.models.gp.ceiling import Lone, plane_rounding, rounding
from windfall.models.gp.evidence import Hyper
from windfall.models.gp.kernels import (
    Linear,
    MainEffects,
    Matern12,
    Matern32,
    Matern52,
    RationalQuadratic,
    SquaredExponential,
    Trend,
)
from windfall.models.gp.kernels.stationary import squared_distance
from windfall.models.gp.means import Constant
from windfall.models.gp.posterior import condition

KERNELS = [Matern12(0.3), Matern32(0.3), Matern52(0.3), SquaredExponential(0.3),
           RationalQuadratic(0.3, alpha=0.2)]  # fmt: skip
POINTS = np.concatenate([
    np.random.default_rng(0).uniform(-0.2, 1.3, size=(500, 3)), pulls(repeats=False, dimension=3)[0]
])  # fmt: skip
LOOK = Glance(POINTS.T.astype(np.float32), np.abs(POINTS).max(axis=0))


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
def test_correlations_round_by_less_than_is_said(kernel):
    """Also far apart and for tiny length scales; by more than a hundredth of what is said."""

    def among(x, its, profile):
        return profile(squared_distance(jnp.full(x.shape[1], its.lengthscale**-2), x, x))

    @jax.jit
    def looked(scale, x):
        scaled = type(kernel)(**{**vars(kernel), "lengthscale": scale})
        rough = jax.tree.map(lambda a: jnp.asarray(a, jnp.float32), scaled)
        exact = among(x, scaled, scaled.profile)
        off = among(x.astype(jnp.float32), rough, rough.glance) - exact
        same = among(x, scaled, scaled.glance) - exact
        return jnp.max(jnp.abs(off)), rounding(scaled, LOOK), jnp.max(jnp.abs(same))

    looks = [looked(np.float64(scale), POINTS) for scale in (0.001, 0.1, 0.3, 3.0)]
    assert 0.01 < max(off / said for off, said, _ in looks) <= 1.0
    # In double precision a glance is the profile itself: the same error in units that are smaller.
    assert all(same <= said * 2.0**-53 / UNIT for _, said, same in looks)


def test_no_mean_deviation_or_draw_is_above_its_ceiling():
    observations = observed(*pulls(repeats=True, dimension=3))

    @jax.jit
    def compared(noise, lengthscale, used):
        some = dataclasses.replace(observations, used=used)
        belief = believing(Hyper(Matern52(lengthscale), noise), some)
        path = belief.sample(jax.random.key(0), POINTS[:9], 32)
        exact = (*belief.moments(POINTS), path(POINTS))
        bounds = belief.ceiling(POINTS, LOOK)
        assert bounds is not None
        return exact, (*bounds, path.ceiling(LOOK))

    for noise, lengthscale in [(1e-8, 0.3), (1e-2, 2.0), (1.0, 0.05)]:
        exact, ceilings = compared(noise, lengthscale, observations.used)
        for below, above in zip(exact, ceilings, strict=True):
            assert np.all(np.asarray(below) <= np.asarray(above))
    # The last model has much noise: its weights are small, and so is what rounding may do.
    np.testing.assert_allclose(exact[0], ceilings[0], atol=1e-3)
    np.testing.assert_allclose(exact[2], ceilings[2], atol=1e-3)
    # With a single input σ² = k − k²/(k + noise) is no bound but the variance itself.
    (_, deviation, _), (_, wide, _) = compared(0.1, 0.3, np.int32(1))
    np.testing.assert_allclose(deviation**2, wide**2, rtol=0, atol=1e-4)


@pytest.mark.parametrize("accelerator", [False, True])
def test_nothing_is_above_its_ceiling_where_there_is_a_plane_too(monkeypatch, accelerator):
    monkeypatch.setattr(glance, "on_accelerator", lambda: accelerator)
    observations = observed(*pulls(repeats=True, dimension=3))

    @jax.jit
    def compared(noise, slope, used):
        some = dataclasses.replace(observations, used=used)
        belief = believing(Hyper(Matern52(0.3) + Trend(slope), noise), some)
        return belief.moments(POINTS), belief.ceiling(POINTS, LOOK)

    for noise, slope in [(1e-8, 0.3), (1.0, 20.0), (1.0, 1e-3)]:
        exact, ceilings = compared(noise, slope, observations.used)
        for below, above in zip(exact, ceilings, strict=True):
            assert np.all(np.asarray(below) <= np.asarray(above))
    np.testing.assert_allclose(exact[0], ceilings[0], atol=1e-3)
    # With a single input the bound is the variance itself, on either side of the middle.
    (_, deviation), (_, wide) = compared(0.1, 5.0, np.int32(1))
    agrees = belief_covariance(5.0, observations.features[0]) > 0
    np.testing.assert_allclose(deviation[agrees] ** 2, wide[agrees] ** 2, rtol=1e-4, atol=1e-4)


def belief_covariance(slope, x):
    """k(x, ·) over the points; where it is negative one input is not said to explain anything."""
    return np.asarray((Matern52(0.3) + Trend(slope)).gram(x[None], POINTS))[0]


@pytest.mark.parametrize("choices", [(), ((1, 2),), ((0, 1, 2),)])
def test_nothing_is_above_its_ceiling_where_there_are_main_effects_too(choices):
    observations = observed(*pulls(repeats=True, dimension=3))

    @jax.jit
    def compared(noise, effect, slope, used):
        some = dataclasses.replace(observations, used=used)
        kernel = MainEffects(Matern52([0.3, 0.2, 0.6], 1.3), effect, choices) + Trend(slope)
        belief = believing(Hyper(kernel, noise), some)
        return belief.moments(POINTS), belief.ceiling(POINTS, LOOK)

    for noise, effect, slope in [(1e-8, 1.0, 0.3), (1.0, 50.0, 1e-3), (1.0, 1e-3, 1e-3)]:
        exact, ceilings = compared(noise, effect, slope, observations.used)
        for below, above in zip(exact, ceilings, strict=True):
            assert np.all(np.asarray(below) <= np.asarray(above))
    np.testing.assert_allclose(exact[0], ceilings[0], atol=1e-3)
    # With a single input the bound is the variance itself, where the covariance is not negative.
    (_, deviation), (_, wide) = compared(0.1, 3.0, 1e-3, np.int32(1))
    kernel = MainEffects(Matern52([0.3, 0.2, 0.6], 1.3), 3.0, choices) + Trend(1e-3)
    agrees = np.asarray(kernel.gram(observations.features[:1], POINTS))[0] > 0
    assert agrees.sum() > 100
    np.testing.assert_allclose(deviation[agrees] ** 2, wide[agrees] ** 2, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("choices", [(), ((1, 2),)])
def test_main_effects_round_by_less_than_is_said(choices):
    def off(scale):
        kernel = MainEffects(Matern52(np.full(3, scale), 1.0), 6.0, choices)
        lone = Lone.of(kernel, 3)
        rough = jax.tree.map(lambda a: jnp.asarray(a, jnp.float32), kernel.kernel)

        def looked(x):
            input = jnp.asarray(x, jnp.float32)
            apart = [rough.lengthscale[j] ** -2 * (input[j] - LOOK.x[j]) ** 2 for j in range(3)]
            return lone.look(rough, apart, input, LOOK)

        alone = kernel.gram(POINTS, POINTS) - kernel.kernel.gram(POINTS, POINTS)
        with jax.enable_x64(True):
            found = jax.vmap(looked)(POINTS)
            said = lone.rounding(kernel.kernel, LOOK)
        return np.max(np.abs(np.asarray(found, float) - alone)) / float(said)

    found = [off(scale) for scale in (0.01, 0.3, 3.0)]
    assert 0.01 < max(found) <= 1.0


def test_a_plane_rounds_by_less_than_is_said():
    def products(x):
        return Trend(1.0).gram(x, x)

    off = np.abs(products(POINTS.astype(np.float32)).astype(np.float64) - products(POINTS))
    assert 0.01 < np.max(off) / plane_rounding(LOOK) <= 1.0


def test_where_rounding_is_unknown_nothing_is_promised():
    observations = observed(*pulls(repeats=False, dimension=3))

    @jax.jit
    def looked():
        noise = np.float64(0.1)
        kernels = (Linear(1.0), Matern52(0.3) + 1.0)
        beliefs = [believing(Hyper(kernel, noise), observations) for kernel in kernels]
        level = condition(Hyper(Matern52(0.3), noise), observations, None, Constant())
        path = level.sample(jax.random.key(0), POINTS[:9], 8)
        return *(belief.ceiling(POINTS, LOOK) for belief in beliefs), path.ceiling(LOOK)

    assert looked() == (None, None, None)
