"""The highest of many scores: the same arm whether all are computed or only those that may win."""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from acquisition.fakes import situation
from models.gp.believing import believing
from models.gp.naive import observed, pulls
from policies import ALL, DIRECT, small

from windfall.acquisition import highest as module
from windfall.acquisition.base import Score
from windfall.acquisition.highest import glanced, highest
from windfall.models import glance
from windfall.models.glance import Glance
from windfall.models.gp.evidence import Hyper
from windfall.models.gp.kernels import Matern52
from windfall.space import Arms

ARMS = np.random.default_rng(0).uniform(size=(300, 3))
LOOK = Glance.blocks(ARMS, 64)  # the last two of five blocks overlap


ORDER = np.argsort(ARMS[:, 0])
PLACES = ARMS[ORDER, 0]


class Table(Score):
    """Scores of listed arms, by their first feature, and ceilings too high by ``loose``."""

    places: jax.Array
    values: jax.Array
    loose: jax.Array
    asked: list = eqx.field(static=True, default_factory=list)

    def __call__(self, x):
        jax.debug.callback(lambda rows: self.asked.append(len(rows)), x)
        return self.values[jnp.searchsorted(self.places, x[:, 0])]

    def ceiling(self, x, glance):
        np.testing.assert_equal(x.shape, glance.x.T.shape)
        at = jnp.searchsorted(self.places, x[:, 0])
        return self.values[at] + self.loose[at]


def table(values, loose=0.0) -> Table:
    loose = np.broadcast_to(loose, len(values))
    return Table(*map(jnp.asarray, (PLACES, values[ORDER], loose[ORDER])))


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(module, "_FEW", 16)
    monkeypatch.setattr(module, "_MANY", 64)


@pytest.fixture(params=["cpu", "accelerator"])
def device(request, monkeypatch):
    """A first look as on a CPU, or as where all arms are looked at at once; all on the CPU."""
    for part in (module, glance):
        monkeypatch.setattr(part, "on_accelerator", lambda: request.param == "accelerator")
    return request.param


def both(device, score, avoid=None):
    """With a first look and without."""
    return _both(device, score.values, score.loose, avoid)


@partial(jax.jit, static_argnums=0)
def _both(device, values, loose, avoid):
    del device  # another program
    score = Table(jnp.asarray(PLACES), values, loose)
    return [highest(score, ARMS, look, avoid) for look in (LOOK, None)]


def test_the_best_is_found_and_few_scores_are_computed(device):
    values = np.random.default_rng(1).normal(size=300)
    score = table(values, np.random.default_rng(2).uniform(0, 0.3, 300))
    found = highest(score, ARMS, LOOK)
    jax.effects_barrier()
    assert int(found.arm) == values.argmax()
    assert float(found.score) == values.max()
    may_win = np.flatnonzero(values + 0.3 >= values.max())
    if device == "cpu":
        assert sum(score.asked) <= 16 * (1 + -(-len(may_win) // 16))
    else:  # the highest of each 64th arm, as often as one of them has an arm that may win
        assert sum(score.asked) <= 64 * (1 + np.bincount(may_win % 64).max()) < 300


@pytest.mark.parametrize("loose", [0.0, 0.5, np.inf, np.nan])
def test_of_equals_the_first_wins_and_of_arms_to_avoid_the_least_avoided(device, loose):
    values = np.minimum(np.random.default_rng(1).normal(size=300), 1.5)  # there are ties
    best = np.flatnonzero(values == values.max())
    assert len(best) > 1
    for score in (table(values, loose), table(-np.full(300, 1e300), loose)):
        found, plain = both(device, score)
        assert int(found.arm) == int(plain.arm) == np.argmax(np.asarray(score(ARMS)))
    score = table(values, loose)
    for avoid in (ARMS[best], np.concatenate([ARMS, ARMS[best], np.full((2, 3), np.nan)])):
        found, plain = both(device, score, avoid)
        rest = np.setdiff1d(np.arange(300), best)
        assert int(found.arm) == int(plain.arm) == rest[np.argmax(values[rest])]
        assert bool(found.valid)


def test_trials_side_by_side_each_find_their_own_best(device):
    """As on an accelerator, where one may need more turns than another."""
    values = np.random.default_rng(1).normal(size=(3, 300))
    loose = np.outer([0.0, 0.3, 5.0], np.random.default_rng(2).uniform(size=300))
    found = jax.vmap(lambda *trial: _both(device, *trial, None)[0])(
        values[:, ORDER], loose[:, ORDER]
    )
    np.testing.assert_array_equal(found.arm, values.argmax(axis=1))
    np.testing.assert_array_equal(found.score, values.max(axis=1))


@pytest.mark.parametrize("loose", [0.0, np.inf])
def test_what_is_not_available_never_wins(device, loose):
    values = np.random.default_rng(1).normal(size=300)
    among = np.random.default_rng(3).random(300) < 0.1
    available = np.flatnonzero(among)
    for avoided in (0, 3, len(available)):
        avoid = ARMS[available[:avoided]] if avoided else None
        left = available[avoided:] if avoided < len(available) else available
        for look in (LOOK, None):
            arm = int(highest(table(values, loose), ARMS, look, avoid, among).arm)
            assert arm == left[np.argmax(values[left])]
            hopeless = table(np.where(among, -np.inf, values), loose)
            assert int(highest(hopeless, ARMS, look, avoid, among).arm) in left


def test_scores_that_are_not_numbers_are_noticed(device):
    values = np.random.default_rng(1).normal(size=300)
    values[250] = np.nan
    for found in both(device, table(values)):
        assert not bool(found.valid)
    values[250] = -np.inf
    for found in both(device, table(values, 1.0)):
        assert bool(found.valid)
        assert int(found.arm) == values.argmax()


@pytest.fixture(scope="module")
def belief():
    observations = observed(*pulls(repeats=True, dimension=3))
    return jax.jit(believing)(Hyper(Matern52(0.5), np.float64(0.05)), observations)


@pytest.mark.parametrize("name", ALL)
def test_a_policy_chooses_the_arm_that_all_scores_lead_to(name, belief):
    acquisition = small(name)
    setup = acquisition.setup(Arms(ARMS, box=[[0.0] * 3, [1.0] * 3]))

    @jax.jit
    def run(belief):
        score = acquisition.focus(jax.random.key(0), belief, situation(ARMS, round=5), setup)
        ceilings = score.ceiling(ARMS, Glance(ARMS.T.astype(np.float32), LOOK.reach))
        return score(ARMS), ceilings, highest(score, ARMS, LOOK)

    scores, ceilings, found = run(belief)
    assert (ceilings is None) == (name == "mean")  # which is as quick as its ceiling would be
    assert ceilings is None or np.all(scores <= ceilings)
    assert int(found.arm) == np.argmax(scores)
    np.testing.assert_allclose(found.score, np.max(scores), rtol=1e-12)


def test_attention_to_rare_means_has_no_ceiling(belief):
    def look(belief):
        score = DIRECT.focus(jax.random.key(0), belief, situation(ARMS), DIRECT.setup(Arms(ARMS)))
        return score.ceiling(ARMS[:64], Glance(LOOK.x[0], LOOK.reach))

    assert jax.eval_shape(look, belief) is None


def test_a_few_arms_are_not_looked_at_first():
    assert glanced(ARMS) is None
