"""The binned kernel density against SciPy's exact sum of Gaussians."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import gaussian_kde

from windfall.attention.density import check_bandwidth, estimate
from windfall.errors import InputError

BANDWIDTHS = ["scott", "silverman", 0.15, 1.0]
UNIT = np.ones(20)


def sample(seed: int, size: int = 300) -> np.ndarray:
    """Two bumps and a few far values: what a posterior mean over a domain looks like."""
    rng = np.random.default_rng(seed)
    return np.concatenate(
        [rng.normal(0.0, 1.0, size // 2), rng.normal(4.0, 0.5, size - size // 2 - 3), [8, 9, 9]]
    )


def binning_error(density) -> float:
    """The most that bins can do to a kernel density of this bandwidth.

    Sharing a mass between two bins moves it by at most step²/4 in variance, hence the density by
    step²/8 · max|φ''|, and interpolating the table does the same once more; max|φ_h''| = φ(0)/h³.
    """
    step, width = float(density.step), float(density.bandwidth)
    return 0.25 * (step / width) ** 2 * 0.39894229 / width


@pytest.mark.parametrize("bandwidth", BANDWIDTHS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", [0, 1])
def test_agrees_with_scipy(bandwidth, weighted, seed):
    values = sample(seed)
    weights = np.random.default_rng(seed).gamma(0.5, size=300) if weighted else np.ones(300)
    exact = gaussian_kde(values, bandwidth, weights if weighted else None)
    density = estimate(jnp.asarray(values), jnp.asarray(weights), bandwidth)

    assert float(density.bandwidth) == pytest.approx(np.sqrt(exact.covariance[0, 0]), rel=1e-10)
    reach = 7.0 * float(density.bandwidth)
    at = np.concatenate([values, np.linspace(values.min() - reach, values.max() + reach, 997)])
    found, wanted = np.asarray(density(jnp.asarray(at))), exact(at)
    tolerance = binning_error(density)
    assert tolerance < 0.01 * wanted.max()  # or the comparison would say nothing
    np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance + 2e-8 * wanted.max())


@pytest.mark.parametrize("bandwidth", [*BANDWIDTHS, 1e-2, 1e-9])  # the last is finer than the bins
def test_integrates_to_one(bandwidth):
    density = estimate(jnp.asarray(sample(2)), jnp.ones(300), bandwidth)
    ends = float(density.start), float(density.start + 1023 * density.step)
    grid = jnp.linspace(*ends, 1023 * 4 + 1)  # the nodes of the piecewise linear table are in it
    assert np.trapezoid(density(grid), grid) == pytest.approx(1.0, abs=1e-5)


numbers = hnp.arrays(float, 20, elements=st.floats(-10, 10))


@given(values=numbers, at=numbers, shift=st.floats(-100, 100), scale=st.floats(1e-6, 1e6))
def test_follows_a_change_of_units(values, at, shift, scale):
    assume(np.ptp(values) > 0.1)
    plain = estimate(jnp.asarray(values), jnp.asarray(UNIT))
    moved = estimate(jnp.asarray(scale * (values + shift)), jnp.asarray(UNIT))
    found = scale * np.asarray(moved(jnp.asarray(scale * (at + shift))))
    wanted = np.asarray(plain(jnp.asarray(at)))
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-7 * plain.table.max())


@given(values=numbers, at=numbers, scale=st.floats(1e-6, 1e6))
def test_mirror_images_and_total_weight_do_not_matter(values, at, scale):
    assume(np.ptp(values) > 0.1)
    weights = np.linspace(0.1, 2.0, 20)
    plain = estimate(jnp.asarray(values), jnp.asarray(weights))
    mirror = estimate(jnp.asarray(-values), jnp.asarray(scale * weights))
    np.testing.assert_allclose(
        mirror(jnp.asarray(-at)), plain(jnp.asarray(at)), rtol=1e-6, atol=1e-7 * plain.table.max()
    )


def test_far_from_all_values_the_floor_holds():
    density = estimate(jnp.asarray(sample(3)), jnp.ones(300))
    peak = float(jnp.max(density.table))
    far = np.asarray(density(jnp.asarray([-1e9, -50.0, 80.0, 1e9])))
    assert np.all(far >= 1e-8 * peak)
    assert np.all(far <= 3e-8 * peak)


def test_the_largest_values_do_not_reach_round_to_the_smallest():
    """The Fourier product is periodic; a gap between bulk and windfall must stay empty."""
    values = np.concatenate([np.linspace(0.0, 1.0, 299), [30.0]])
    density = estimate(jnp.asarray(values), jnp.ones(300), 0.2)
    exact = gaussian_kde(values, 0.2)
    at = 30.0 + np.linspace(-4.0, 4.0, 9) * float(density.bandwidth)
    tolerance = binning_error(density) / 300 + 2e-8 * float(density.table.max())
    np.testing.assert_allclose(density(jnp.asarray(at)), exact(at), rtol=0, atol=tolerance)


@pytest.mark.parametrize(
    ("values", "weights"),
    [
        (np.r_[np.zeros(19), 1.0], UNIT),  # coinciding values
        (np.arange(20.0), np.eye(20)[7]),  # one value carries all the mass
        (np.r_[np.linspace(0, 1, 19), 1e9], UNIT),  # one value far away
        (1e9 + np.linspace(0, 1e-3, 20), UNIT),  # a large offset
        (1e-12 * np.arange(20.0), UNIT),
    ],
)
def test_stays_finite_and_positive(values, weights):
    density = estimate(jnp.asarray(values), jnp.asarray(weights))
    found = np.asarray(density(jnp.asarray(values)))
    assert np.all(np.isfinite(found))
    assert np.all(found > 0)
    assert float(density.table.sum() * density.step) == pytest.approx(1.0, abs=1e-4)


def test_a_bandwidth_rule_is_checked():
    assert check_bandwidth("scott") == "scott"
    assert check_bandwidth(1) == 1.0
    for wrong in ("epanechnikov", 0.0, -1.0, np.nan, np.inf, None, True, np.ones(2)):
        with pytest.raises(InputError, match=r"^bandwidth is .*; expected 'scott'"):
            check_bandwidth(wrong)
