"""The minimiser against SciPy and known minima."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from windfall.models.gp.bfgs import minimise


def rosenbrock(x):
    return jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def barrier(x):
    """x − log x: infinite for x ≤ 0 (and NaN in its gradient), smallest at 1."""
    return jnp.sum(x - jnp.log(x))


@jax.jit
def search_rosenbrock(start):
    return minimise(jax.value_and_grad(rosenbrock), start, evaluations=500)


@pytest.mark.parametrize("start", [[-1.2, 1.0], [5.0, -3.0], [-1.0, 2.0, 0.5, 3.0]])
def test_rosenbrock_as_well_as_scipy(start):
    solution = minimise(
        jax.value_and_grad(rosenbrock),
        np.array(start),
        evaluations=1000,
        gradient_tolerance=1e-8,
        value_tolerance=0.0,
    )
    reference = optimize.minimize(optimize.rosen, start, jac=optimize.rosen_der, method="BFGS")
    np.testing.assert_allclose(solution.x, reference.x, atol=1e-5)
    assert solution.value <= reference.fun + 1e-12
    assert solution.converged
    assert solution.evaluations <= 3 * reference.nfev


def test_quadratic_is_solved_in_about_as_many_steps_as_dimensions():
    rng = np.random.default_rng(0)
    root = rng.standard_normal((4, 4))
    matrix, target = root @ root.T + np.eye(4), rng.standard_normal(4)

    def bowl(x):
        return 0.5 * (x - target) @ matrix @ (x - target) - 3.0

    solution = minimise(
        jax.value_and_grad(bowl), np.zeros(4), gradient_tolerance=1e-7, value_tolerance=0.0
    )
    np.testing.assert_allclose(solution.x, target, atol=1e-6)
    np.testing.assert_allclose(solution.value, -3.0, rtol=1e-12)
    np.testing.assert_allclose(solution.gradient, 0.0, atol=1e-7)
    assert solution.converged
    assert solution.evaluations <= 40


@settings(max_examples=30)
@given(st.lists(st.floats(-3, 3), min_size=2, max_size=2))
def test_never_ends_above_its_start_and_reports_what_it_found(start):
    start = np.array(start)
    solution = search_rosenbrock(start)
    value, gradient = jax.value_and_grad(rosenbrock)(solution.x)
    assert solution.value <= rosenbrock(start)
    np.testing.assert_allclose(solution.value, value, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(solution.gradient, gradient, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("start", [0.01, 0.5, 30.0])
def test_steps_into_a_region_without_values_are_shortened(start):
    solution = minimise(
        jax.value_and_grad(barrier), np.array([start, 0.05]), gradient_tolerance=1e-8
    )
    np.testing.assert_allclose(solution.x, 1.0, atol=1e-3)
    assert np.isfinite(solution.value)


def test_a_nan_gradient_counts_as_no_value():
    def trap(x):
        # Beyond 2 the value still falls, but the root that goes unused has no gradient there.
        return jnp.sum((x - 3.0) ** 2 + jnp.where(x > 2.0, 0.0, 0.0 * jnp.sqrt(2.0 - x)))

    assert np.isfinite(trap(np.array([2.5])))
    assert np.isnan(jax.grad(trap)(np.array([2.5]))[0])
    solution = minimise(jax.value_and_grad(trap), np.array([0.0]))
    assert 1.9 < solution.x[0] <= 2.0
    assert np.isfinite(solution.gradient).all()


@pytest.mark.parametrize("start", [-1.0, np.nan, np.inf])
def test_a_start_without_a_value_ends_the_search_at_once(start):
    solution = minimise(jax.value_and_grad(barrier), np.array([start]))
    assert solution.value == np.inf
    assert not solution.converged
    assert solution.evaluations == 1
    np.testing.assert_array_equal(solution.x, [start])


def test_a_start_at_the_minimum_is_the_answer():
    solution = minimise(jax.value_and_grad(rosenbrock), np.ones(2))
    assert solution.converged
    assert solution.evaluations == 1
    np.testing.assert_array_equal(solution.x, np.ones(2))


@pytest.mark.parametrize("evaluations", [1, 2, 7])
def test_the_budget_is_kept(evaluations):
    calls = []

    def counted(x):
        jax.debug.callback(lambda: calls.append(1))
        return jax.value_and_grad(rosenbrock)(x)

    solution = minimise(counted, np.array([-1.2, 1.0]), evaluations=evaluations)
    jax.effects_barrier()
    assert solution.evaluations == len(calls) == evaluations
    assert not solution.converged


def test_lanes_searched_together_find_what_each_finds_alone():
    starts = np.array([[-1.2, 1.0], [2.0, 2.0], [np.nan, 0.0], [1.0, 1.0]])
    together = jax.vmap(search_rosenbrock)(starts)
    for lane, start in enumerate(starts):
        alone = search_rosenbrock(start)
        np.testing.assert_allclose(together.x[lane], alone.x, rtol=1e-6)
        assert together.evaluations[lane] == alone.evaluations


def test_a_point_is_evaluated_before_the_search_in_the_lanes_that_ask_for_it():
    slope = jax.value_and_grad(rosenbrock)
    starts, before = np.array([[-1.2, 1.0], [5.0, -3.0]]), np.array([0.5, 0.5])
    lanes = jax.vmap(lambda x, asked: minimise(slope, x, before=(before, asked)))(
        starts, np.array([True, False])
    )
    alone = jax.vmap(lambda x: minimise(slope, x))(starts)
    np.testing.assert_allclose(lanes.before, [rosenbrock(before), np.inf])
    np.testing.assert_array_equal(lanes.evaluations, alone.evaluations)
    for mine, theirs in ((lanes.x, alone.x), (lanes.value, alone.value)):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9)


def test_a_point_without_a_value_before_the_search_is_no_better_than_any():
    solution = minimise(
        jax.value_and_grad(barrier), np.array([2.0]), before=(np.array([-1.0]), True)
    )
    assert solution.before == np.inf
    np.testing.assert_allclose(solution.x, 1.0, atol=1e-4)
