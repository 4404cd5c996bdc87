"""The exact posterior that is conditioned upon an earlier one, and where there is such a one."""

import dataclasses
from typing import Any

import jax
import numpy as np
import pytest
from models.gp import naive
from models.learning import KEY, condition, search
from rounding import relative_distance, solving

import windfall as wf
from windfall.models.gp import grown, model
from windfall.models.gp.evidence import Hyper, covariance
from windfall.models.gp.grown import Grown
from windfall.models.gp.inducing import some
from windfall.models.gp.kernels import Matern52
from windfall.models.gp.means import Zero
from windfall.models.gp.observations import Observations, Scale
from windfall.models.gp.posterior import Posterior
from windfall.models.gp.room import Sparsity
from windfall.models.gp.sparse import Sparse
from windfall.models.gp.usual import earning_model
from windfall.space import Arms, Context
from windfall.space.joint import Joint

HYPER = Hyper(Matern52([0.3, 0.7], 1.5), np.float64(0.05))
SCALE = Scale(np.float64(0.5), np.float64(2.0))
X, Y = naive.pulls(False, size=16)
AT = np.random.default_rng(3).uniform(size=(7, 2))
CONTEXT = Context({"x": (0.0, 1.0), "y": (0.0, 1.0)})
FRAME = CONTEXT.frame(None)


def named(count: int) -> Joint:
    return Joint(Arms(np.eye(count)), CONTEXT, FRAME)


def nothing(capacity: int = 16) -> Grown:
    observations = Observations.empty(capacity, 2)
    unknown: Any = np.eye(capacity), np.bool_(True), Zero(), np.zeros(capacity)
    return Grown(HYPER, observations, SCALE, *unknown)


def anew(posterior, hyper, data, scale):
    return posterior.anew(hyper, data, scale)


usually = jax.jit(anew)


def on(posterior, used, hyper=HYPER, scale=SCALE, by=usually, **other):
    data = dataclasses.replace(naive.observed(X[:used], Y[:used]), **other)
    return by(posterior, hyper, data, scale)


def rests_on(posterior) -> int:
    return int(np.sum(np.asarray(posterior.earlier) > 0))


def assert_whitens(posterior):
    """W A Wᵀ = I, and predictions are those of all rewards one by one."""
    data, hyper = posterior.observations, posterior.hyper
    matrix = np.asarray(covariance(hyper, data))
    whitener = np.asarray(posterior.whitener)
    assert np.array_equal(whitener, np.tril(whitener))
    rounding = 2 * solving(matrix)
    np.testing.assert_allclose(whitener @ matrix @ whitener.T, np.eye(len(matrix)), atol=rounding)
    n = int(data.used)
    between = naive.gram(hyper.kernel, AT, data.features[:n])
    expected = between @ np.linalg.solve(matrix[:n, :n], data.mean[:n])
    mean, deviation = posterior.moments(AT)
    found = (np.asarray(mean) - posterior.scale.location) / posterior.scale.spread
    assert relative_distance(found, expected) < rounding
    left = hyper.kernel.variance - np.diag(between @ np.linalg.solve(matrix[:n, :n], between.T))
    np.testing.assert_allclose((deviation / posterior.scale.spread) ** 2, left, atol=rounding)


@pytest.mark.parametrize("latest", [3, 4, 64])
def test_built_upon_an_earlier_one_it_is_the_exact_posterior(monkeypatch, latest):
    monkeypatch.setattr(grown, "LATEST", latest)
    own = jax.jit(lambda *given: anew(*given))  # the number is part of a program
    for first in (5, 14):
        earlier = on(nothing(), first, by=own)
        assert rests_on(earlier) == first
        for count in range(first, min(first + 4, 16) + 1):
            later = on(nothing().upon(earlier), count, by=own)
            # With more than there is room for all is made anew.
            assert rests_on(later) == (first if count - first <= latest else count)
            assert bool(later.healthy)
            assert_whitens(later)


def test_built_upon_twice_it_is_the_same_to_the_last_bit():
    """A simulation goes on from the last one, a study from the same earlier one."""
    earlier = on(nothing(), 6)
    direct, after = on(earlier, 9), on(on(earlier, 8), 9)
    for one, other in zip(jax.tree.leaves(direct), jax.tree.leaves(after), strict=True):
        assert np.array_equal(one, other)


def test_nothing_is_built_upon_what_does_not_apply_any_more():
    earlier = on(nothing(), 8)
    repeated = np.where(np.arange(16) < 10, 1.0, 0.0)
    repeated[3] = 2.0
    for case in (
        on(earlier, 10, count=repeated),  # an earlier input was tried again
        on(earlier, 10, hyper=dataclasses.replace(HYPER, noise=np.float64(0.1))),
        on(earlier.forgetting(), 10),
        on(earlier, 6),  # rewards were taken back
    ):
        assert_whitens(case)
        assert rests_on(case) == int(case.observations.used)
    known = np.where(np.arange(16) < 10, 0.2, 0.0)
    other = Scale(np.float64(0.5), np.float64(1.0))  # known noise changes with the units
    exact = on(nothing(), 8, known=np.where(np.arange(16) < 8, 0.2, 0.0))
    assert rests_on(on(exact, 10, known=known)) == 8
    assert rests_on(on(exact, 10, known=known, scale=other)) == 10
    assert_whitens(on(exact, 10, known=known, scale=other))
    with pytest.raises(TypeError, match="nothing can be built upon"):
        Posterior(HYPER, earlier.observations, SCALE, np.eye(16), np.bool_(True), Zero()).upon(
            earlier
        )


