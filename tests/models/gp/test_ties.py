"""One length scale for the one-hot columns of a choice."""

import itertools

import jax
import numpy as np
import pytest
from models.gp.fitting import search
from models.gp.naive import observed, standardised
from models.learning import KEY, observe
from models.learning import search as search_with

from windfall.models.base import Reward
from windfall.models.gp.evidence import Hyper
from windfall.models.gp.fit import Fit
from windfall.models.gp.kernels import Jumps, Matern52, Part
from windfall.models.gp.model import GP
from windfall.models.gp.priors import LogNormalPrior
from windfall.models.gp.ties import comparable, gathered, spread
from windfall.space import Arms, Categorical, Context, Integer, Parameters, Real
from windfall.space.joint import Joint

TIES = (0, 1, 1, 1)


def hot(*widths: int) -> np.ndarray:
    rows = itertools.product(*(np.eye(width) for width in widths))
    return np.array([np.concatenate(row) for row in rows])


def test_spreading_undoes_gathering_and_leaves_the_rest_alone():
    hyper = Hyper(Matern52([0.2, 0.3, 0.3, 0.3], 2.0) + Matern52(0.7), np.float64(0.1))
    few = gathered(hyper, TIES)
    np.testing.assert_array_equal(few.kernel.left.lengthscale, [0.2, 0.3])
    assert (few.kernel.right.lengthscale, few.noise) == (0.7, 0.1)
    for a, b in zip(jax.tree.leaves(spread(few, TIES)), jax.tree.leaves(hyper), strict=True):
        np.testing.assert_array_equal(a, b)
    assert gathered(hyper, None) is hyper
    assert spread(hyper, None) is hyper


def test_a_part_has_the_groups_of_its_own_columns():
    """Arms with a number and a choice of three, then a context that is a choice of two."""
    ties = (0, 1, 1, 1, 2, 2)
    arms, context = Part(Matern52([0.2, 0.3, 0.3, 0.3]), 0, 4), Part(Jumps([0.7, 0.7]), 4, 6)
    hyper = Hyper(arms * context, np.float64(0.1))
    few = gathered(hyper, ties)
    np.testing.assert_array_equal(few.kernel.left.kernel.lengthscale, [0.2, 0.3])
    np.testing.assert_array_equal(few.kernel.right.kernel.lengthscale, [0.7])
    for a, b in zip(jax.tree.leaves(spread(few, ties)), jax.tree.leaves(hyper), strict=True):
        np.testing.assert_array_equal(a, b)
    # A prior compares length scales; that of a choice means √12 as much.
    like = comparable(few, ties)
    np.testing.assert_allclose(like.kernel.left.kernel.lengthscale, [0.2, 0.3 / np.sqrt(12)])
    np.testing.assert_allclose(like.kernel.right.kernel.lengthscale, [0.7 / np.sqrt(12)])


@pytest.mark.parametrize("additive", [True, False])
def test_choices_share_a_length_scale_beside_a_context_of_its_own(additive):
    arms = Arms(hot(3))
    context = Context({"kind": Categorical(["a", "b"])}, additive=additive)
    inputs = Joint(arms, context, context.frame(None))
    assert inputs.ties == (0, 0, 0, 1, 1)
    model = GP(kernel=Matern52(0.5), contexts=Jumps(), fit=Fit(restarts=1, iterations=8))
    belief = model.begin(inputs, 16)
    rng = np.random.default_rng(0)
    for place, row in enumerate(hot(3, 2)):
        belief = observe(belief, row, Reward(np.float64(rng.normal() + place)))
    found, _ = search_with(model, KEY, belief)
    kernel = found.posterior.hyper.kernel
    left, right = kernel.left.kernel.lengthscale, jax.tree.leaves(kernel.right.kernel)[0]
    assert len(set(np.asarray(left).tolist())) == len(set(np.asarray(right).tolist())) == 1
    assert (left.shape, right.shape) == ((3,), (2,))


@pytest.mark.parametrize(
    ("arms", "ties"),
    [
        (hot(2, 3), (0, 0, 1, 1, 1)),
        (np.column_stack([np.linspace(0, 1, 6), hot(2, 3)]), (0, 1, 1, 2, 2, 2)),
        (np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), None),  # two switches
        (hot(3)[:2], (0, 0, 1)),  # the third column is 0 in both: two are a choice without it
        (np.random.default_rng(0).uniform(size=(9, 3)), None),
        (2.0 * hot(3), None),
    ],
    ids=["two choices", "a number first", "switches", "an option nobody has", "numbers", "twos"],
)
def test_choices_are_found_in_a_list(arms, ties):
    assert Arms(arms).ties == ties


def test_columns_of_one_parameter_belong_together():
    space = Parameters({"r": Real(0, 1), "k": Categorical(["a", "b", "c"]), "n": Integer(1, 4)})
    assert space.ties == (0, 1, 1, 1, 2)
    assert Parameters({"r": Real(0, 1)}).ties is None
    assert GP().begin(space, 16).ties == space.ties


def test_a_tied_fit_is_the_best_with_equal_length_scales():
    """As good as an untied fit under a prior that holds the three scales of a choice together."""
    arms = np.column_stack([np.tile(np.linspace(0, 1, 4), 3), np.repeat(np.eye(3), 4, axis=0)])
    y = np.sin(5.0 * arms[:, 0]) + arms[:, 1:] @ [0.0, 1.0, 0.4]
    observations = observed(arms, standardised(y), 16)
    warm = Hyper(Matern52([0.5] * 4, 1.0), np.float64(1e-3))
    prior = LogNormalPrior(lengthscale=(0.5, 1.0), noise=(1e-3, 1.0))
    key = jax.random.key(0)
    tied, found = search(key, observations, warm, Fit(prior=prior), ties=TIES)
    scales = np.asarray(tied.kernel.lengthscale)
    assert np.all(scales[1:] == scales[1])
    assert scales[0] != scales[1]

    def held(hyper):
        logs = jax.numpy.log(hyper.kernel.lengthscale[1:])
        together = -1e4 * jax.numpy.sum((logs - jax.numpy.mean(logs)) ** 2)
        return prior(gathered(hyper, TIES)) + together

    _, reference = search(key, observations, warm, Fit(prior=held, iterations=300))
    assert found.objective <= reference.objective + 1e-2
