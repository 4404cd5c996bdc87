"""Twenty thousand points against plain NumPy, and against blocks (see ``many_points``)."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from many_points import MANY, assert_all_points_count, uniform
from models.gp import naive
from models.gp.naive import observed, pulls

from windfall.models.base import Reward
from windfall.models.gp import kernels as k
from windfall.models.gp import means
from windfall.models.gp.evidence import Hyper, log_evidence
from windfall.models.gp.observations import Observations
from windfall.models.gp.posterior import condition

NOISE = np.float64(0.05)


def stretched(dimension: int) -> np.ndarray:
    return np.eye(dimension) + 0.3 * np.random.default_rng(7).standard_normal((dimension,) * 2)


def mahalanobis(dimension: int) -> k.Kernel:
    matrix = stretched(dimension)
    return k.Custom(lambda a, b: jnp.exp(-0.5 * jnp.sum((matrix @ (a - b)) ** 2)))


def rotated_linear(dimension: int) -> k.Kernel:
    """k = (Ma)·(Mb): its diagonal is just what is miscompiled."""
    matrix = stretched(dimension)
    return k.Custom(lambda a, b: jnp.dot(matrix @ a, matrix @ b))


KERNELS = {
    "squared exponential": lambda d: k.SquaredExponential(np.linspace(0.3, 0.7, d), 1.5),
    "matern 5/2": lambda d: k.Matern52(0.5),
    "composite": lambda d: k.Periodic(0.6, 0.8) + k.Linear(0.5) * k.Matern32(0.4) + k.White(0.1),
    "mahalanobis": mahalanobis,
    "rotated linear": rotated_linear,
}


def data(dimension: int):
    return pulls(repeats=True, dimension=dimension) if dimension < 4 else scattered(dimension)


def scattered(dimension: int):
    rng = np.random.default_rng(3)
    return rng.uniform(size=(12, dimension)), rng.standard_normal(12)


@pytest.mark.parametrize(
    ("name", "dimension"),
    [(name, 3) for name in KERNELS] + [("mahalanobis", 6), ("rotated linear", 5)],
)
def test_moments_and_mean_are_the_formulas(name, dimension):
    kernel, (x, y), at = KERNELS[name](dimension), data(dimension), uniform(dimension)
    location, spread = naive.scale(x, y)
    posterior = condition(Hyper(kernel, NOISE), observed(x, y))
    mean, deviation = jax.jit(lambda p: posterior.moments(p))(at)
    matrix = np.asarray(kernel.gram(x, x)) + NOISE * np.eye(len(x))
    few = jax.jit(lambda p: (kernel.gram(p, x), kernel.diagonal(p)))
    parts = [few(at[i : i + 1000]) for i in range(0, MANY, 1000)]
    cross, prior = (np.concatenate(part) for part in zip(*parts, strict=True))
    cross = cross.T
    solved = np.linalg.solve(matrix, cross)
    variance = prior - np.sum(cross * solved, axis=0)
    # Solving loses eps·cond(A); A has noise 0.05 and trace of about 30, cond(A) < 1e3. A variance
    # is a difference of numbers of size prior, and its root doubles what is relative.
    loss = 1e3 * np.finfo(float).eps * np.linalg.cond(matrix)
    expected = location + spread * ((y - location) / spread @ solved)
    np.testing.assert_allclose(mean, expected, atol=loss * np.abs(y).max())
    np.testing.assert_allclose((deviation / spread) ** 2, variance, atol=loss * prior.max())
    np.testing.assert_allclose(
        jax.jit(lambda p: posterior.mean(p))(at), mean, atol=loss * np.abs(y).max()
    )


@pytest.mark.parametrize("name", ["squared exponential", "composite", "rotated linear"])
def test_a_draw_is_the_same_function_at_many_points(name):
    x, y = data(3)
    posterior = condition(Hyper(KERNELS[name](3), NOISE), observed(x, y))
    path = posterior.sample(jax.random.key(0), uniform(3)[:20], features=24)
    # White noise is cos(ω·x) with ω of 1e9: a rounding of ω·x in its last bit moves the phase by
    # 1e9·eps ≈ 2e-7, in each of the features.
    rtol = 1e-5 if name == "composite" else 1e-9
    assert_all_points_count(lambda points: path(points), uniform(3), rtol=rtol)


def test_mean_functions():
    x, y = data(3)
    matrix = stretched(3)

    def hills(features):  # written over columns, as jaxlib 0.10.2 gets it wrong
        return jnp.sum((matrix @ features.T) ** 2, axis=0)

    for mean in (means.Linear(), means.Function(hills)):
        hyper = Hyper(k.SquaredExponential(0.4), NOISE)
        posterior = condition(hyper, observed(x, y), None, mean)
        assert_all_points_count(lambda p, known=posterior: known.moments(p), uniform(3))


def known(reward: float, variance: float) -> Reward:
    return Reward(np.float64(reward), variance=np.float64(variance))


def test_known_noise():
    x, y = data(3)
    observations = jax.tree.map(jnp.asarray, Observations.empty(16, 3))
    for point, reward in zip(x, y, strict=True):
        observations = observations.observe(point, known(reward, 0.04))
    posterior = condition(Hyper(k.Matern52(0.5), np.float64(1e-4)), observations)
    assert_all_points_count(lambda p: posterior.moments(p), uniform(3))


def test_evidence_where_the_matrix_has_more_entries_than_that():
    """160 inputs make 25,600 pairs."""
    rng = np.random.default_rng(0)
    x, y = rng.uniform(size=(160, 3)), rng.standard_normal(160)
    hyper = Hyper(mahalanobis(3), np.float64(0.1))
    found = float(jax.jit(log_evidence)(hyper, observed(x, y, 160)))
    moved = x @ stretched(3).T
    matrix = np.exp(-0.5 * np.sum((moved[:, None] - moved[None]) ** 2, axis=-1)) + 0.1 * np.eye(160)
    expected = -0.5 * (
        y @ np.linalg.solve(matrix, y) + np.linalg.slogdet(matrix)[1] + 160 * np.log(2 * np.pi)
    )
    assert found == pytest.approx(expected, rel=1e-9)
