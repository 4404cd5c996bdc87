"""What single options are worth: where they are modelled, and as what."""

import numpy as np
import pytest

import windfall as wf
from windfall.models.gp.kernels import Effects, Matern52, Sum
from windfall.models.gp.model import GP
from windfall.models.gp.ties import one_hot
from windfall.models.gp.usual import usual_model
from windfall.specs import from_spec, to_spec

#: Three metals, two solvents and a temperature.
ARMS = np.array([
    [*np.eye(3)[metal], *np.eye(2)[solvent], heat]
    for metal in range(3) for solvent in range(2) for heat in (0.0, 0.4, 1.0)
])  # fmt: skip


def test_the_covariance_counts_the_choices_that_agree():
    k = Effects((0, 1, 2, 3, 4), 0.5)
    agree = [[np.sum(a[:3] * b[:3]) + np.sum(a[3:5] * b[3:5]) for b in ARMS] for a in ARMS]
    np.testing.assert_allclose(k.gram(ARMS, ARMS), 0.5 * np.array(agree), atol=1e-12)
    np.testing.assert_allclose(k.diagonal(ARMS), 1.0)


def test_it_is_saved_like_any_kernel():
    kernel = Matern52(0.3) + Effects((0, 2), 0.5)
    assert repr(from_spec(to_spec(kernel))) == repr(kernel)
    with pytest.raises(wf.errors.InputError, match="variance is 0"):
        Effects((0,), 0.0)


@pytest.mark.parametrize(("ties", "columns"), [(None, ()), ((0, 0, 1, 2, 2), (0, 1, 3, 4))])
def test_the_columns_of_choices(ties, columns):
    assert one_hot(ties) == columns


def test_only_where_there_are_choices_and_it_is_asked_for():
    plain, effects = GP(kernel=Matern52(0.3)), GP(kernel=Matern52(0.3), effects=2.0)
    ties = (0, 1, 1)
    assert plain.over(3, None, ties) is plain.kernel
    assert effects.over(3, None, None) is effects.kernel
    both = effects.over(3, None, ties)
    assert isinstance(both, Sum)
    assert repr(both.right) == "Effects(columns=(1, 2), variance=2.0)"
    assert repr(effects).endswith("ard=True, effects=2.0)")
    assert repr(from_spec(to_spec(effects))) == repr(effects)
    with pytest.raises(wf.errors.InputError, match="effects is -1"):
        GP(effects=-1)


def test_it_is_an_additive_regression_where_nothing_else_is_believed():
    """Without a kernel to speak of: the ridge regression on the options, written out."""
    rng = np.random.default_rng(0)
    told = rng.choice(len(ARMS), 9, replace=False)
    pays = rng.standard_normal(9)
    model = GP(
        kernel=Matern52(0.3, variance=1e-3), noise=0.1, fit=wf.Fit(restarts=0, iterations=1),
        refit_every=10**6, effects=1.0,
    )  # fmt: skip
    bandit = wf.Bandit(ARMS, policy=wf.Policy(wf.EI(), model), initial=1)
    for arm, pay in zip(told, pays, strict=True):
        bandit.tell(int(arm), pay)
    mean, _ = bandit.posterior()
    options, y = ARMS[:, :5], (pays - pays.mean()) / pays.std()
    x = options[told]
    ridge = options @ np.linalg.solve(x.T @ x + 0.1 * np.eye(5), x.T @ y)
    expected = pays.mean() + pays.std() * ridge
    # The other kernel has a thousandth of the variance, the noise a tenth: a hundredth is left.
    np.testing.assert_allclose(mean, expected, atol=0.05)


def test_good_options_that_were_never_together_are_tried_together():
    """The second and the third round of goal best: what is tried next has both."""
    worth = np.array([0.0, 3.0, 1.0]), np.array([0.0, 2.0])
    arms = np.array([[*np.eye(3)[m], *np.eye(2)[s]] for m in range(3) for s in range(2)])
    bandit = wf.Bandit(arms, goal="best", seed=0, initial=1)
    for metal, solvent in ((0, 0), (1, 0), (0, 1)):
        bandit.tell(2 * metal + solvent, worth[0][metal] + worth[1][solvent])
    assert bandit.ask().arm == 3


def test_the_model_of_goal_best_has_it():
    assert usual_model().effects == 1.0
