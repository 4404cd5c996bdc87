"""How probable choices are: exact where some are drawn at random, estimated where TS draws."""

import dataclasses

import jax
import numpy as np
import pytest
from refusals import refused
from scipy import stats

import windfall as wf
from windfall.policy.propensity import chances
from windfall.runtime.programs import program
from windfall.space import Arms
from windfall.specs import from_spec, to_spec
from windfall.study import compiled
from windfall.study.pull import Pull

LINEAR = wf.BayesianLinear()
ARMS = np.linspace(0.0, 1.0, 6)[:, None]
KEYS = 2000


@pytest.fixture(autouse=True, scope="module")
def double_precision():
    with jax.enable_x64(True):
        yield


def state_of(policy: wf.Policy, arms=ARMS):
    """After three rewards, of the first two arms and the last; by the programs of a study."""
    state = policy.begin(jax.random.key(0), Arms(arms))
    x, rewards = state.candidates.arms[[0, 1, -1]], [0.3, 0.1, 0.9]
    belief = compiled.note(state.belief, x, [Pull((), reward) for reward in rewards])
    belief = compiled.condition(policy.model, belief)
    return dataclasses.replace(state, belief=belief, pulls=np.int32(3))


@program
def chosen(policy, state, keys, avoid=None):
    """What the policy chooses, once for each key."""

    def one(key):
        arm, info = policy.select(dataclasses.replace(state, key=key), avoid)
        return arm, info.propensity, info.explored

    return jax.lax.map(one, keys)


def frequency_agrees(arms: np.ndarray, probable: np.ndarray) -> None:
    """Five standard errors: of a dozen comparisons one in 10⁵ goes wrong; the keys are fixed."""
    found = np.bincount(arms, minlength=len(probable)) / len(arms)
    assert np.all(np.abs(found - probable) <= 5 * np.sqrt(probable * (1 - probable) / len(arms)))


@pytest.mark.parametrize(
    ("settings", "avoided", "open"),
    [
        ({}, [], [0, 1, 2, 3, 4, 5]),
        ({}, [1, 4], [0, 2, 3, 5]),
        ({"repeats": False}, [], [2, 3, 4]),
    ],
)
def test_with_exploration_propensities_are_how_often_arms_are_chosen(settings, avoided, open):
    policy = wf.Policy(wf.VUCB(), LINEAR, explore=0.4, **settings)
    state = state_of(policy)
    avoid = np.full((4, 1), np.nan)
    avoid[: len(avoided)] = ARMS[avoided]
    keys = jax.random.split(jax.random.key(1), KEYS)
    arms, propensities, explored = map(np.asarray, chosen(policy, state, keys, avoid))
    favourite = arms[~explored][0]
    expected = np.zeros(6)
    expected[open] = 0.4 / len(open)
    expected[favourite] += 0.6
    np.testing.assert_allclose(propensities, expected[arms], rtol=1e-12)
    frequency_agrees(arms, expected)
    assert abs(explored.mean() - 0.4) < 5 * np.sqrt(0.24 / KEYS)
    if not avoided:
        np.testing.assert_allclose(program(chances)(policy, state, 1), expected, rtol=1e-12)


def test_of_two_arms_ts_draws_one_as_often_as_its_posterior_says():
    """Under a linear model the difference of two payoffs has a Student t distribution.

    Lots are drawn beside: where they explore, and where not, says nothing about what TS drew.
    """
    policy = wf.Policy(wf.TS(), LINEAR, explore=0.5)
    state = state_of(policy, ARMS[[0, 5]])
    found = state.belief.posterior
    phi = np.asarray(state.belief._phi(state.candidates.arms))
    difference = phi[1] - phi[0]
    scale = np.sqrt(found.noise * (found.shape - 1.0) / found.shape)
    scale *= np.linalg.norm(found.root @ difference)
    second = stats.t.cdf(float(difference @ found.weights / scale), 2.0 * float(found.shape))
    assert 0.6 < second < 0.95
    exact = np.array([1.0 - second, second])
    keys = jax.random.split(jax.random.key(2), KEYS)
    arms, _, explored = map(np.asarray, chosen(policy, state, keys))
    frequency_agrees(arms[explored], np.array([0.5, 0.5]))
    frequency_agrees(arms[~explored], exact)
    margin = 5 * np.sqrt(second * (1.0 - second) / KEYS)
    both = program(chances)(policy, state, KEYS)
    assert np.all(np.abs(both - 0.25 - 0.5 * exact) < margin)


COUNTED = wf.Policy(wf.TS(), LINEAR, propensities=12)


