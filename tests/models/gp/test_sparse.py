"""The sparse model: against the exact one, against its own kernel written out, and in a study."""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from models.gp import naive
from models.gp.naive import observed, pulls
from rounding import EPS, relative_distance, solving

from windfall.models.glance import Glance
from windfall.models.gp import inducing
from windfall.models.gp.evidence import Hyper, covariance
from windfall.models.gp.inducing import NONE, expected, interest, pivots, some
from windfall.models.gp.kernels import Matern52
from windfall.models.gp.means import Zero
from windfall.models.gp.observations import Scale
from windfall.models.gp.posterior import condition
from windfall.models.gp.sparse import condition_sparse
from windfall.models.lookup import Lookup

HYPER = Hyper(Matern52([0.3, 0.7], 1.5), np.float64(0.05))
AS_IT_IS = Scale(np.float64(0.0), np.float64(1.0))
AT = np.random.default_rng(3).uniform(size=(7, 2))
X, Y = pulls(True, size=24)
DATA = observed(X, Y)
DISTINCT = int(DATA.used)


@partial(jax.jit, static_argnums=2)
def sparse(data, chosen, latest=2):
    return condition_sparse(HYPER, data, AS_IT_IS, Zero(), chosen, latest)


@jax.jit
def ordered(data):
    return pivots(HYPER.kernel, data, data.capacity, interest(data.mean))


@jax.jit
def moments(posterior, x):
    return posterior.moments(x)


@jax.jit
def carriers(posterior):
    return posterior.carriers()


def carried_by(count, latest=2):
    """Some of the inputs, and nothing in the other places: one program for all."""
    chosen = np.full(DATA.capacity, NONE, np.int32)
    chosen[:count] = np.asarray(ordered(DATA))[:count]
    return sparse(DATA, chosen, latest)


def written_out(z, early):
    """The kernel of the sparse model: k among what is not early, or the same; else q(x, x')."""

    def k(a, b):
        left, right = (naive.gram(HYPER.kernel, p, z) for p in (a, b))
        q = left @ np.linalg.solve(naive.gram(HYPER.kernel, z, z), right.T)
        same = (a[:, None] == b[None]).all(axis=-1)
        new = [~(p[:, None] == early[None]).all(axis=-1).any(axis=1) for p in (a, b)]
        return np.where(same | (new[0][:, None] & new[1]), naive.gram(HYPER.kernel, a, b), q)

    return k


def early(posterior):
    """The inputs that count as early ones."""
    return np.asarray(DATA.features)[: int(posterior.late.begin)]


def tolerance(z):
    """Rounding by the condition of both matrices that are inverted."""
    exact = np.linalg.cond(covariance(HYPER, DATA))
    return 2.0 * EPS * len(X) * (np.linalg.cond(naive.gram(HYPER.kernel, z, z)) + exact)


def test_carried_by_all_inputs_it_is_the_exact_model():
    posterior = carried_by(DISTINCT)
    exact = condition(HYPER, DATA, AS_IT_IS)
    everywhere = np.concatenate([AT, X])
    rounding = tolerance(np.asarray(DATA.features)[:DISTINCT])
    for found, other in zip(
        moments(posterior, everywhere), moments(exact, everywhere), strict=True
    ):
        assert relative_distance(found, other) < np.sqrt(rounding)  # deviations are roots
    assert posterior.unexplained < rounding
    np.testing.assert_allclose(posterior.misfit(AS_IT_IS), exact.misfit(AS_IT_IS), rtol=rounding)
    np.testing.assert_allclose(posterior.log_density(), exact.log_density(), rtol=rounding)
    top = jnp.argmax(DATA.mean)
    np.testing.assert_allclose(posterior.left_out(top), exact.left_out(top), rtol=rounding)


