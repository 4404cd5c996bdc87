"""The sparse model: against the exact one, against its own kernel written out, and in a study."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from models.gp import naive
from models.gp.naive import observed, pulls
from rounding import EPS, relative_distance, solving

from windfall.models.glance import Glance
from windfall.models.gp.evidence import Hyper, covariance
from windfall.models.gp.inducing import NONE, lately, pivots, some
from windfall.models.gp.kernels import Matern52
from windfall.models.gp.lookup import Lookup
from windfall.models.gp.means import Zero
from windfall.models.gp.observations import Scale
from windfall.models.gp.posterior import condition
from windfall.models.gp.sparse import condition_sparse

HYPER = Hyper(Matern52([0.3, 0.7], 1.5), np.float64(0.05))
AS_IT_IS = Scale(np.float64(0.0), np.float64(1.0))
AT = np.random.default_rng(3).uniform(size=(7, 2))
X, Y = pulls(True, size=24)
DATA = observed(X, Y)
DISTINCT = int(DATA.used)


@jax.jit
def sparse(data, chosen):
    return condition_sparse(HYPER, data, AS_IT_IS, Zero(), chosen, len(chosen))


@jax.jit
def ordered(data):
    return pivots(HYPER.kernel, data, data.capacity)


@jax.jit
def moments(posterior, x):
    return posterior.moments(x)


@jax.jit
def carriers(posterior):
    return posterior.carriers()


def carried_by(count):
    """Some of the inputs, and nothing in the other places: one program for all."""
    chosen = np.full(DATA.capacity, NONE, np.int32)
    chosen[:count] = np.asarray(ordered(DATA))[:count]
    return sparse(DATA, chosen)


def written_out(z):
    """The kernel of the sparse model: q(x, x'), and k(x, x) where both are the same input."""

    def k(a, b):
        left, right = (naive.gram(HYPER.kernel, p, z) for p in (a, b))
        q = left @ np.linalg.solve(naive.gram(HYPER.kernel, z, z), right.T)
        same = (a[:, None] == b[None]).all(axis=-1)
        return np.where(same, naive.gram(HYPER.kernel, a, b), q)

    return k


def tolerance(z):
    """Rounding by the condition of both matrices that are inverted."""
    exact = np.linalg.cond(covariance(HYPER, DATA))
    return 2.0 * EPS * len(X) * (np.linalg.cond(naive.gram(HYPER.kernel, z, z)) + exact)


def test_carried_by_all_inputs_it_is_the_exact_model():
    posterior = carried_by(DISTINCT)
    exact = condition(HYPER, DATA, AS_IT_IS)
    everywhere = np.concatenate([AT, X])
    rounding = tolerance(np.asarray(DATA.features)[:DISTINCT])
    for found, expected in zip(
        moments(posterior, everywhere), moments(exact, everywhere), strict=True
    ):
        assert relative_distance(found, expected) < np.sqrt(rounding)  # deviations are roots
    assert posterior.unexplained < rounding
    np.testing.assert_allclose(posterior.misfit(AS_IT_IS), exact.misfit(AS_IT_IS), rtol=rounding)
    np.testing.assert_allclose(posterior.log_density(), exact.log_density(), rtol=rounding)
    top = jnp.argmax(DATA.mean)
    np.testing.assert_allclose(posterior.left_out(top), exact.left_out(top), rtol=rounding)


@pytest.mark.parametrize("count", [1, 4])
def test_carried_by_some_it_is_exact_for_its_own_kernel(count):
    posterior = carried_by(count)
    z = np.asarray(posterior.inducing)[:count]
    k = written_out(z)
    everywhere = np.concatenate([AT, np.unique(X, axis=0)])
    mean, matrix = naive.posterior(k, float(HYPER.noise), X, Y, everywhere)
    found, deviation = moments(posterior, everywhere)
    rounding = tolerance(z)
    assert relative_distance(found, mean) < rounding
    assert relative_distance(deviation**2, np.diag(matrix)) < rounding
    noisy = k(X, X) + HYPER.noise * np.eye(len(X))
    squares, rewards = posterior.misfit(AS_IT_IS)
    assert rewards == len(Y)
    np.testing.assert_allclose(squares, Y @ np.linalg.solve(noisy, Y), rtol=rounding)
    points, count = np.asarray(DATA.features)[:DISTINCT], np.asarray(DATA.count)[:DISTINCT]
    matrix = k(points, points) + np.diag(HYPER.noise / count)
    y = np.asarray(DATA.mean)[:DISTINCT]
    density = -0.5 * (y @ np.linalg.solve(matrix, y) + np.linalg.slogdet(matrix)[1])
    np.testing.assert_allclose(posterior.log_density(), density, rtol=rounding)


def test_left_out_is_the_distance_from_what_the_other_inputs_predict():
    posterior = carried_by(4)
    top = int(jnp.argmax(DATA.mean))
    x = np.asarray(DATA.features)[top]
    here = (x == X).all(axis=1)
    k = written_out(np.asarray(posterior.inducing)[:4])
    expected, _ = naive.posterior(k, float(HYPER.noise), X[~here], Y[~here], x[None])
    found = DATA.mean[top] - posterior.left_out(top)
    np.testing.assert_allclose(found, expected[0], rtol=1e-9)


def test_no_moment_is_above_its_ceiling_and_most_are_near():
    """Of points tried and not, near what carries the model and far from it."""
    points = np.concatenate([X[:DISTINCT], np.random.default_rng(4).uniform(size=(40, 2))])
    look = Glance(points.T.astype(np.float32), np.abs(points).max(axis=0))

    @jax.jit
    def compared(posterior):
        return posterior.moments(points), posterior.ceiling(points, look)

    for count in (5, DISTINCT):
        (mean, deviation), (high, wide) = compared(carried_by(count))
        assert np.all(high >= mean)
        assert np.all(wide >= deviation)
        # Kernels are off by 1e-6 or so, and weights add up to some hundreds.
        np.testing.assert_allclose(high, mean, atol=1e-2)
    # A reward nearby leaves less open than the kernel alone.
    assert np.median(wide) < 0.7 * np.sqrt(HYPER.kernel.variance)


def test_inputs_that_jitter_keeps_apart_from_their_rewards_explain_less():
    """What rounding leaves open of an input of Z is allowed for, or the input is left out."""
    posterior = carried_by(DISTINCT)
    loose = dataclasses.replace(posterior, open=posterior.open + np.float64(1e-8))
    worse = dataclasses.replace(posterior, open=posterior.open + np.float64(1e-3))
    assert carriers(posterior).gap < 1e-5 < carriers(loose).gap < 1e-3
    assert np.all(np.isinf(carriers(worse).noise))
    assert carriers(worse).gap == 0.0


def test_the_more_inputs_carry_it_the_less_is_left_open():
    left = [float(carried_by(count).unexplained) for count in range(1, DISTINCT + 1)]
    assert all(np.diff(left) < 0)
    matrix = naive.gram(HYPER.kernel, np.unique(X, axis=0), np.unique(X, axis=0))
    assert left[-1] < solving(matrix) < left[0] < 1.0


@pytest.mark.parametrize("again", [False, True], ids=["new input", "again"])
def test_one_more_reward_is_the_same_as_conditioning_on_all(again):
    x, y = (X[0], 2.5) if again else (np.array([0.31, 0.77]), 2.5)
    more = jax.tree.map(jnp.asarray, DATA).add(x, y)
    extended = carried_by(4).extend(more)
    expected = sparse(more, carried_by(4).chosen)
    everywhere = np.concatenate([AT, x[None], X])
    for a, b in zip(moments(extended, everywhere), moments(expected, everywhere), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9)


def test_the_pivots_are_those_of_a_plain_cholesky_factorisation():
    """The inputs that paid most first, and then whatever is explained least."""
    x = np.asarray(DATA.features)[:DISTINCT]
    left = naive.gram(HYPER.kernel, x, x)
    favoured = np.argsort(-np.asarray(DATA.mean)[:DISTINCT])[: DATA.capacity // 4]
    expected = []
    for _ in range(DISTINCT):
        variance = np.diag(left).copy()
        urgency = np.where(np.isin(np.arange(DISTINCT), favoured), variance + 1.5, variance)
        urgency[expected] = -np.inf
        i = int(np.argmax(urgency))
        expected.append(i)
        left = left - np.outer(left[:, i], left[i]) / left[i, i]
    found = np.asarray(ordered(DATA))
    assert found[:DISTINCT].tolist() == expected
    assert np.all(found[DISTINCT:] == NONE)


def test_some_inputs_from_first_to_last():
    few = some(DATA, 4)
    assert few.used == 4
    slots = [DISTINCT * i // 4 for i in range(4)]
    np.testing.assert_array_equal(few.mean, np.asarray(DATA.mean)[slots])
    np.testing.assert_array_equal(few.features, np.asarray(DATA.features)[slots])
    every = some(DATA, DATA.capacity)
    for a, b in zip(jax.tree.leaves(every), jax.tree.leaves(DATA), strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_latest_inputs_carry_it_too_unless_they_were_chosen():
    chosen = jnp.array([0, 2], jnp.int32)
    posterior = jax.jit(lambda data: condition_sparse(HYPER, data, AS_IT_IS, Zero(), chosen, 5))(
        DATA
    )
    slots = [0, 2, *(s for s in range(DISTINCT - 3, DISTINCT) if s not in (0, 2))]
    there = np.asarray(posterior.there)
    np.testing.assert_array_equal(
        np.asarray(posterior.inducing)[there], np.asarray(DATA.features)[slots]
    )
    assert lately(chosen, np.int32(1), 3).tolist() == [NONE, NONE, NONE]


def test_the_latest_inputs_do_not_count_as_surprises():
    """The same misfit whichever inputs came last, as long as the same were chosen."""
    chosen = jnp.array([0, 2], jnp.int32)
    alone, with_others = (
        condition_sparse(HYPER, DATA, AS_IT_IS, Zero(), chosen, size).misfit(AS_IT_IS)
        for size in (2, 5)
    )
    rounding = tolerance(np.asarray(DATA.features)[[0, 2]])
    np.testing.assert_allclose(alone, with_others, rtol=rounding)


def test_a_lookup_finds_what_is_there_and_nothing_else():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 3, (40, 3)) / 2.0
    rows[7] = np.nan
    points = np.concatenate([rows, -0.0 * rows[:1], rng.uniform(size=(5, 3))])
    row, there = jax.jit(lambda rows, x: Lookup.of(rows)(x))(rows, points)
    expected = (points[:, None] == rows[None]).all(axis=-1)
    np.testing.assert_array_equal(there, expected.any(axis=1))
    assert np.all(np.argmax(expected, axis=1)[there] == np.asarray(row)[there])
