"""What every model promises, whatever it is made of.

A new model is put through all of it by one line in ``MODELS``.
"""

import json
import math
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from models.gp.test_sampling import assert_mean
from models.learning import (
    AT,
    DEVIATION_ROUNDING,
    KEY,
    MEAN_ROUNDING,
    SPACE,
    X,
    Y,
    assert_same,
    condition,
    learned,
    observe,
    predict,
    search,
    told,
)

from windfall.errors import InputError
from windfall.models.base import Model, Reward
from windfall.models.gp.bayes import Bayes
from windfall.models.gp.model import GP
from windfall.models.gp.sparse_model import SparseGP
from windfall.models.linear import BayesianLinear

MODELS: dict[str, Model] = {
    "gp": GP(),
    "gp-sparse": SparseGP(inducing=8),
    "gp-compressed": GP(compress=True),
    "gp-bayes": GP(fit=Bayes(samples=4, warmup=20)),
    "linear": BayesianLinear(features="polynomial"),
}


def before_any_reward_there_is_a_healthy_belief_in_host_arrays(model):
    belief = model.begin(SPACE, 16)
    assert all(isinstance(leaf, np.ndarray | np.generic) for leaf in jax.tree.leaves(belief))
    assert belief.capacity in (16, None)
    assert belief.tried.distinct == 0
    assert belief.tried.best == -np.inf
    assert belief.healthy
    assert belief.trouble() is None
    assert all(np.all(np.isfinite(a)) for a in predict(belief, AT))


@eqx.filter_jit
def one_draw(belief):
    """A function of the belief at all points, and at one of them."""
    path = belief.sample(KEY, SPACE.anchors(), 64)
    return path(AT), path(AT[2:3])


def predictions_are_one_number_for_each_point(model):
    belief = learned(model)
    for answer in (*predict(belief, AT), one_draw(belief)[0]):
        assert answer.shape == (7,)
        assert answer.dtype == np.float64
        assert np.all(np.isfinite(answer))
    mean, again, deviation, prior = predict(belief, AT)
    np.testing.assert_allclose(mean, again, rtol=1e-12)
    assert np.all(deviation > 0)
    assert np.all(prior > 0)
    assert belief.healthy
    assert belief.trouble() is None
    if belief.members is not None:
        np.testing.assert_allclose(
            belief.each(lambda one: one.mean(AT)).mean(axis=0), mean, rtol=1e-9
        )


def a_reward_is_only_noted_until_the_belief_is_conditioned(model):
    belief = learned(model)
    noted = observe(belief, AT[0], Reward(np.float64(100.0)))
    assert noted.tried.distinct == belief.tried.distinct + 1
    for before, after in zip(predict(belief, AT), predict(noted, AT), strict=True):
        np.testing.assert_array_equal(before, after)
    assert predict(condition(model, noted), AT)[0][0] > predict(belief, AT)[0][0]


def rewards_pull_the_mean_and_shrink_the_deviation(model):
    belief = learned(model)
    mean, _, deviation, prior = predict(belief, X)
    before = predict(model.begin(SPACE, 16), X)[0]
    assert np.std(mean - Y) < 0.5 * np.std(Y)
    assert np.mean((mean - Y) ** 2) < np.mean((before - Y) ** 2)
    assert np.all(deviation < prior)
    fewer = condition(model, with_rewards(model, belief, X[:6], Y[:6]))
    assert np.all(predict(fewer, X[6:12])[2] > deviation[6:12])


def with_rewards(model, belief, x, y):
    """The belief's hyper-parameters and other rewards, not yet conditioned on."""
    return told(model.begin(SPACE, 16).load(belief.dump()), x, y)


def an_imagined_reward_keeps_the_mean_and_shrinks_the_deviation(model):
    belief = learned(model)
    imagined = eqx.filter_jit(lambda belief, x: belief.imagine(x))(belief, AT[0])
    mean, _, deviation, _ = predict(belief, AT)
    after, _, left, _ = predict(imagined, AT)
    if belief.members is None:
        np.testing.assert_allclose(after, mean, rtol=0, atol=MEAN_ROUNDING * np.abs(Y).max())
        assert np.all(left <= deviation + DEVIATION_ROUNDING * np.abs(Y).max())
    else:
        # Members move by gains 0 < g < 1 towards the common mean: |cov(g, μ)| ≤ σ(g)σ(μ) ≤ σ/2.
        assert np.all(np.abs(after - mean) <= 0.5 * deviation)
    assert left[0] < 0.9 * deviation[0]


