"""What an arm has by itself: where it is modelled, and as what."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from models.gp.believing import believing

import windfall as wf
from windfall.models.gp.evidence import Hyper
from windfall.models.gp.kernels import Matern52, Own, White
from windfall.models.gp.layout import Layout
from windfall.models.gp.model import GP
from windfall.models.gp.observations import Observations
from windfall.models.gp.usual import earning_model
from windfall.space import Arms, Context
from windfall.space.joint import Joint
from windfall.specs import from_spec, to_spec

RNG = np.random.default_rng(0)
POINTS = np.concatenate([RNG.random((9, 2)), [[0.5, 0.5], [0.5, 0.5]]])  # twins


def test_only_the_same_arms_share_it():
    same = [[0.25 * np.array_equal(a, b) for b in POINTS] for a in POINTS]
    np.testing.assert_array_equal(Own(0.25).gram(POINTS, POINTS), same)
    np.testing.assert_array_equal(Own(0.25).diagonal(POINTS), 0.25)
    np.testing.assert_array_equal(White(0.25).gram(POINTS, POINTS), same)


@pytest.mark.parametrize(
    ("arms", "scarce"),
    [
        (RNG.random((99, 2)), True),
        (RNG.random((100, 2)), False),  # ten to each feature
        (RNG.random((999, 4)), True),
        (RNG.random((1000, 4)), False),  # many, however far apart
        (RNG.random((9, 1)), True),
        (RNG.random((20, 40)), True),
        (np.eye(12), False),  # names: options of one choice
        (np.column_stack([np.repeat(np.eye(3), 4, axis=0), RNG.random(12)]), False),
    ],
)
def test_arms_that_are_few_and_far_apart(arms, scarce):
    assert Layout.of(Arms(arms)).scarce is scarce
    begun = GP(kernel=Matern52(0.3), own=0.2).begin(Arms(arms), 4).posterior.hyper.kernel
    assert ("Own" in repr(begun)) is scarce


def test_not_on_a_box_nor_beside_contexts_and_arms_that_come_later_change_nothing():
    assert not Layout.of(wf.Box([0.0], [1.0])).scarce
    assert Layout.of(Arms(RNG.random((150, 2)), founders=50)).scarce
    model, arms = earning_model(), Arms(RNG.random((20, 2)))
    assert "Own" in repr(model.begin(arms, 4).posterior.hyper.kernel)
    context = Context({"load": (0.0, 1.0)})
    joint = Joint(arms, context, context.frame(None))
    assert "Own" not in repr(model.begin(joint, 4).posterior.hyper.kernel)


def test_it_is_saved_and_checked():
    model = GP(kernel=Matern52(0.3), own=0.2)
    assert repr(model).endswith("ard=True, own=0.2)")
    for thing in (model, Own(0.25)):
        assert repr(from_spec(to_spec(thing))) == repr(thing)
    with pytest.raises(wf.errors.InputError, match="own is -1"):
        GP(own=-1)


def told(rewards: dict[int, list[float]]) -> Observations:
    observations = jax.tree.map(jnp.asarray, Observations.empty(16, 2))
    for arm, paid in rewards.items():
        for reward in paid:
            observations = observations.add(POINTS[arm], np.float64(reward))
    return observations


def moments(own, rewards):
    """What is believed of all points, in units of the rewards' spread."""
    hyper = Hyper(Matern52([0.3, 0.3]) + own, np.float64(1e-4))
    return [np.asarray(m) for m in believing(hyper, told(rewards)).moments(POINTS)]


def test_predictions_are_those_of_a_white_kernel_of_this_variance():
    rewards = {0: [1.0], 3: [3.0, 2.0], 5: [-1.0], 9: [0.5]}
    for mine, theirs in zip(moments(Own(0.2), rewards), moments(White(0.2), rewards), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_what_a_neighbour_pays_does_not_settle_an_arm():
    """However often that is pulled, 1.2 − 1²/1.2 of the variance is left; a twin is the same."""
    _, deviation = moments(Own(0.2), {0: [1.0], 9: [-1.0] * 200})
    assert deviation[10] == deviation[9] < 0.02
    beside = believing(
        Hyper(Matern52([0.3, 0.3]) + Own(0.2), np.float64(1e-4)), told({9: [-1.0] * 200})
    ).moments(POINTS[9:10] + 1e-9)[1]
    np.testing.assert_allclose(beside, np.sqrt(1.2 - 1.0**2 / 1.2), rtol=1e-3)