@pytest.mark.parametrize("latest", [2, 16])
@pytest.mark.parametrize("count", [1, 4])
def test_carried_by_some_it_is_exact_for_its_own_kernel(count, latest):
    posterior = carried_by(count, latest)
    assert max(latest // 4, 1) <= np.sum(posterior.late.live) <= latest // 2
    z = np.asarray(posterior.inducing)[:count]
    k = written_out(z, early(posterior))
    everywhere = np.concatenate([AT, np.unique(X, axis=0)])
    mean, matrix = naive.posterior(k, float(HYPER.noise), X, Y, everywhere)
    found, deviation = moments(posterior, everywhere)
    rounding = tolerance(z)
    assert relative_distance(found, mean) < rounding
    assert relative_distance(deviation**2, np.diag(matrix)) < rounding
    # Surprises are those of one kernel, whatever came last: of the one for which all are early.
    all_early = written_out(z, np.asarray(DATA.features)[:DISTINCT])
    noisy = all_early(X, X) + HYPER.noise * np.eye(len(X))
    squares, rewards = posterior.misfit(AS_IT_IS)
    assert rewards == len(Y)
    np.testing.assert_allclose(squares, Y @ np.linalg.solve(noisy, Y), rtol=rounding)
    points, count = np.asarray(DATA.features)[:DISTINCT], np.asarray(DATA.count)[:DISTINCT]
    matrix = k(points, points) + np.diag(HYPER.noise / count)
    y = np.asarray(DATA.mean)[:DISTINCT]
    density = -0.5 * (y @ np.linalg.solve(matrix, y) + np.linalg.slogdet(matrix)[1])
    np.testing.assert_allclose(posterior.log_density(), density, rtol=rounding)


def test_left_out_is_the_distance_from_what_the_other_inputs_predict():
    posterior = carried_by(4, 16)
    k = written_out(np.asarray(posterior.inducing)[:4], early(posterior))
    for slot in (0, int(posterior.late.begin), DISTINCT - 1):
        x = np.asarray(DATA.features)[slot]
        here = (x == X).all(axis=1)
        expected, _ = naive.posterior(k, float(HYPER.noise), X[~here], Y[~here], x[None])
        found = DATA.mean[slot] - posterior.left_out(jnp.asarray(slot))
        np.testing.assert_allclose(found, expected[0], rtol=1e-9)


def test_no_moment_is_above_its_ceiling_and_most_are_near():
    """Of points tried and not, near what carries the model and far from it."""
    points = np.concatenate([X[:DISTINCT], np.random.default_rng(4).uniform(size=(40, 2))])
    look = Glance(points.T.astype(np.float32), np.abs(points).max(axis=0))

    @jax.jit
    def compared(posterior):
        return posterior.moments(points), posterior.ceiling(points, look)

    for count, latest in ((5, 2), (5, 16), (DISTINCT, 16)):
        (mean, deviation), (high, wide) = compared(carried_by(count, latest))
        assert np.all(high >= mean)
        assert np.all(wide >= deviation)
        # Kernels are off by 1e-6 or so, and weights add up to some hundreds; and an early input
        # that is badly carried does not know what the latest say of it, but no other point is.
        near = high - mean < 1e-2
        assert np.all(near if count == DISTINCT else near[DISTINCT:])
        np.testing.assert_allclose(high, mean, atol=0.3)
    # A reward nearby leaves less open than the kernel alone.
    assert np.median(wide) < 0.7 * np.sqrt(HYPER.kernel.variance)


def test_inputs_that_jitter_keeps_apart_from_their_rewards_explain_less():
    """What rounding leaves open of an input of Z is allowed for, or the input is left out."""
    posterior = carried_by(DISTINCT)
    loose, worse = (
        eqx.tree_at(lambda p: p.sums.open, posterior, posterior.sums.open + np.float64(more))
        for more in (1e-8, 1e-3)
    )
    assert carriers(posterior).gap < 1e-5 < carriers(loose).gap < 1e-3
    latest = len(posterior.late.live)
    assert np.all(np.isinf(carriers(worse).noise[:-latest]))
    assert carriers(worse).gap == 0.0


def test_the_more_inputs_carry_it_the_less_is_left_open():
    left = [float(carried_by(count).unexplained) for count in range(1, DISTINCT + 1)]
    assert all(np.diff(left) <= 0)  # not where the latest input is chosen, which is open to nobody
    matrix = naive.gram(HYPER.kernel, np.unique(X, axis=0), np.unique(X, axis=0))
    assert left[-1] < solving(matrix) < left[0] < 1.0


def test_rewards_that_come_later_are_the_same_as_conditioning_on_all():
    """Again at an early input, at one of the latest, and new ones that make others early."""
    x = [X[0], X[DISTINCT - 1], *np.random.default_rng(5).uniform(size=(5, 2)), X[0]]
    more, before = jax.tree.map(jnp.asarray, DATA), carried_by(4, 8)
    onward = jax.jit(lambda posterior, data: posterior.anew(HYPER, data, AS_IT_IS))
    each = before
    for i, point in enumerate(x):
        more = more.add(point, 2.5 - 0.1 * i)
        each = onward(each, more)
    expected = sparse(more, before.chosen, 8)
    assert each.late.begin > before.late.begin
    everywhere = np.concatenate([AT, *(point[None] for point in x), X])
    # Both what was added one by one, and what was added at once to what was there.
    for found in (each, onward(before, more)):
        for a, b in zip(moments(found, everywhere), moments(expected, everywhere), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9)
        np.testing.assert_allclose(found.log_density(), expected.log_density(), rtol=1e-9)
        np.testing.assert_allclose(found.forms(), expected.forms(), rtol=1e-9)


def test_an_imagined_reward_keeps_the_kernel_even_where_there_is_no_room():
    """Of two new inputs the second counts as an early one; else nothing changes its place."""
    before = carried_by(4, 2)
    more = jax.tree.map(jnp.asarray, DATA)
    for point in AT[:2]:
        more = more.add(point, 2.5)
    extended = before.extend(more)
    assert extended.late.begin == before.late.begin
    assert np.flatnonzero(extended.early).tolist() == [*range(int(before.late.begin)), DISTINCT + 1]
    k = written_out(np.asarray(before.inducing)[:4], np.concatenate([early(before), AT[1:2]]))
    x, y = np.concatenate([X, AT[:2]]), np.concatenate([Y, [2.5, 2.5]])
    mean, matrix = naive.posterior(k, float(HYPER.noise), x, y, AT)
    found, deviation = moments(extended, AT)
    np.testing.assert_allclose(found, mean, rtol=1e-9)
    np.testing.assert_allclose(deviation**2, np.diag(matrix), rtol=1e-9)


def test_sums_of_other_hyper_parameters_are_not_built_upon():
    before, other = carried_by(4), Hyper(Matern52([0.5, 0.4], 1.0), np.float64(0.1))
    anew = jax.jit(lambda p, h, data: p.anew(h, data, AS_IT_IS))
    expected = condition_sparse(other, DATA, AS_IT_IS, Zero(), before.chosen, 2)
    for a, b in zip(
        moments(anew(before.forgetting(), other, DATA), AT), moments(expected, AT), strict=True
    ):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_the_pivots_are_those_of_a_plain_cholesky_factorisation():
    """Whatever is explained least, the more so the more it pays, up to three deviations."""
    x = np.asarray(DATA.features)[:DISTINCT]
    left = naive.gram(HYPER.kernel, x, x)
    weights = np.exp(2.0 * np.minimum(np.asarray(DATA.mean)[:DISTINCT], 3.0))
    plain = []
    for _ in range(DISTINCT):
        urgency = weights * np.diag(left)
        urgency[plain] = -np.inf
        i = int(np.argmax(urgency))
        plain.append(i)
        left = left - np.outer(left[:, i], left[i]) / left[i, i]
    found = np.asarray(ordered(DATA))
    assert found[:DISTINCT].tolist() == plain
    assert np.all(found[DISTINCT:] == NONE)


def test_what_is_expected_of_inputs_is_the_mean_of_the_model_that_a_few_of_them_carry():
    chosen = np.append(np.asarray(ordered(DATA))[:4], NONE).astype(np.int32)
    points = np.asarray(DATA.features)[:DISTINCT]
    mean, _ = naive.posterior(
        written_out(points[chosen[:4]], points), float(HYPER.noise), X, Y, points
    )
    found = jax.jit(partial(expected, HYPER))(DATA, chosen)[:DISTINCT]
    np.testing.assert_allclose(found, mean, rtol=tolerance(points[chosen[:4]]))


def test_of_many_inputs_some_are_asked_whether_they_carry_the_model(monkeypatch):
    """A few by their rewards, and then all by what these lead to expect."""
    monkeypatch.setattr(inducing, "_ASKED", 8)
    few, where = some(DATA, 8)
    first = pivots(HYPER.kernel, few, 1, interest(few.mean))
    second = pivots(HYPER.kernel, few, 4, interest(expected(HYPER, few, first)))
    found = jax.jit(lambda data: inducing.carriers_among(HYPER, data, 4))(DATA)
    np.testing.assert_array_equal(found, np.asarray(where)[np.asarray(second)])


def test_some_inputs_the_best_and_others_from_first_to_last():
    few, where = some(DATA, 4)
    assert few.used == 4
    mean = np.asarray(DATA.mean)[:DISTINCT]
    others = np.delete(np.arange(DISTINCT), np.argmax(mean))
    gaps = [i for i in range(len(others)) if (i + 1) * 3 // len(others) > i * 3 // len(others)]
    slots = np.sort([np.argmax(mean), *others[gaps]])
    np.testing.assert_array_equal(where, slots)
    np.testing.assert_array_equal(few.mean, mean[slots])
    np.testing.assert_array_equal(few.features, np.asarray(DATA.features)[slots])
    every, _ = some(DATA, DATA.capacity)
    for a, b in zip(jax.tree.leaves(every), jax.tree.leaves(DATA), strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_lookup_finds_what_is_there_and_nothing_else():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 3, (40, 3)) / 2.0
    rows[7] = np.nan
    points = np.concatenate([rows, -0.0 * rows[:1], rng.uniform(size=(5, 3))])
    row, there = jax.jit(lambda rows, x: Lookup.of(rows)(x))(rows, points)
    same = (points[:, None] == rows[None]).all(axis=-1)
    np.testing.assert_array_equal(there, same.any(axis=1))
    assert np.all(np.argmax(same, axis=1)[there] == np.asarray(row)[there])
    times = jax.jit(lambda rows, x: Lookup.of(rows).times(x))(rows, points)
    np.testing.assert_array_equal(times, same.sum(axis=1))
    assert not np.any(Lookup.nothing(4, 3)(points)[1])