def room_makes_no_difference(model):
    belief = learned(model)
    larger = belief.resized(32)
    assert belief.capacity is None or larger.capacity == 32
    smaller = larger.resized(16)
    assert jax.tree.map(np.shape, smaller) == jax.tree.map(np.shape, belief)
    more = [observe(one, AT[0], Reward(np.float64(1.0))) for one in (belief, larger, smaller)]
    for other in (larger, smaller):
        assert_same(belief, other)
        assert_same(condition(model, belief), condition(model, other))
    assert_same(condition(model, more[0]), condition(model, more[1]))
    assert_same(condition(model, more[0]), condition(model, more[2]))


def hyper_parameters_survive_json_to_the_last_bit(model):
    belief = learned(model)
    text = json.dumps(belief.dump(), allow_nan=False)
    again = told(model.begin(SPACE, 16)).load(json.loads(text))
    assert json.dumps(again.dump()) == text
    expected = predict(condition(model, belief), AT)
    for a, b in zip(predict(condition(model, again), AT), expected, strict=True):
        np.testing.assert_array_equal(a, b)


def what_is_loaded_replaces_what_was_found(model):
    """A study loads another worker's hyper-parameters over those that it found itself."""
    fresh = told(model.begin(SPACE, 16))
    found, _ = search(model, KEY, fresh)
    others = search(model, KEY, told(model.begin(SPACE, 16), X, Y[::-1]))[0].dump()
    assert others != found.dump()
    first, second = (condition(model, belief.load(others)) for belief in (fresh, found))
    jax.tree.map(np.testing.assert_array_equal, first, second)


def nonsense_is_not_loaded(model):
    belief, saved = learned(model), learned(model).dump()
    bad: list[Any] = [None, 3, "text", [1.0]]
    for key in saved:
        bad.append({k: v for k, v in saved.items() if k != key})
        bad += [{**saved, key: wrong} for wrong in (None, "text", math.nan, [[["x"]]])]
    if jax.tree.leaves(saved):
        bad.append(jax.tree.map(lambda _: math.nan, saved))
        bad.append(jax.tree.map(lambda _: math.inf, saved))
    for wrong in bad:
        with pytest.raises(InputError) as error:
            belief.load(wrong)
        assert "\n" not in str(error.value)


def rounds_run_in_a_loop_of_a_compiled_program(model):
    """The same as one by one; the search, too, is one of the loop's steps."""

    @eqx.filter_jit
    def looped(belief):
        def body(i, belief):
            belief = belief.observe(jnp.asarray(X)[i], Reward(jnp.asarray(Y)[i]))
            found, _ = model.search(jax.random.fold_in(KEY, i), belief)
            return model.condition(jax.lax.cond(i == 5, lambda: found, lambda: belief))

        return jax.lax.fori_loop(0, 8, body, jax.tree.map(jnp.asarray, belief))

    belief = told(model.begin(SPACE, 16), X[:6], Y[:6])
    found, _ = search(model, jax.random.fold_in(KEY, 5), belief)
    expected = condition(model, told(found, X[6:8], Y[6:8]))
    together = looped(model.begin(SPACE, 16))
    np.testing.assert_array_equal(together.tried.x, expected.tried.x)
    # The search is another program with other rounding, which an optimiser or a chain amplifies:
    # the deviations are an independent check that the loop learned, not a copy of it.
    loaded = condition(model, with_rewards(model, together, X[:8], Y[:8]))
    assert_same(together, loaded)
    assert np.all(np.abs(predict(together, AT)[0] - predict(expected, AT)[0]) < 1.0)


