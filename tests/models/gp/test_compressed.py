"""Rewards below the median on a logarithmic scale: there, back, and what a model makes of them."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from models.learning import condition, told

import windfall as wf
from windfall.errors import InputError
from windfall.models.gp.compressed import Compressed
from windfall.models.gp.model import GP
from windfall.models.gp.observations import Observations, Scale, natural_scale
from windfall.models.gp.sparse import Sparse
from windfall.runtime.execution import float64
from windfall.space import as_space
from windfall.specs import from_spec, to_spec

#: Eighths, so that no two nearly agree and none is rounded.
REWARDS = st.lists(st.integers(-800, 800), min_size=2, max_size=12, unique=True).map(
    lambda eighths: np.array(eighths) / 8.0
)


def of(rewards) -> tuple[Compressed, Observations]:
    """The scale for rewards, each at an input of its own, with free slots beside them."""
    n, spare = len(rewards), 15 - len(rewards)
    observed = Observations(
        np.arange(n + spare, dtype=float)[:, None],
        np.r_[np.ones(n), np.zeros(spare)],
        np.r_[np.asarray(rewards, float), np.zeros(spare)],
        np.zeros(n + spare),
        np.zeros(n + spare),
        np.int32(n),
    )
    found = scaled(observed)
    assert isinstance(found, Compressed)
    return found, observed


@eqx.filter_jit
def scaled(observed: Observations) -> Scale:
    plain = Compressed.plain(Scale(np.float64(0.0), np.float64(1.0)))
    return plain.anew(observed, natural_scale)


@eqx.filter_jit
def standardised(scale: Compressed, observed: Observations):
    return scale.apply(observed).mean


@eqx.filter_jit
def there_and_back(scale: Compressed, y):
    """The way back of g(y), and of a little more and less; with the deviation that 1 becomes."""
    mean, step = scale.seen(y), 1e-6
    ends = [scale.reward(mean + move, jnp.ones(1)) for move in (0.0, step, -step)]
    return ends[0], (ends[1][0] - ends[2][0]) / (2 * step)


def naive(rewards) -> np.ndarray:
    """The definition, one reward at a time."""
    median, best = np.median(rewards), np.max(rewards)
    size = best - median
    return np.array(
        [y if y >= median else median - size * np.log(1 + (median - y) / size) for y in rewards]
    )


@given(REWARDS)
@float64
def test_what_the_model_sees_is_the_definition_standardised(rewards):
    scale, observed = of(rewards)
    seen = naive(rewards)
    got = np.asarray(standardised(scale, observed))
    unit = np.std(seen)
    np.testing.assert_allclose(got[: len(rewards)] * unit + np.mean(seen), seen, atol=1e-9)
    np.testing.assert_array_equal(got[len(rewards) :], 0.0)


@given(REWARDS, st.floats(-50.0, 50.0))
@float64
def test_the_way_back_is_the_inverse_and_deviations_follow_its_slope(rewards, y):
    scale, _ = of(rewards)
    (back, deviation), slope = there_and_back(scale, jnp.array([y]))
    np.testing.assert_allclose(back, [y], rtol=1e-9, atol=1e-9)
    # At the median the curvature jumps, so that the quotient is off by about 10⁻⁶/c, c ≥ 1/16.
    np.testing.assert_allclose(deviation, slope, rtol=1e-4)


@given(REWARDS, st.floats(0.1, 10.0), st.floats(-5.0, 5.0))
@float64
def test_order_is_kept_and_other_units_of_the_rewards_change_nothing(rewards, factor, shift):
    scale, observed = of(np.sort(rewards))
    mean = np.asarray(standardised(scale, observed))[: len(rewards)]
    assert np.all(np.diff(mean) >= 0)
    other, there = of(factor * np.sort(rewards) + shift)
    # Rewards of up to 10³ are rounded by 10⁻¹³ in the other units, and differ by 10⁻² at least.
    got = np.asarray(standardised(other, there))[: len(rewards)]
    np.testing.assert_allclose(got, mean, atol=1e-9)


@float64
def test_above_the_median_rewards_are_what_they_are():
    scale, _ = of([-1000.0, -10.0, 1.0, 2.0, 3.0])
    np.testing.assert_array_equal(scale.seen(jnp.array([1.0, 2.5, 30.0])), [1.0, 2.5, 30.0])
    back, deviation = scale.reward(jnp.array([1.0, 30.0]), jnp.array([0.2, 0.3]))
    np.testing.assert_array_equal(back, [1.0, 30.0])
    np.testing.assert_array_equal(deviation, [0.2, 0.3])


@pytest.mark.parametrize("rewards", [[7.0], [2.0, 2.0], [0.0, 5.0, 5.0, 5.0]])
@float64
def test_where_most_are_the_best_nothing_is_compressed(rewards):
    scale, observed = of(rewards)
    assert scale.median == -np.inf
    plain = natural_scale(observed)
    np.testing.assert_array_equal(scale.apply(observed).mean, plain.apply(observed).mean)


@float64
def test_what_is_believed_far_below_is_a_number():
    scale, _ = of([0.0, 1.0, 2.0])
    mean, deviation = scale.reward(jnp.array([-1e9]), jnp.ones(1))
    assert np.isfinite(mean)[0]
    assert np.isfinite(deviation)[0]


def valley(x: np.ndarray) -> np.ndarray:
    """From 0 down to −10⁶."""
    return -(10.0 ** (6 * np.abs(x[:, 0] - 0.4))) + 1.0


ARMS = np.linspace(0.0, 1.0, 60)[:, None]


def studied(compress: bool) -> wf.Bandit:
    model = GP(kernel=wf.kernels.Matern52(0.3), compress=compress)
    bandit = wf.Bandit(ARMS, wf.Policy(wf.VUCB(), model), seed=0)
    for arm in range(0, 60, 4):
        bandit.tell(arm, valley(ARMS[arm : arm + 1])[0])
    return bandit


def test_a_study_says_what_is_believed_in_units_of_the_rewards():
    """At what was told, the rewards: from 0 at the top to two thousand below."""
    told, pays = np.arange(0, 60, 4), valley(ARMS)
    mean, deviation = studied(compress=True).posterior()
    np.testing.assert_allclose(mean[told], pays[told], rtol=0.02, atol=0.5)
    assert np.all(deviation[told] < 0.02 * np.abs(pays[told]) + 0.5)
    assert np.ptp(pays[told]) > 1900.0


def test_explanations_and_choices_use_the_same_units():
    bandit = studied(compress=True)
    mean, deviation = bandit.posterior()
    table = bandit.explain()
    np.testing.assert_array_equal(table["mean"], mean)
    np.testing.assert_array_equal(table["std"], deviation)
    choice = bandit.ask()
    assert f"predicted mean {mean[choice.arm]:.4g}" in choice.why


@float64
def test_an_imagined_reward_stays_the_mean_far_below_the_median():
    model, at = GP(kernel=wf.kernels.Matern52(0.3), compress=True), ARMS[57:58]
    belief = told(model.begin(as_space(ARMS), 16), ARMS[::6], valley(ARMS[::6]))
    belief = condition(model, belief)

    @eqx.filter_jit
    def imagined(belief):
        after = belief.imagine(at[0])
        last = after.rewards.mean[after.used - 1]
        (reward,), _ = belief.in_rewards(*belief.moments(at))
        return last, reward, belief.moments(at), after.moments(at)

    last, reward, before, after = imagined(belief)
    assert reward < -1000.0
    np.testing.assert_allclose(last, reward, rtol=1e-9)
    np.testing.assert_allclose(after[0], before[0], rtol=1e-6)
    assert after[1] < before[1]


def test_beside_contexts_and_in_a_sparse_model_rewards_are_as_they_are():
    model = GP(compress=True)
    context = wf.Bandit(ARMS, wf.Policy(wf.VUCB(), model), context=wf.Box([0.0], [1.0]), seed=0)
    for i in range(6):
        context.tell(9 * i, valley(ARMS[9 * i : 9 * i + 1])[0], context=[0.1 * i])
    alike = wf.Bandit(ARMS, wf.Policy(wf.VUCB(), GP()), context=wf.Box([0.0], [1.0]), seed=0)
    for i in range(6):
        alike.tell(9 * i, valley(ARMS[9 * i : 9 * i + 1])[0], context=[0.1 * i])
    for a, b in zip(context.posterior(context=[0.2]), alike.posterior(context=[0.2]), strict=True):
        np.testing.assert_array_equal(a, b)
    sparse = model.begin(as_space(ARMS), 2048)
    assert isinstance(sparse.posterior, Sparse)
    _, observed = of([-1000.0, 0.0, 1.0])
    found = sparse.posterior.units(observed, natural_scale)
    assert isinstance(found, Compressed)
    assert found.median == -np.inf


def test_it_is_a_setting_like_others():
    model = GP(compress=True)
    assert repr(model).endswith("compress=True)")
    assert repr(from_spec(to_spec(model))) == repr(model)
    assert jax.tree.structure(model.begin(as_space(ARMS), 16)) != jax.tree.structure(
        GP().begin(as_space(ARMS), 16)
    )
    with pytest.raises(InputError, match="compress is True with mean="):
        GP(compress=True, mean=wf.means.Constant())
