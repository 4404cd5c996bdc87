"""Studies of arms that are known by their similarities, which are the covariance of payoffs."""

import dataclasses

import numpy as np
import pytest
from refusals import refused
from rounding import relative_distance, solving

import windfall as wf
from windfall.errors import InputError
from windfall.models.gp.usual import similarity_model
from windfall.space.similarity import similar_arms
from windfall.study.stores import MemoryStore

#: Arms in a row, the more alike the nearer.
ROW = np.arange(12.0)
SIMILAR = 3.0 * np.exp(-np.abs(ROW[:, None] - ROW[None]) / 4.0)
TOLD = {0: 0.3, 4: 1.9, 7: 0.8, 11: -0.6, 5: 1.5}
#: What 1 in the matrix is for the kernel that is linear in the features made of it.
UNIT = float(np.sum((similar_arms(SIMILAR).points[0] - 0.5) ** 2) / SIMILAR[0, 0])


@pytest.fixture(scope="module")
def similar() -> wf.Bandit:
    bandit = wf.Bandit(kernel_matrix=SIMILAR, goal="best", seed=0)
    for arm, reward in TOLD.items():
        bandit.tell(arm, reward)
    bandit.ask()
    return bandit


def test_similarities_are_the_covariance_of_the_payoffs(similar):
    slope, noise = similar._record.belief["hyper"]
    height = slope * UNIT
    arms, y = np.array(list(TOLD)), np.array(list(TOLD.values()))
    gram = height * SIMILAR
    precise = gram[np.ix_(arms, arms)] + noise * np.eye(len(y))
    weights = np.linalg.solve(precise, (y - y.mean()) / y.std())
    variance = np.diag(gram - gram[:, arms] @ np.linalg.solve(precise, gram[arms]))
    mean, deviation = similar.posterior()
    assert relative_distance(mean, y.mean() + y.std() * gram[:, arms] @ weights) < solving(precise)
    # A variance is a difference of numbers as large as the prior's.
    rounding = solving(precise) * y.std() ** 2 * gram.max()
    np.testing.assert_allclose(deviation**2, y.std() ** 2 * variance, atol=rounding)


def row_kernel(a, b, slope):
    import jax.numpy as jnp

    return slope * UNIT * 3.0 * jnp.exp(-jnp.abs(a[0] - b[0]) * 11.0 / 4.0)


def test_a_bandit_on_features_with_the_same_kernel_chooses_the_same(similar):
    kernel = wf.kernels.Custom(row_kernel, slope=1.0)
    model = dataclasses.replace(similarity_model(), kernel=kernel)
    featured = wf.Bandit(ROW[:, None], wf.Policy(wf.Prospect(), model), seed=0)
    for arm, reward in TOLD.items():
        featured.tell(arm, reward)
    assert featured.ask().arm == similar.ask().arm
    # Both searches follow the same path, up to what rounding makes of it in fifty steps.
    np.testing.assert_allclose(featured.posterior(), similar.posterior(), rtol=1e-4)


def test_a_study_with_wishes_is_saved_and_goes_on(similar):
    again = wf.Bandit(kernel_matrix=SIMILAR, goal="best", seed=9)
    again.load_state_dict(similar.state_dict())
    assert again.ask() == similar.ask()
    for other in ({"goal": "best", "budget": 20}, {"goal": "best", "repeats": True}, {}):
        with pytest.raises(InputError, match="policy"):
            wf.Bandit(kernel_matrix=SIMILAR, **other).load_state_dict(similar.state_dict())


def test_a_study_is_created_with_wishes_and_opened_with_the_same(store):
    wishes = {"goal": "best", "budget": 30, "repeats": True, "kernel_matrix": SIMILAR}
    first = wf.Study("alloy", store=store, **wishes)
    first.tell(4, 1.0)
    without_arms = {name: wish for name, wish in wishes.items() if name != "kernel_matrix"}
    some = {"kernel_matrix": SIMILAR}, {"budget": 30}, {"repeats": True}
    for given in ({}, *some, without_arms, wishes):
        again = wf.Study("alloy", store=store, **given)
        assert repr(again.policy) == repr(first.policy)
        assert again.pulls[4] == 1
    for given, difference in [
        ({"budget": 31}, "policy.budget: 31 here, 30 saved"),
        ({"repeats": False}, "policy.repeats: nothing here, True saved"),
        ({"kernel_matrix": np.eye(11)}, "space.features: 11 entries here, 12 saved"),
        ({**wishes, "goal": "reward"}, "policy.acquisition: Windfall here, Prospect saved"),
    ]:
        with pytest.raises(InputError, match="was created otherwise") as error:
            wf.Study("alloy", store=store, **given)
        assert difference in str(error.value)


