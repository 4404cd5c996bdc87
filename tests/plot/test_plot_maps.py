"""Maps show every arm's number in its place, and the features that tell most arms apart."""

import numpy as np
import pytest
from made_up import made_up
from small_problems import lattice

import windfall as wf
from windfall.plot.maps import _lattice


def played(label: str = "lw-ucb", rounds: int = 6) -> wf.Result:
    rng = np.random.default_rng(0)
    arms = rng.integers(0, 20, (3, rounds))
    arms[:, 0] = 2
    return made_up(19.0 - arms, label, arms=arms)


def test_a_lattice_becomes_an_image_with_every_payoff_in_its_place():
    problem = lattice()
    ax, bar = wf.plot.payoff_map(problem).axes
    (mesh,) = ax.collections
    np.testing.assert_array_equal(mesh.get_array(), np.arange(20.0).reshape(4, 5))
    assert bar.get_ylabel() == "payoff"
    (star,) = ax.lines
    assert (star.get_xdata()[0], star.get_ydata()[0]) == tuple(problem.arms[19])


def test_a_disk_of_grid_points_is_an_image_with_holes():
    problem = wf.problems.load("wheel-0.5")
    ax = wf.plot.payoff_map(problem).axes[0]
    image = ax.collections[0].get_array()
    assert image.shape == tuple(len(np.unique(x)) for x in problem.arms.T)
    assert image.count() == problem.size
    assert len(ax.lines) == 0  # many arms are equally good: no star


def test_scattered_or_repeated_arms_are_not_a_lattice():
    rng = np.random.default_rng(3)
    assert _lattice(rng.uniform(size=(30, 2))) is None
    assert _lattice(np.array([[0, 0], [0, 1], [1, 0], [1, 1], [1, 1.0]])) is None
    assert _lattice(np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]])) is None


def test_scattered_arms_are_dots_of_the_trial_s_payoffs():
    rng = np.random.default_rng(4)
    payoff = rng.normal(size=(2, 12))
    for dimension in (2, 3):
        problem = wf.Problem(arms=rng.uniform(size=(12, dimension)), payoff=payoff)
        ax = wf.plot.payoff_map(problem, trial=1).axes[0]
        up = np.argsort(payoff[1])  # the highest is drawn last, above the others
        np.testing.assert_allclose(ax.collections[0].get_offsets(), problem.arms[up, :2])
        np.testing.assert_array_equal(ax.collections[0].get_array(), payoff[1][up])
        assert "trial 1" in ax.get_title()


def test_a_map_shows_the_features_that_tell_most_arms_apart():
    hot, steps = np.repeat(np.eye(3), 7, axis=0), np.tile(np.arange(7.0), 3)
    names = ["a", "b", "c", "dose", "heat"]
    arms = np.column_stack([hot, steps, steps**2 % 5])
    problem = wf.Problem(arms=arms, payoff=np.arange(21.0), feature_names=names)
    ax = wf.plot.payoff_map(problem).axes[0]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("dose", "heat")
    np.testing.assert_array_equal(ax.collections[0].get_offsets(), arms[:, 3:])
    (star,) = ax.lines
    assert (star.get_xdata()[0], star.get_ydata()[0]) == (6.0, 1.0)


def test_one_feature_is_a_line_in_order():
    problem = wf.Problem(arms=[[2.0], [0.0], [1.0]], payoff=[5.0, 3.0, 4.0], feature_names=["dose"])
    (ax,) = wf.plot.payoff_map(problem).axes
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), [0, 1, 2])
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), [3, 4, 5])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("dose", "payoff")


@pytest.mark.parametrize("quantity", ["ratio", "mean"])
def test_ratio_map_shows_what_a_bandit_with_these_rewards_thinks(quantity):
    problem, result = lattice(), played()
    policy = wf.LWUCB(kappa=1.0, components=2)
    bandit = wf.Bandit(problem.arms, policy, seed=0)
    for arm, reward in [(0, 0.0), (1, 1.0), (2, result.rewards[1, 0])]:
        bandit.tell(arm, reward)  # arm 2 is the best initial one: its noisy reward is known
    for arm, reward in zip(result.arms[1, 1:], result.rewards[1, 1:], strict=True):
        bandit.tell(int(arm), reward)
    ax = wf.plot.ratio_map(result, problem, 1, policy=policy, quantity=quantity).axes[0]
    mesh, rings = ax.collections
    np.testing.assert_allclose(np.ravel(mesh.get_array()), bandit.explain()[quantity])
    visited = np.unique([0, 1, 2, *result.arms[1]])
    np.testing.assert_allclose(rings.get_offsets(), problem.arms[visited])
    assert f"{len(visited)} visited arms" in ax.get_title()
    assert "LW-UCB after round 6 of trial 1" in ax.get_title()


def test_ratio_map_finds_the_policy_by_its_label():
    problem, result = lattice(), played()
    protocol = problem.protocol
    policy = wf.LWUCB(kappa=protocol.kappa, components=protocol.components)
    by_label, given = (
        wf.plot.ratio_map(result, problem, policy=p).axes[0].collections[0].get_array()
        for p in (None, policy)
    )
    np.testing.assert_array_equal(by_label, given)


def test_ratio_map_names_what_does_not_fit():
    problem, result = lattice(), played()
    with pytest.raises(wf.InputError, match="trial is 3; expected a number from 0 to 2"):
        wf.plot.ratio_map(result, problem, 3)
    with pytest.raises(wf.InputError, match="quantity is 'std'"):
        wf.plot.ratio_map(result, problem, quantity="std")
    with pytest.raises(wf.InputError, match="problem is 'cosine' with 2500 arms"):
        wf.plot.ratio_map(result, wf.problems.load("cosine"))
