"""The ask/tell object: decisions, bookkeeping, units, bad input."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from bandit_study import ARMS, PAYOFF, play
from policies import ALL

import windfall as wf
from windfall.errors import NumericalError
from windfall.policy import Info


@pytest.mark.parametrize("policy", ALL)
def test_every_policy_finds_the_optimum_and_explains_its_choice(policy):
    bandit = wf.Bandit(ARMS, policy, seed=1)
    play(bandit, 16)  # beyond the first rounds, in which the default tries nothing twice
    choice = bandit.ask()
    table = bandit.explain()
    assert list(table) == ["mean", "std", "ratio", "acquisition", "pulls"]
    assert all(column.shape == (60,) for column in table.values())
    assert all(np.all(np.isfinite(column)) for column in table.values())
    free = (bandit.pulls == 0) | bandit.policy.repeats
    assert choice.arm == np.argmax(np.where(free, table["acquisition"], -np.inf))
    np.testing.assert_array_equal(table["pulls"], bandit.pulls)
    np.testing.assert_array_equal(choice.features, ARMS[choice.arm])
    assert f"{table['mean'][choice.arm]:.4g}" in choice.why
    mean, deviation = bandit.posterior()
    np.testing.assert_allclose(mean, table["mean"], rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(deviation, table["std"], rtol=1e-6, atol=1e-8)
    if policy != "mean":  # which may stop at the first good arm
        assert PAYOFF[bandit.best.arm] > PAYOFF.max() - 0.02
    pd.DataFrame(table)  # ready for a data frame


def test_asking_again_gives_the_same_choice():
    bandit = wf.Bandit(ARMS, "ts", seed=0)
    for _ in range(6):
        first = bandit.ask()
        bandit.pulls  # noqa: B018
        if bandit.rewards:
            bandit.explain()
            bandit.posterior()
        assert bandit.ask() == first
        bandit.tell(first, PAYOFF[first.arm])


def test_thompson_sampling_draws_afresh_each_round():
    """With the fit held, how far a draw at an untried arm is from the mean must vary."""
    bandit = wf.Bandit(ARMS, wf.Policy(wf.TS(), wf.GP(refit_every=1000)), seed=0)
    for arm in (10, 11, 12):
        bandit.tell(arm, PAYOFF[arm])
    deviates = []
    for _ in range(8):
        table = bandit.explain()
        deviates.append((table["acquisition"][50] - table["mean"][50]) / table["std"][50])
        bandit.tell(11, PAYOFF[11])
    assert np.std(deviates) > 0.4  # about 1; under 0.05 if the draw were the same


def test_the_seed_decides():
    runs = [play(wf.Bandit(ARMS, "ts", seed=seed), 6) for seed in (0, 0, 1)]
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]


def test_initial_arms_are_distinct_and_random():
    bandit = wf.Bandit(ARMS, seed=3, initial=10)
    arms = play(bandit, 10)
    assert len(set(arms)) == 10
    other = wf.Bandit(ARMS, seed=4, initial=10)
    assert play(other, 10) != arms
    assert "initial arm 1 of 10" in wf.Bandit(ARMS, initial=10).ask().why
    assert "initial" not in bandit.ask().why


def test_tells_count_whether_asked_for_or_not():
    bandit = wf.Bandit(ARMS, "v-ucb", seed=0)
    for arm in (7, 7, 7, np.int64(30), jnp.asarray(50)):  # before any ask, and repeatedly
        bandit.tell(arm, PAYOFF[int(arm)])
    assert bandit.pulls[[7, 30, 50]].tolist() == [3, 1, 1]
    assert [arm for arm, _ in bandit.rewards] == [7, 7, 7, 30, 50]
    asked = bandit.ask()
    assert "initial" not in asked.why
    bandit.tell(12, PAYOFF[12])  # another than the one asked for
    assert bandit.pulls[12] == 1
    mean, deviation = bandit.posterior(ARMS[[7, 12, 30, 50]])
    np.testing.assert_allclose(mean, PAYOFF[[7, 12, 30, 50]], atol=0.2)
    assert deviation.max() < 0.5


def test_initial_arms_skip_those_told_already():
    bandit = wf.Bandit(ARMS, seed=0)
    first = bandit.ask().arm
    bandit.tell(first, 1.0)
    assert bandit.ask().arm != first


def test_repeated_rewards_average_out():
    bandit = wf.Bandit(ARMS, "v-ucb", seed=0)
    rng = np.random.default_rng(0)
    for reward in 5.0 + rng.normal(size=30):
        bandit.tell(10, reward)
    for arm in (0, 25, 40, 59):
        bandit.tell(arm, 0.1 * arm)
    (mean,), (deviation,) = bandit.posterior(ARMS[[10]])
    told = np.mean([reward for arm, reward in bandit.rewards if arm == 10])
    assert mean == pytest.approx(told, abs=0.3)
    assert deviation < 0.5
    assert bandit.best.arm in (10, 59)
    assert bandit.best.why.startswith("highest mean reward")


def test_capacity_grows_with_distinct_arms_only():
    bandit = wf.Bandit(ARMS, "v-ucb", seed=0)
    capacities = []
    for arm in [*range(16), 3, 3, 16, *range(17, 33), 5]:
        bandit.tell(arm, PAYOFF[arm])
        capacities.append(bandit._decider._note(bandit._record).capacity)
    assert capacities[:18] == [16] * 18  # sixteen arms fit, and repeats need no room
    assert capacities[18:34] == [32] * 16
    assert capacities[34:] == [48, 48]
    mean, deviation = bandit.posterior()
    np.testing.assert_allclose(mean[:33], PAYOFF[:33], atol=0.05)
    assert np.all(deviation[:33] < 0.1)


def test_the_posterior_is_in_reward_units():
    """An affine change of the rewards changes mean and deviation, and no choice."""
    location, scale = -40.0, 1e4
    plain, moved = (wf.Bandit(ARMS, "v-ucb", seed=2) for _ in range(2))
    for _ in range(8):
        a, b = plain.ask(), moved.ask()
        assert a.arm == b.arm
        plain.tell(a, PAYOFF[a.arm])
        moved.tell(b, location + scale * PAYOFF[b.arm])
    x = np.linspace(-3, 5, 60)[:, None] + 0.01
    (mean, deviation), (far_mean, far_deviation) = plain.posterior(x), moved.posterior(x)
    np.testing.assert_allclose(far_mean, location + scale * mean, rtol=1e-3, atol=1e-3 * scale)
    np.testing.assert_allclose(far_deviation, scale * deviation, rtol=1e-2, atol=1e-3 * scale)
    one_mean, one_deviation = plain.posterior(x[0])  # one point as a plain vector
    assert one_mean.shape == one_deviation.shape == (1,)
    assert one_mean[0] == pytest.approx(mean[0])


def test_units_of_the_features_do_not_matter():
    plain, moved = wf.Bandit(ARMS, "v-ucb", seed=0), wf.Bandit(1024.0 * ARMS, "v-ucb", seed=0)
    assert play(plain, 8) == play(moved, 8)


def test_a_data_frame_of_arms_and_features():
    frame = pd.DataFrame({"dose": ARMS[:, 0]})
    bandit = wf.Bandit(frame, "v-ucb", seed=0)
    assert play(bandit, 5) == play(wf.Bandit(ARMS, "v-ucb", seed=0), 5)
    mean, _ = bandit.posterior(frame)
    assert mean.shape == (60,)


def test_nobody_can_change_the_arms_from_outside():
    mine = ARMS.copy()
    bandit = wf.Bandit(mine, seed=0)
    mine[:] = 0.0
    choice = bandit.ask()
    np.testing.assert_array_equal(bandit.arms, ARMS)
    with pytest.raises(ValueError, match="read-only"):
        choice.features[0] = 9.0


def test_choices_compare_by_arm_and_reason():
    a = wf.Choice(3, np.array([1.0, 2.0]), "why")
    assert a == wf.Choice(3, np.array([1.0, 2.0]), "why")
    assert a != dataclasses.replace(a, arm=4)
    assert len({a, wf.Choice(3, np.array([1.0, 2.0]), "why")}) == 1


@pytest.mark.parametrize("policy", ALL)
@pytest.mark.parametrize(
    "reward",
    [
        lambda arm: 3.0,
        lambda arm: 0.0,
        lambda arm: 1e9 if arm == 31 else 0.001 * arm,
        lambda arm: 1e-12 * PAYOFF[arm],
        lambda arm: 1e9 + 0.1,
        lambda arm: -1e12,
    ],
    ids=["all equal", "all zero", "one of 1e9", "1e-12", "all 1e9", "all -1e12"],
)
def test_hard_rewards_keep_deciding(policy, reward):
    bandit = wf.Bandit(ARMS, policy, seed=0)
    bandit.tell(31, reward(31))
    for _ in range(6):
        choice = bandit.ask()
        bandit.tell(choice, reward(choice.arm))
    assert all(np.all(np.isfinite(column)) for column in bandit.explain().values())
    mean, _ = bandit.posterior(ARMS[[31]])
    scale = max(abs(r) for _, r in bandit.rewards)
    assert mean[0] == pytest.approx(reward(31), abs=0.05 * scale)


def test_constant_features_and_duplicate_arms_are_fine():
    arms = np.column_stack([np.repeat(ARMS[:30, 0], 2), np.full(60, 7.0)])
    payoff = -(arms[:, 0] ** 2)
    bandit = wf.Bandit(arms, "v-ucb", seed=0)
    play(bandit, 8, payoff)
    mean, deviation = bandit.posterior()
    np.testing.assert_array_equal(mean[::2], mean[1::2])
    assert np.all(np.isfinite(deviation))
    twins = wf.Bandit(np.full((2, 1), 4.0), "v-ucb", seed=0)
    assert sorted(play(twins, 2, np.zeros(2))) == [0, 1]


def test_fewer_arms_than_initial_ones():
    bandit = wf.Bandit([[0.0], [1.0]], "v-ucb", seed=0, initial=5)
    assert sorted(play(bandit, 2, np.array([0.0, 1.0]))) == [0, 1]
    assert "initial" not in bandit.ask().why


def test_a_kernel_that_is_none_says_so_instead_of_nan():
    def distance(a, b):  # not positive definite: minus the distance
        return -10.0 * jnp.sum(jnp.abs(a - b))

    bandit = wf.Bandit(ARMS[:5], wf.Policy(wf.VUCB(), wf.GP(kernel=distance)), seed=0)
    for arm in range(4):
        bandit.tell(arm, float(arm % 2))
    for question in (bandit.ask, bandit.posterior, bandit.explain):
        with pytest.raises(NumericalError, match="use another kernel"):
            question()
    assert len(bandit.rewards) == 4


def test_refits_only_as_often_as_asked():
    gp = wf.GP(refit_every=4)
    bandit = wf.Bandit(ARMS, wf.Policy(wf.VUCB(), gp), seed=0, initial=2)
    found = {}  # by the number of rewards told
    for told in range(11):
        choice = bandit.ask()
        found[told] = bandit._record.belief
        bandit.tell(choice, PAYOFF[choice.arm])
        bandit.posterior()  # reading fits nothing that counts
    assert found[1] is None
    fits = [told for told in range(2, 11) if found[told] != found[told - 1]]
    assert fits == [2, 6, 10]
    mean, _ = bandit.posterior(ARMS[[a for a, _ in bandit.rewards]])
    np.testing.assert_allclose(mean, [r for _, r in bandit.rewards], atol=0.3)


@pytest.mark.parametrize(
    ("numbers", "driver"),
    [
        ({"mean": 2.0, "best": 1.5}, "mean"),
        ({"mean": 2.0, "best": 2.0}, "mean"),
        ({"mean": -1.0, "best": -1.0 + 1e-12}, "mean"),
        ({"mean": 1.0, "best": 1.5, "score": 2.0, "ratio": 1.0}, "uncertainty"),
        ({"mean": 1.0, "best": 1.5, "score": 2.2, "ratio": 2.0}, "uncertainty"),  # 0.6 is enough
        ({"mean": 1.0, "best": 1.5, "score": 1.8, "ratio": 2.0}, "attention"),  # 0.4 is not
        ({"mean": 1.0, "best": 1.5, "score": 1.8, "ratio": 0.5}, "uncertainty"),
    ],
)
def test_a_choice_says_what_drove_it(numbers, driver):
    plain = {"score": 3.0, "deviation": 0.25, "ratio": 1.0} | numbers
    info = Info(**{k: np.float64(v) for k, v in plain.items()}, healthy=np.bool_(True))
    assert info.driver == driver
    assert f"Windfall chose it for its {driver}: predicted mean" in info.why("Windfall")
    assert "deviation 0.25" in info.why("Windfall")
    assert ("attention" in info.why("")) == (driver == "attention" or info.ratio != 1.0)