def a_stack_of_beliefs_is_learned_from_together(model):
    stretches = [(X[:8], Y[:8]), (X[4:12], 3.0 * Y[4:12])]
    begun = model.begin(SPACE, 16).load(learned(model).dump())
    apart = [told(begun, *stretch) for stretch in stretches]
    stack = jax.tree.map(lambda *leaves: jnp.stack(leaves), *apart)

    @eqx.filter_jit
    def together(stack):
        def one(belief):
            belief = model.condition(belief)
            return *belief.moments(AT), belief.sample(KEY, SPACE.anchors(), 16)(AT)

        return jax.vmap(one)(stack)

    for larger in (stack, stack if begun.capacity is None else stack.resized(32)):
        mean, deviation, draws = together(larger)
        for i, belief in enumerate(apart):
            conditioned = condition(model, belief)
            expected = predict(conditioned, AT)
            size = 3.0 * np.abs(Y).max()
            np.testing.assert_allclose(mean[i], expected[0], rtol=0, atol=MEAN_ROUNDING * size)
            atol = DEVIATION_ROUNDING * size
            np.testing.assert_allclose(deviation[i], expected[2], rtol=0, atol=atol)
            assert np.all(np.isfinite(draws[i]))


def draws_are_functions_with_the_beliefs_moments(model):
    belief = learned(model)

    @eqx.filter_jit
    def draw(keys):
        return jax.lax.map(
            lambda key: belief.sample(key, SPACE.anchors(), 64)(AT), keys, batch_size=250
        )

    draws = np.asarray(draw(jax.random.split(KEY, 4000)))
    mean, _, deviation, _ = predict(belief, AT)
    assert_mean(draws, mean)
    assert_mean((draws - mean) ** 2, deviation**2)
    together, alone = one_draw(belief)
    np.testing.assert_allclose(together[2:3], alone, rtol=1e-9)


def the_best_reward_and_the_number_of_inputs_are_kept(model):
    belief = learned(model)
    means = {tuple(x): Y[(x == X).all(axis=1)].mean() for x in X}
    tried = belief.tried
    assert tried.distinct == len(means) == 12
    assert float(tried.best) == pytest.approx(max(means.values()), rel=1e-12)
    kept = zip(np.asarray(tried.x), np.asarray(tried.reward), np.asarray(tried.live), strict=True)
    for x, reward, live in kept:
        assert not live or reward == pytest.approx(means[tuple(x)], rel=1e-12)
    again = observe(belief, X[0], Reward(np.float64(1e3), np.float64(9.0)))
    assert again.tried.distinct == 12
    best = (9.0 * 1e3 + means[tuple(X[0])]) / 10.0
    assert float(again.tried.best) == pytest.approx(best, rel=1e-12)


def the_same_key_gives_the_same_search(model):
    belief = told(model.begin(SPACE, 16))
    (first, info), (again, _) = (search(model, KEY, belief) for _ in range(2))
    assert first.dump() == again.dump()
    assert np.isfinite(info.objective)
    assert info.evaluations >= 0
    assert info.converged.dtype == bool


def predictions_follow_the_units_of_the_rewards(model):
    """Four times the rewards, exactly so in binary, and later a shift: so do the predictions."""
    belief = learned(model)
    four, _ = search(model, KEY, told(model.begin(SPACE, 16), X, 4.0 * Y))
    moved = condition(model, with_rewards(model, belief, X, 4.0 * Y - 7.0))
    mean, _, *deviations = predict(belief, AT)
    for other, shift in ((condition(model, four), 0.0), (moved, -7.0)):
        its_mean, _, *its_deviations = predict(other, AT)
        np.testing.assert_allclose(its_mean, 4.0 * mean + shift, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(its_deviations, 4.0 * np.array(deviations), rtol=1e-5)


CHECKS: list[Callable[[Model], None]] = [
    before_any_reward_there_is_a_healthy_belief_in_host_arrays,
    predictions_are_one_number_for_each_point,
    a_reward_is_only_noted_until_the_belief_is_conditioned,
    rewards_pull_the_mean_and_shrink_the_deviation,
    an_imagined_reward_keeps_the_mean_and_shrinks_the_deviation,
    room_makes_no_difference,
    hyper_parameters_survive_json_to_the_last_bit,
    what_is_loaded_replaces_what_was_found,
    nonsense_is_not_loaded,
    rounds_run_in_a_loop_of_a_compiled_program,
    a_stack_of_beliefs_is_learned_from_together,
    draws_are_functions_with_the_beliefs_moments,
    the_best_reward_and_the_number_of_inputs_are_kept,
    the_same_key_gives_the_same_search,
    predictions_follow_the_units_of_the_rewards,
]
