"""What each factor does by itself: which factors there are, and what it is worth to know."""

import jax
import numpy as np
import pytest

import windfall as wf
from windfall.models.gp.fit import Fit
from windfall.models.gp.kernels import MainEffects, Matern52, Part, Trend
from windfall.models.gp.model import GP
from windfall.space import Apart, Arms
from windfall.specs import from_spec, to_spec

#: A number, a metal of three, a number.
POINTS = np.array([[x, *np.eye(3)[i % 3], z] for i, (x, z) in enumerate(
    np.random.default_rng(0).uniform(size=(7, 2))
)])  # fmt: skip
METALS = ((1, 2, 3),)


def test_a_choice_is_one_factor_that_agrees_or_not():
    plain = Matern52([0.4, 0.7, 0.7, 0.7, 0.3])
    k = MainEffects(plain, effect=0.6, choices=METALS)
    metal = POINTS[:, 1:4].argmax(axis=1)

    def along(j, scale):  # three factors: each feature's own length scale is shorter by √3
        return np.asarray(Matern52(scale / np.sqrt(3.0)).gram(POINTS[:, [j]], POINTS[:, [j]]))

    alone = along(0, 0.4) + along(4, 0.3) + (metal[:, None] == metal)
    expected = np.asarray(plain.gram(POINTS, POINTS)) + 0.2 * alone
    np.testing.assert_allclose(k.gram(POINTS, POINTS), expected, rtol=1e-12)
    np.testing.assert_allclose(k.diagonal(POINTS), np.diag(expected), rtol=1e-12)


def test_functions_drawn_of_numbers_and_choices_have_its_covariance():
    k = MainEffects(Matern52([0.4, 0.7, 0.7, 0.7, 0.3]), effect=2.0, choices=METALS)
    count = 50_000
    drawn = np.asarray(k.random_features(jax.random.key(0), count, POINTS)(POINTS))
    products = np.einsum("ic,jc->cij", drawn, drawn)
    error = products.std(axis=0) / np.sqrt(count)
    assert np.all(np.abs(products.mean(axis=0) - k.gram(POINTS, POINTS)) <= 5.0 * error)


def test_where_there_is_much_to_look_at_nothing_is_said_one_by_one():
    """In long lists and of many factors; whoever adds arms later keeps what there was."""
    model = GP(kernel=MainEffects(Matern52(0.3), 0.4) + Trend(0.3))

    def alone(space):
        kernel = model.begin(space, 4).posterior.hyper.kernel
        return isinstance(kernel.left, MainEffects)

    rng = np.random.default_rng(0)
    long = rng.random((2**19 + 1, 2))
    assert not alone(Arms(long))
    assert alone(Arms(long[:-1]))
    assert alone(Arms(long, founders=2**19))
    wide = rng.random((3, 33))
    assert not alone(Arms(wide))
    assert alone(Arms(wide[:, :32]))
    assert alone(Arms(np.eye(40)))  # a choice is one factor, however many options it has
    assert alone(wf.Box([0.0], [1.0]))


def test_equal_rewards_are_fitted_to_nothing_in_long_lists_too():
    """The first guess has the form of what a search would find."""
    arms = np.random.default_rng(0).random((3, 33))
    bandit = wf.Bandit(arms, seed=0, initial=1)
    for arm in (0, 1):
        bandit.tell(arm, 1.0)
    assert bandit.ask().arm == 2


def test_a_model_says_which_columns_are_choices():
    model = GP(kernel=MainEffects(Matern52(0.3), 0.4) + Trend(0.3))
    ties = (0, 1, 1, 1, 2)
    assert model.over(5, None, ties).left.choices == METALS
    assert model.over(5, None).left.choices == ()
    assert from_spec(to_spec(model)).kernel.left.choices == ()


def test_a_part_of_the_columns_has_the_choices_in_it():
    both = Part(MainEffects(Matern52(0.3), 0.4), 0, 4) + Part(MainEffects(Matern52(0.3), 0.4), 4, 7)
    joint = both.choosing(((1, 2, 3), (5, 6)))
    assert [part.kernel.choices for part in (joint.left, joint.right)] == [((1, 2, 3),), ((1, 2),)]
    assert repr((2.0 * joint).together()) == repr(
        2.0 * (Part(Matern52(0.3), 0, 4) + Part(Matern52(0.3), 4, 7))
    )


@pytest.mark.parametrize("additive", [False, True])
def test_beside_contexts_nothing_is_said_one_by_one(additive):
    plain, alone = Matern52(0.3) + Trend(0.3), MainEffects(Matern52(0.3), 0.4) + Trend(0.3)
    apart = Apart(columns=4, additive=additive, names=False)
    one, other = (GP(kernel=kernel).over(7, apart, None) for kernel in (plain, alone))
    assert repr(one) == repr(other)


def test_length_scales_follow_the_columns():
    k = MainEffects(Matern52(0.3), 0.4)
    assert k.expanded(2).kernel.lengthscale.tolist() == [0.3, 0.3]
    assert k.expanded(2).stretched(np.array([1.0, 2.0])).kernel.lengthscale.tolist() == [0.3, 0.6]
    assert Part(k, 0, 2).expanded(3).kernel.kernel.lengthscale.tolist() == [0.3, 0.3]


@pytest.mark.parametrize("effects", [False, True])
def test_a_ridge_is_seen_all_along(effects):
    """Three tries on one line and two beside it: the line is expected to pay elsewhere, too.

    A kernel of all features together has forgotten the line where the other feature is far away.
    """
    kernel = Matern52([0.1, 0.3], variance=0.1 if effects else 1.0)
    kernel = MainEffects(kernel, effect=2.0) if effects else kernel
    model = GP(kernel=kernel, noise=1e-4, fit=Fit(restarts=0, iterations=1), refit_every=10**6)
    arms = np.array([[x, z] for x in np.linspace(0, 1, 11) for z in np.linspace(0, 1, 11)])
    bandit = wf.Bandit(arms, policy=wf.Policy(wf.EI(), model), initial=1)
    for x, z in [(0.5, 0.0), (0.5, 0.1), (0.5, 0.2), (0.2, 0.0), (0.8, 0.1)]:
        at = int(np.flatnonzero(np.isclose(arms, [x, z]).all(axis=1))[0])
        bandit.tell(at, float(x == 0.5))
    mean, _ = bandit.posterior(np.array([[0.5, 1.0], [0.2, 1.0]]))
    assert (mean[0] - mean[1] > 0.5) == effects