def test_an_imagined_reward_is_not_built_upon():
    earlier = on(nothing(), 8)
    more = naive.observed(np.concatenate([X[:8], AT[:1]]), np.append(Y[:8], 2.5))
    imagined = jax.jit(lambda p, o: p.extend(o))(earlier, more)
    assert_whitens(imagined)
    assert rests_on(imagined) == 0
    assert type(imagined) is Grown


def test_few_arms_that_are_mere_names_have_it_beyond_1024_inputs_and_others_a_sparse_one():
    usual = earning_model()
    kinds = [type(usual.begin(named(5), size).posterior) for size in (1024, 2048, 4096)]
    assert kinds == [Posterior, Grown, Sparse]
    others = Joint(Arms(np.linspace(0, 1, 5)[:, None]), CONTEXT, FRAME)
    for space in (others, named(grown.LATEST + 1), Arms(np.eye(5))):
        assert type(usual.begin(space, 2048).posterior) is Sparse
    assert type(wf.GP().begin(named(5), 2048).posterior) is Sparse  # to it they are no names
    few = wf.SparseGP(apiece=Matern52(0.3), inducing=8)
    assert type(few.begin(named(5), 16).posterior) is Sparse
    sampled = wf.GP(apiece=Matern52(0.3), fit=wf.Bayes(samples=2))
    assert isinstance(sampled.begin(named(5), 2048).members, int)


def test_it_becomes_each_other_kind_and_keeps_its_hyper_parameters():
    usual = earning_model()
    belief = usual.begin(named(5), 1024)
    stack = jax.tree.map(lambda *leaves: np.stack(leaves), belief, belief)
    for size in (2048, 3072, 2048, 4096, 1024):
        belief, stack = belief.resized(size), stack.resized(size)
        like = usual.begin(named(5), size)
        assert jax.tree.structure(belief) == jax.tree.structure(like)
        assert jax.tree.map(np.shape, belief) == jax.tree.map(np.shape, like)
        assert [(2, *np.shape(leaf)) for leaf in jax.tree.leaves(like)] == [
            np.shape(leaf) for leaf in jax.tree.leaves(stack)
        ]
        assert belief.dump()["hyper"] == like.dump()["hyper"]


def told(belief, count, seed=0):
    """With rewards of named arms in random contexts, each of which jumps at a place of its own."""
    rng = np.random.default_rng(seed)
    arms, places = rng.integers(5, size=count), rng.uniform(size=(count, 2))
    pays = np.where(places[:, 0] > 0.1 + 0.2 * arms, 50.0, 1.0) + 0.01 * rng.normal(size=count)
    rewards = naive.observed(
        np.concatenate([np.eye(5)[arms], places], axis=1), pays, belief.capacity
    )
    return dataclasses.replace(belief, rewards=rewards), arms, places, pays


def test_beyond_1024_inputs_every_arm_knows_all_that_it_paid():
    """A Gaussian process for each arm alone, in NumPy."""
    usual = earning_model()
    belief, arms, places, pays = told(usual.begin(named(5), 2048), 1100)
    fewer = dataclasses.replace(belief, rewards=_first(belief.rewards, 1050))
    earlier = condition(usual, belief.before(fewer))
    assert rests_on(earlier.posterior) == 1050
    at = np.random.default_rng(1).uniform(size=(4, 2))
    for known in (condition(usual, belief), condition(usual, belief.upon(earlier))):
        posterior = known.posterior
        location, spread = float(posterior.scale.location), float(posterior.scale.spread)
        jumps, trend = usual.apiece.left, usual.apiece.right

        def k(a, b, jumps=jumps, trend=trend):
            apart = np.linalg.norm(a[:, None] - b, axis=-1) / (1.0 + jumps.lengthscale)
            return np.exp(-apart) + trend.slope * (a - 0.5) @ (b - 0.5).T

        noise = float(posterior.hyper.noise)
        for arm in range(5):
            mine = arms == arm
            y = (pays[mine] - location) / spread
            mean, matrix = naive.posterior(k, noise, places[mine], y, at)
            x = np.concatenate([np.tile(np.eye(5)[arm], (4, 1)), at], axis=1)
            found, deviation = known.moments(x)
            rounding = 2 * solving(k(places[mine], places[mine]) + noise * np.eye(mine.sum()))
            np.testing.assert_allclose((found - location) / spread, mean, atol=rounding)
            np.testing.assert_allclose((deviation / spread) ** 2, np.diag(matrix), atol=rounding)


def _first(observations: Observations, count: int) -> Observations:
    live = np.arange(observations.capacity) < count
    kept = {
        name: np.where(live, getattr(observations, name), 0.0)
        for name in ("count", "mean", "squares", "known")
    }
    return dataclasses.replace(observations, **kept, used=np.int32(count))


def test_a_search_rests_on_some_of_the_inputs(monkeypatch):
    monkeypatch.setattr(model, "USUAL", Sparsity(8, 4, grown=64))
    monkeypatch.setattr(model, "FITTED", 10)
    usual = wf.GP(apiece=Matern52(0.3), fit=wf.Fit(restarts=0, iterations=5))
    belief, *_ = told(usual.begin(named(5), 32), 30)
    assert type(belief.posterior) is Grown
    found, _ = search(usual, KEY, belief)
    scaled = usual.scale(belief.rewards).apply(belief.rewards)
    asked, _ = some(scaled, 10)
    expected, _ = jax.jit(usual.fit.infer)(KEY, asked, belief.posterior, np.int32(0))
    pairs = zip(jax.tree.leaves(found.posterior.hyper), jax.tree.leaves(expected), strict=True)
    for one, other in pairs:
        np.testing.assert_allclose(one, other, rtol=1e-6)
    assert int(found.behind) == 30
