"""A belief at a context: the joint belief at joint inputs, and nothing else."""

import jax
import numpy as np
import pytest
from models.learning import AT, KEY, X, learned, observe, predict
from models.learning import SPACE as JOINT

from windfall.acquisition.base import Situation
from windfall.acquisition.windfall import Windfall
from windfall.models.base import Reward
from windfall.models.gp.bayes import Bayes
from windfall.models.gp.kernels import Jumps, Matern52, Part, SquaredExponential, White
from windfall.models.gp.model import GP
from windfall.models.linear import BayesianLinear
from windfall.models.situated import Situated
from windfall.space import Arms
from windfall.space.context import Context
from windfall.space.joint import Joint
from windfall.specs import from_spec, to_spec

#: The second of the two columns is taken for a context.
HERE = X[3, 1:]
MODELS = {
    "gp": GP(),
    "gp-bayes": GP(fit=Bayes(samples=4, warmup=20)),
    "linear": BayesianLinear(features="polynomial"),
}


@pytest.mark.parametrize("name", MODELS)
def test_predictions_are_those_of_the_joint_belief_at_this_context(name):
    inner = learned(MODELS[name])
    belief = jax.jit(Situated.at)(inner, HERE)
    x = AT[:, :1]
    joint = np.c_[x, np.broadcast_to(HERE, x.shape)]
    for mine, theirs in zip(predict(belief, x), predict(inner, joint), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    anchors = JOINT.anchors()[:, :1]
    around = np.c_[anchors, np.broadcast_to(HERE, anchors.shape)]
    path = belief.sample(KEY, anchors, 16)
    np.testing.assert_allclose(path(x), inner.sample(KEY, around, 16)(joint), rtol=1e-9)
    assert belief.dump() == inner.dump() == belief.load(inner.dump()).dump()
    assert belief.members == inner.members
    if inner.members is None:
        assert belief.standing_alone() == (0.0, 0.0)
    else:
        expected = inner.each(lambda one: one.mean(joint))
        np.testing.assert_allclose(belief.each(lambda one: one.mean(x)), expected, rtol=1e-12)


def test_what_was_tried_elsewhere_is_known_by_what_is_expected_of_it_here():
    inner = learned(GP())
    # The first arm again, in another context: one arm more in no sense but the joint one.
    inner = observe(inner, np.array([X[0, 0], 0.123]), Reward(np.float64(9.0)))
    belief = Situated.at(inner, HERE)
    tried, joint = belief.tried, inner.tried
    live = np.asarray(joint.live)
    arms = np.asarray(joint.x)[live, :1]
    np.testing.assert_array_equal(np.asarray(tried.x)[live], arms)
    expected = inner.mean(np.c_[arms, np.broadcast_to(HERE, arms.shape)])
    once = live & (np.arange(len(live)) != 12)  # the arm that comes again counts once
    np.testing.assert_array_equal(tried.live, once)
    np.testing.assert_allclose(np.asarray(tried.reward)[once], expected[:12], rtol=1e-12)
    assert tried.distinct == len({float(arm) for arm in arms[:, 0]}) == joint.distinct - 1
    assert belief.used == inner.used
    here = np.asarray(belief.repeatable.live)
    assert np.asarray(joint.x)[here].tolist() == [X[3].tolist()]


def test_rewards_are_noted_and_imagined_at_this_context():
    inner = learned(GP())
    belief = Situated.at(inner, HERE)
    joint = np.array([AT[0, 0], HERE[0]])
    noted = belief.observe(AT[0, :1], Reward(np.float64(1.0)))
    again = inner.observe(joint, Reward(np.float64(1.0)))
    for mine, theirs in zip(*map(jax.tree.leaves, (noted.inner, again)), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    imagined = belief.imagine(AT[0, :1])
    np.testing.assert_array_equal(
        imagined.moments(AT[:1, :1])[1], inner.imagine(joint).moments(joint[None])[1]
    )
    assert belief.resized(32).capacity == 32


@pytest.mark.parametrize(
    "kernel",
    [
        SquaredExponential([0.3, 0.8]) * Matern52([0.5, 0.2]) + White(0.1),
        Part(Matern52([0.3]), 0, 1) + Part(Matern52([0.7]), 1, 2),
    ],
)
def test_covariances_stay_when_columns_are_stretched(kernel):
    factors = np.array([0.5, 4.0])  # powers of two: exact
    stretched = kernel.stretched(factors)
    np.testing.assert_array_equal(stretched.gram(X * factors, X * factors), kernel.gram(X, X))
    assert stretched.stretched(1.0 / factors) == kernel


def test_length_scales_of_jumps_are_stretched_as_far_as_they_may():
    factors, kernel = np.array([0.9, 0.1]), Jumps([1.0, 2.0])
    stretched = kernel.stretched(factors)
    np.testing.assert_allclose(stretched.lengthscale, [0.8, 5e-3])  # 2 · 0.9 − 1; none below 1
    one = X * [1.0, 0.0]
    np.testing.assert_allclose(stretched.gram(one * factors, one), kernel.gram(one, one / factors))
    assert Jumps(1.0).stretched(factors) == Jumps(1.0)


def test_samples_of_hyper_parameters_are_stretched_one_by_one():
    belief = learned(MODELS["gp-bayes"])
    factors = np.array([0.5, 4.0])
    before = np.asarray(belief.posterior.hyper.kernel.lengthscale)
    after = np.asarray(belief.stretched(factors).posterior.hyper.kernel.lengthscale)
    np.testing.assert_array_equal(after, before * factors)


def test_a_part_of_the_columns_is_seen_by_a_part():
    inside = Matern52(0.4)
    part = Part(inside, 1, 2)
    np.testing.assert_array_equal(part.gram(X, AT), inside.gram(X[:, 1:], AT[:, 1:]))
    np.testing.assert_array_equal(part.diagonal(X), inside.diagonal(X[:, 1:]))
    assert part(X[0], X[1]) == inside(X[0, 1:], X[1, 1:])
    assert part.expanded(2).kernel.lengthscale.shape == (1,)
    assert repr(from_spec(to_spec(part))) == repr(part) == f"Part({inside!r}, 1, 2)"
    features = part.random_features(KEY, 8, X)
    np.testing.assert_array_equal(features(X * [0.0, 1.0]), features(X))


def situated(pulls, here=0.9):
    """Rewards of arms in contexts 0, 1/8, 2/8, …, as seen from another."""
    belief = GP().begin(JOINT, 8)
    for place, (arm, reward) in enumerate(pulls):
        belief = observe(belief, np.array([arm, place / 8]), Reward(np.float64(reward)))
    return Situated.at(GP().condition(belief), np.array([here]))


USUAL = [(0.5, 1.2), (0.1, 1.0), (0.5, 1.2), (0.5, 1.2), (0.5, 1.2)]


@pytest.mark.parametrize(
    ("pulls", "here", "share", "granted"),
    [
        (USUAL, 0.9, 0.3, True),
        (USUAL, 0.25, 0.3, False),  # nothing unusual
        (USUAL, 0.25, 1.1, True),
        (USUAL, 0.9, 0.0, False),
        ([(0.1 * i, 1.0) for i in range(5)], 0.9, 0.3, False),  # no choice was a usual one
        ([(arm, 2.2 - pay) for arm, pay in USUAL], 0.9, 0.3, False),  # another is better here
    ],
)
def test_what_is_taken_for_granted(pulls, here, share, granted):
    assert bool(situated(pulls, here).taken_for_granted(np.float64(share))) == granted


def test_nothing_is_without_contexts():
    belief = situated(USUAL)
    share = np.float64(1.0)
    assert belief.inner.taken_for_granted(share) is None
    assert Situated.at(belief.inner, np.zeros(0)).taken_for_granted(share) is None


def test_a_windfall_stands_alone_only_where_no_contexts_differ():
    """Elsewhere it would be the reason to try everything anew in every context."""
    belief = situated([(0.1, 1.0), (0.2, 1.0), (0.3, 1.0), (0.4, 1.0), (0.9, 50.0)])
    windfall, _ = belief.inner.standing_alone()
    assert windfall > 0.9
    assert belief.standing_alone() == (0.0, 0.0)
    assert Situated.at(belief.inner, np.zeros(0)).standing_alone() == belief.inner.standing_alone()


def test_novel_is_what_was_not_tried_in_this_context():
    belief = situated([(0.5, 1.0), (0.5, 1.2)])
    here = Situated.at(belief.inner, np.array([1 / 8]))
    assert float(here.novelty(np.array([[0.5]]))[0]) == 0.0
    assert float(belief.novelty(np.array([[0.5]]))[0]) > 0.9
    assert int(belief.seen.distinct) == 2
    assert int(belief.tried.distinct) == 1


def named(rewards, here=(0.9, 0.9), model=None):
    """Rewards of three arms that are mere names, in contexts that differ: (arm, reward)."""
    context = Context({"a": (0.0, 1.0), "b": (0.0, 1.0)})
    inputs = Joint(Arms(np.eye(3)), context, context.frame(None))
    model = model or Windfall().model()
    belief, rng = model.begin(inputs, 32), np.random.default_rng(0)
    for arm, reward in rewards:
        joint = np.concatenate([np.eye(3)[arm], rng.uniform(0.3, 0.6, 2)])
        belief = observe(belief, joint, Reward(np.float64(reward)))
    return Situated.at(model.condition(belief), np.array(here))


ORDINARY = [(2, 1.2)] * 7 + [(0, 1.0)] * 6 + [(1, 1.0)] * 6


@pytest.mark.parametrize(
    ("rewards", "rare"), [(ORDINARY, False), ([*ORDINARY, (0, 50.0)], True)], ids=["none", "one"]
)
def test_windfalls_are_rare_once_there_is_one(rewards, rare):
    """1 and 1.2 are alike beside 50, and nothing else is."""
    habit = named(rewards).habit
    assert habit.point.tolist() == [0.0, 0.0, 1.0]
    assert bool(habit.rare) == rare


def test_where_windfalls_are_rare_a_habit_is_doubted_where_it_is_unusual_and_followed_elsewhere():
    pulls = [*ORDINARY, (0, 50.0)]
    policy, situation = Windfall(), Situation(np.int32(20), 3, np.eye(3), np.float64(np.inf))
    (far, far_score), (near, near_score) = (
        (belief, np.asarray(policy.focus(KEY, belief, situation, None)(np.eye(3))))
        for belief in (named(pulls, here) for here in ((0.02, 0.98), (0.45, 0.45)))
    )
    assert far.habit.best
    assert near.habit.best
    assert far_score[2] < 0.0 < far_score[:2].min()
    np.testing.assert_allclose(near_score, near.mean(np.eye(3)), atol=1e-6)


def test_arms_have_no_habit_where_they_have_features_or_a_model_thinks_so():
    assert situated(USUAL).habit is None
    assert named(ORDINARY, model=GP()).habit is None