#: Where (arm, context) were tried; what pays moves along the row with the context.
RNG = np.random.default_rng(0)
TRIED = list(zip(RNG.integers(12, size=40).tolist(), RNG.uniform(size=40).tolist(), strict=True))


def moving(arm: int, context: float) -> float:
    return float(np.exp(-((arm / 11.0 - context) ** 2) / 0.05))


def told_in_contexts(context) -> wf.Bandit:
    bandit = wf.Bandit(kernel_matrix=SIMILAR, policy="mean", context=context, seed=0)
    for arm, place in TRIED:
        bandit.tell(arm, moving(arm, place), context={"c": place})
    bandit.ask(context={"c": 0.5})
    return bandit


def moving_to(bandit: wf.Bandit, context: float) -> float:
    """Where along the row the arm is that is asked for."""
    arm = bandit.ask(context={"c": context}).arm
    assert arm is not None
    return arm / 11.0


@pytest.fixture(scope="module")
def contextual() -> wf.Bandit:
    return told_in_contexts({"c": (0.0, 1.0)})


@pytest.mark.parametrize("place", [0.1, 0.5, 0.9])
def test_which_arm_is_best_follows_the_context(contextual, place):
    # Within two steps of the row, as close as forty rewards say; places are four steps apart.
    assert moving_to(contextual, place) == pytest.approx(place, abs=0.19)


def test_beside_contexts_covariances_are_similarities_times_those_of_contexts(contextual):
    slope, (lengthscale,), variance, noise = contextual._record.belief["hyper"]

    def kernel(arms, places, others, elsewhere):
        r = np.sqrt(5.0) * np.abs(places[:, None] - elsewhere) / lengthscale
        matern = variance * (1.0 + r + r**2 / 3.0) * np.exp(-r)
        return slope * UNIT * SIMILAR[np.ix_(arms, others)] * matern

    arms, places = (np.array(column) for column in zip(*TRIED, strict=True))
    y = np.array([moving(arm, place) for arm, place in TRIED])
    precise = kernel(arms, places, arms, places) + noise * np.eye(len(y))
    weights = np.linalg.solve(precise, (y - y.mean()) / y.std())
    cross = kernel(np.arange(12), np.full(12, 0.3), arms, places)
    mean, _ = contextual.posterior(context={"c": 0.3})
    assert relative_distance(mean, y.mean() + y.std() * cross @ weights) < solving(precise)


def test_it_follows_contexts_whose_bounds_nobody_gave():
    bandit = told_in_contexts(["c"])
    low, high = (moving_to(bandit, place) for place in (0.1, 0.9))
    assert (low, high) == pytest.approx((0.1, 0.9), abs=0.19)


def test_a_policy_must_not_bring_a_model_of_its_own():
    own = wf.Policy(wf.VUCB(kappa=1.0), wf.GP(kernel=wf.kernels.Matern32(0.2)), explore=0.1)
    message = r"model is GP\(kernel=Matern32.* beside kernel_matrix; expected none, .*: give VUCB\("
    with refused(message):
        wf.Bandit(kernel_matrix=SIMILAR, policy=own)
    with refused(message):
        wf.Study("alloy", kernel_matrix=SIMILAR, policy=own, store=MemoryStore())
    plain = wf.Bandit(kernel_matrix=SIMILAR, policy=wf.Policy(wf.VUCB(kappa=1.0), explore=0.1))
    assert repr(plain.policy.model) == repr(similarity_model())
    assert plain.policy.explore == 0.1
    again = wf.Bandit(kernel_matrix=SIMILAR, policy=plain.policy)  # as it was made
    assert repr(again.policy) == repr(plain.policy)


def test_no_arm_is_added_of_which_no_similarity_is_known():
    bandit = wf.Bandit(kernel_matrix=SIMILAR, policy="mean", seed=0)
    with refused("arms cannot be added where kernel_matrix says how similar"):
        bandit.add_arms(SIMILAR[:1])
    assert len(bandit.arms) == 12
    bandit.retire(3)
    assert bandit.add_arms(bandit.arms[3]) == [3]  # that one is known
