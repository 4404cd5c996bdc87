"""Arms that are mere names: each has a function of the context for itself."""

import jax
import numpy as np
import pytest
from models.learning import KEY, condition, observe, predict, search

from windfall.models.base import Reward
from windfall.models.gp.evidence import Hyper
from windfall.models.gp.kernels import Jumps, Matern52, Trend
from windfall.models.gp.model import GP
from windfall.models.gp.observations import Scale
from windfall.models.gp.posterior import condition as conditioned
from windfall.models.gp.usual import earning_model
from windfall.space import Apart, Arms, Categorical, Context, Parameters
from windfall.space.joint import Joint
from windfall.specs import from_spec, to_spec

CONTEXT = Context({"x": (0.0, 1.0), "y": (0.0, 1.0)})
FRAME = CONTEXT.frame(None)
NAMES = Joint(Arms(np.eye(3)), CONTEXT, FRAME)
RNG = np.random.default_rng(0)
ARMS = RNG.integers(3, size=14)
PLACES = RNG.uniform(size=(14, 2))
REWARDS = np.where(PLACES[:, 0] > 0.5, 5.0 * ARMS, 1.0) + 0.1 * RNG.normal(size=14)
AT = RNG.uniform(size=(6, 2))


def told(model: GP):
    belief = model.begin(NAMES, 16)
    for arm, place, reward in zip(ARMS, PLACES, REWARDS, strict=True):
        x = np.concatenate([np.eye(3)[arm], place])
        belief = observe(belief, x, Reward(np.float64(reward)))
    return belief


@pytest.mark.parametrize("model", [earning_model(), GP(apiece=Matern52(0.3))])
def test_an_arm_knows_what_it_paid_and_nothing_of_the_others(model):
    belief, _ = search(model, KEY, told(model))
    belief = condition(model, belief)
    posterior, kernel = belief.posterior, belief.posterior.hyper.kernel
    own = Hyper(kernel.left.kernel.variance * kernel.right.kernel, posterior.hyper.noise)
    for arm in range(3):
        mine = arm == ARMS
        alone = GP().begin(Arms(PLACES), int(mine.sum()))
        for place, reward in zip(PLACES[mine], REWARDS[mine], strict=True):
            alone = observe(alone, place, Reward(np.float64(reward)))
        scale = Scale(posterior.scale.location, posterior.scale.spread)
        expected = conditioned(own, alone.rewards, scale).moments(AT)
        x = np.concatenate([np.tile(np.eye(3)[arm], (6, 1)), AT], axis=1)
        _, *found, prior = predict(belief, x)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6)
        np.testing.assert_allclose(prior, scale.spread * np.sqrt(own.kernel.diagonal(AT)))


@pytest.mark.parametrize(("windfalls", "fitted"), [(1, False), (4, True)])
def test_few_windfalls_are_neither_noise_nor_spikes(windfalls, fitted):
    """Of fourteen rewards one is too little to fit anything to, and four are not."""
    model = earning_model()
    belief = model.begin(NAMES, 16)
    for i, (arm, place) in enumerate(zip(ARMS, PLACES, strict=True)):
        x = np.concatenate([np.eye(3)[arm], place])
        reward = Reward(np.float64(50.0 if i < windfalls else 1.0 + 1e-3 * i))
        belief = observe(belief, x, reward)
    found, info = search(model, KEY, belief)
    guess = model.ignorance(belief.rewards, NAMES.apart)
    pairs = zip(jax.tree.leaves(found.posterior.hyper), jax.tree.leaves(guess), strict=True)
    assert all(np.allclose(mine, other) for mine, other in pairs) != fitted
    assert bool(info.evaluations > 1) == fitted


def test_only_arms_that_are_one_choice_are_mere_names():
    names = Apart(3, False, True)
    assert NAMES.apart == names
    for other in ([[0.0], [1.0]], [[0, 1, 0.3], [1, 0, 0.7]], [[1, 0, 1, 0], [0, 1, 0, 1]]):
        assert not Joint(Arms(other), CONTEXT, FRAME).apart.names
    # A region is searched between its options, where nothing would be like anything.
    assert not Joint(Parameters({"a": Categorical(["u", "v"])}), CONTEXT, FRAME).apart.names
    assert not Joint(Arms(np.eye(3)), None, Context(["x"]).frame(None)).apart


def test_other_arms_have_the_kernel_that_they_had():
    model = GP(kernel=Matern52(0.3), apiece=Jumps(1.0))
    assert model.over(5, None) is model.kernel
    assert model.over(5, Apart(3, False)) is model.kernel
    plain = GP(kernel=Matern52(0.3))
    assert model.over(5, Apart(3, True, True)) == plain.over(5, Apart(3, True))
    assert plain.over(5, Apart(3, False, True)) is plain.kernel


def test_it_is_part_of_a_spec_and_of_the_text():
    model = GP(kernel=Matern52(0.3), apiece=Jumps(1.0) + Trend(0.3))
    assert repr(model).endswith("apiece=Jumps(lengthscale=1.0) + Trend(slope=0.3))")
    assert repr(from_spec(to_spec(model))) == repr(model)
    assert "apiece" not in repr(GP())
