"""On random posteriors the maximiser is as good as many random points and SciPy's polish."""

import equinox as eqx
import jax
import numpy as np
import pytest
from lapack_calls import batches
from models.gp.believing import studying
from policies import ALL, FEW, small
from scipy.optimize import minimize

from windfall.acquisition.polish import LANES
from windfall.models.gp.bfgs import minimise
from windfall.models.gp.evidence import Hyper
from windfall.models.gp.kernels import SquaredExponential
from windfall.models.gp.observations import Observations
from windfall.policy import Policy, State
from windfall.space import Box
from windfall.study import compiled

ACQUISITIONS = {name: (small(name), 3 if name == "v-ucb" else 2) for name in ALL}


def random_state(policy: Policy, dimension: int, seed: int) -> State:
    """A study whose payoff is a draw from its own prior."""
    rng = np.random.default_rng(seed)
    scales = rng.uniform(0.15, 0.6, dimension)
    hyper = Hyper(SquaredExponential(scales, 1.0), np.float64(1e-4))
    x = rng.uniform(size=(16, dimension))
    gram = np.exp(-0.5 * np.sum(((x[:, None] - x[None]) / scales) ** 2, axis=-1))
    y = np.linalg.cholesky(gram + 1e-9 * np.eye(16)) @ rng.standard_normal(16)
    ones, zeros = np.ones(16), np.zeros(16)
    observations = Observations(x, ones, y, zeros, zeros, np.int32(16))
    space = Box(np.zeros(dimension), np.ones(dimension))
    return studying(policy, space, hyper, observations, seed)


@eqx.filter_jit
def slopes(policy, state, x):
    """Scores and gradients of many points: one program for random points and for the polish."""
    score = policy.score(state)

    def total(x):
        scores = score(x)
        return scores.sum(), scores

    gradients, scores = jax.grad(total, has_aux=True)(x)
    return scores, gradients


@pytest.mark.parametrize("name", ACQUISITIONS)
def test_as_good_as_many_random_points_and_a_polish(name):
    acquisition, dimension = ACQUISITIONS[name]
    policy = Policy(acquisition)
    for seed in range(3):
        state = random_state(policy, dimension, seed)
        chosen, info = compiled.select(policy, state, None, np.int32(0))
        points = np.random.default_rng(seed).uniform(size=(4_000, dimension))
        scores = np.asarray(slopes(policy, state, points)[0])
        start = points[np.argmax(scores)]

        def downhill(x, state=state, points=points):
            value, gradient = slopes(policy, state, np.broadcast_to(x, points.shape))
            return -float(value[0]), -np.asarray(gradient[0])

        end = minimize(downhill, start, jac=True, method="L-BFGS-B", bounds=[(0, 1)] * dimension)
        best, spread = max(scores.max(), -end.fun), scores.max() - np.median(scores)
        assert info.score >= best - 1e-6 * spread
        assert info.search.gradient_norm < 1e-3 * spread
        assert np.all((chosen >= 0) & (chosen <= 1))


@pytest.mark.parametrize("name", FEW)
def test_choosing_on_a_box_has_no_batched_linear_algebra_on_a_cpu(name):
    """Such calls inside loops are what wedges XLA's thread pool; batched products are fine."""
    acquisition, dimension = ACQUISITIONS[name]
    policy = Policy(acquisition)
    state = random_state(policy, dimension, 0)
    score = policy.score(state)
    lanes = np.zeros((LANES, dimension))

    def climbs(score):
        slope = jax.value_and_grad(lambda x: score(x[None])[0])
        return jax.vmap(lambda x: minimise(slope, x))(lanes)

    # Scores are products with the whitener, and the mixture has sums of its own.
    assert batches(climbs, score) == []