def test_the_draw_that_chose_counts_and_the_inverse_is_unbiased_but_for_rare_arms():
    """(c + 1)/(S + 1), and E 1/p̂ = (1 − (1 − p)^(S + 1))/p, over every count c there can be."""
    state, draws, p = state_of(COUNTED), 12, 0.15
    estimates = [
        float(
            compiled.propensity(COUNTED, state, np.int64(arm), None, np.int32(0), np.ones(6, bool))
        )
        for arm in range(6)
    ]
    counts = np.array(estimates) * (draws + 1) - 1
    np.testing.assert_allclose(counts, np.round(counts), atol=1e-12)
    assert round(counts.sum()) == draws
    assert min(estimates) == pytest.approx(1 / (draws + 1))
    c = np.arange(draws + 1)
    expected = np.sum(stats.binom.pmf(c, draws, p) * (draws + 1) / (c + 1))
    assert expected == pytest.approx((1 - (1 - p) ** (draws + 1)) / p, rel=1e-12)


def play(bandit, rounds: int) -> list:
    rng = np.random.default_rng(0)
    choices = []
    for _ in range(rounds):
        choices.append(bandit.ask())
        bandit.tell(choices[-1], float(choices[-1].features[0] + 0.1 * rng.normal()))
    return choices


EXPLORING = wf.Policy(wf.VUCB(), LINEAR, explore=0.5)


def test_a_study_logs_propensities_and_is_evaluated_by_them(tmp_path):
    bandit = wf.Bandit(ARMS, EXPLORING, seed=3)
    choices = play(bandit, 25)
    history = bandit.history()
    asked = [i for i, kind in enumerate(history["kind"]) if kind == "asked"]
    logged = [history["propensity"][i] for i in asked]
    assert logged[:3] == [None] * 3  # initial arms are not the policy's
    assert set(np.round(logged[3:], 9)) == {round(0.5 / 6, 9), round(0.5 + 0.5 / 6, 9)}
    drawn = [choice.why.startswith("drawn at random: predicted mean") for choice in choices[3:]]
    assert 0 < sum(drawn) < 22
    assert all(bandit.history()["propensity"][i] is None for i in set(range(50)) - set(asked))

    study = wf.Study("log", ARMS, EXPLORING, store=tmp_path / "log.db", seed=3)
    assert [choice.arm for choice in play(study, 25)] == [choice.arm for choice in choices]
    found = wf.evaluate(study, "mean", model=LINEAR)
    assert found.rows == 22
    again = wf.Study("log", store=tmp_path / "log.db")
    assert again.ask().arm == bandit.ask().arm
    assert wf.evaluate(again.history(), "mean", arms=ARMS, model=LINEAR) == found
    assert wf.evaluate(bandit, "mean", model=LINEAR) == found


def test_estimating_propensities_changes_no_choice():
    policies = wf.Policy(wf.TS(), LINEAR), COUNTED
    bandits = [wf.Bandit(ARMS, policy, seed=1) for policy in policies]
    first, second = ([c.arm for c in play(bandit, 8)] for bandit in bandits)
    assert first == second
    assert all(p is None for p in bandits[0].history()["propensity"])
    logged = [p for p in bandits[1].history()["propensity"] if p is not None]
    assert len(logged) == 5
    assert all(1 / 13 <= p <= 1 for p in logged)


def test_choices_of_a_batch_differ_and_have_propensities_of_their_own():
    bandit = wf.Bandit(ARMS, EXPLORING, seed=0)
    play(bandit, 3)
    batch = bandit.ask(5)
    assert len({choice.arm for choice in batch}) == 5
    logged = [p for p in bandit.history()["propensity"] if p is not None]
    for k, p in enumerate(logged):  # six arms less those that wait
        assert min(abs(p - 0.5 / (6 - k)), abs(p - 0.5 - 0.5 / (6 - k))) < 1e-12


def test_what_a_policy_is_made_with_comes_back_from_its_spec():
    for policy in (EXPLORING, COUNTED):
        assert repr(from_spec(to_spec(policy))) == repr(policy)
    assert "explore" not in to_spec(wf.Policy(wf.VUCB(), LINEAR))
    assert "explore=0.5" in repr(EXPLORING)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: wf.Policy(wf.VUCB(), explore=0.0), "explore is 0.0; expected a finite number, ab"),
        (lambda: wf.Policy(wf.VUCB(), explore=1.5), "explore is 1.5; expected a finite number, ab"),
        (lambda: wf.Policy(wf.TS(), propensities=0), "propensities is 0; expected a whole number"),
        (
            lambda: wf.Policy(wf.VUCB(), propensities=9),
            "propensities is 9; expected None: only draws such as TS's, without explore, are est",
        ),
        (
            lambda: wf.Policy(wf.TS(), explore=0.1, propensities=9),
            "propensities is 9; expected None: only draws such as TS's, without explore, are est",
        ),
        (
            lambda: wf.Bandit(wf.Box([0.0], [1.0]), EXPLORING),
            "explore is 0.5 without arms; expected None, or a list of arms",
        ),
    ],
)
def test_propensities_that_cannot_be(make, message):
    with refused(message):
        make()
