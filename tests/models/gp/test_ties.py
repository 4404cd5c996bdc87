"""One length scale for the one-hot columns of a choice."""

import itertools

import jax
import numpy as np
import pytest
from models.gp.fitting import search
from models.gp.naive import observed, standardised

from windfall.models.gp.evidence import Hyper
from windfall.models.gp.fit import Fit
from windfall.models.gp.kernels import Matern52
from windfall.models.gp.model import GP
from windfall.models.gp.priors import LogNormalPrior
from windfall.models.gp.ties import gathered, spread
from windfall.space import Arms, Categorical, Integer, Parameters, Real

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
