"""Saving and resuming a study: what comes next is what would have come."""

import copy
import json

import numpy as np
import pytest
from bandit_study import ARMS, PAYOFF, play
from policies import ALL
from refusals import refused

import windfall as wf
from windfall.errors import InputError
from windfall.models.gp.fit import AMPLE


def resumed(bandit: wf.Bandit, policy) -> wf.Bandit:
    """Another bandit, made from what a file would hold."""
    other = wf.Bandit(ARMS, policy, seed=99, initial=5)
    other.load_state_dict(json.loads(json.dumps(bandit.state_dict())))
    return other


@pytest.mark.parametrize(
    ("rounds", "asked"),
    [(0, False), (0, True), (1, False), (3, True), (5, False), (9, True)],
)
@pytest.mark.parametrize("policy", ALL)
def test_resuming_gives_the_identical_choices(policy, rounds, asked):
    bandit = wf.Bandit(ARMS, policy, seed=7)
    play(bandit, rounds, noise=0.1)
    if asked:  # the model has been fitted to the last reward
        bandit.ask()
    other = resumed(bandit, policy)
    assert other.state_dict() == bandit.state_dict()
    assert other.rewards == bandit.rewards
    assert other.ask() == bandit.ask()
    if rounds:
        for mine, theirs in zip(bandit.posterior(), other.posterior(), strict=True):
            np.testing.assert_array_equal(mine, theirs)
    assert play(other, 5, noise=0.1) == play(bandit, 5, noise=0.1)
    assert other.state_dict() == bandit.state_dict()


@pytest.mark.parametrize("told", [15, 16, 17])
def test_resuming_at_a_bucket_boundary(told):
    bandit = wf.Bandit(ARMS, "v-ucb", seed=7)
    for arm in range(told):
        bandit.tell(arm, PAYOFF[arm])
        if arm % 5 == 4:
            bandit.ask()
    other = resumed(bandit, "v-ucb")
    assert play(other, 5) == play(bandit, 5)
    for study in (bandit, other):
        assert study._decider._note(study._record).capacity == 32


@pytest.mark.parametrize("seed", range(2))
def test_resuming_where_random_starts_are_rare(seed):
    """Whether a fit restarts depends on how much its previous answer rests on."""
    arms = np.linspace(0.0, 1.0, 90)[:, None]
    policy = wf.Policy(wf.VUCB(), wf.GP(fit=wf.Fit(restarts=1, iterations=8)))
    bandit = wf.Bandit(arms, policy, seed=seed)
    for arm in range(AMPLE + 2):
        bandit.tell(arm, np.sin(20 * arms[arm, 0]))
    bandit.ask()
    bandit.tell(AMPLE + 2, 1.5)
    other = wf.Bandit(arms, policy)
    state = json.loads(json.dumps(bandit.state_dict()))
    assert state["events"][AMPLE + 3]["belief"]["behind"] == AMPLE + 2
    other.load_state_dict(state)
    assert other.state_dict() == state
    assert other.ask() == bandit.ask()
    assert other.state_dict() == bandit.state_dict()


def test_resuming_within_the_rounds_between_fits():
    policy = wf.Policy(wf.VUCB(), wf.GP(refit_every=4))
    bandit = wf.Bandit(ARMS, policy, seed=7)
    for _ in range(8):
        other = resumed(bandit, policy)
        assert play(other, 5, noise=0.1) == play(copy.deepcopy(bandit), 5, noise=0.1)
        play(bandit, 1, noise=0.1)


def test_resuming_with_a_kernel_and_a_fit_of_ones_own():
    def policy(kernel, **settings):
        return wf.Policy(wf.VUCB(), wf.GP(kernel=kernel, **settings))

    ours = wf.kernels.Matern52(0.2) + wf.kernels.Constant(2.0)
    bandit = wf.Bandit(ARMS, policy(ours), seed=7)
    play(bandit, 5)
    other = resumed(bandit, policy(ours))
    assert play(other, 3) == play(bandit, 3)
    for stranger in (
        policy(wf.kernels.Matern32(0.2) + wf.kernels.Constant(2.0)),  # the same number of numbers
        policy(wf.kernels.Matern52(0.3) + wf.kernels.Constant(2.0)),
        policy(ours, fit=wf.Fit(restarts=1)),
        policy(ours, fit=wf.Fit(prior=wf.LogNormalPrior(noise=(1e-3, 1.0)))),
        policy(ours, noise=1e-2),
        policy(ours, refit_every=2),
        policy(ours, ard=False),
        wf.Policy(wf.VUCB(kappa=1.0), policy(ours).model),
    ):
        with pytest.raises(InputError, match=r"^state was saved with other policy \(.*\); make"):
            resumed(bandit, stranger)


def test_a_policy_with_functions_can_be_resumed_elsewhere():
    """Functions go by name: another process has them at other addresses."""

    def make():
        def brownian(a, b):
            return 1.0 + a[0] * b[0]

        prior = wf.LWUCB(prior=lambda x: np.ones(len(x)), points=64)
        return wf.Policy(prior, wf.GP(kernel=brownian))

    bandit = wf.Bandit(ARMS, make(), seed=7)
    bandit.tell(3, 1.0)
    state = bandit.state_dict()
    assert "0x" not in str(state["events"][0])
    other = wf.Bandit(ARMS, make())
    other.load_state_dict(state)
    assert other.rewards == [(3, 1.0)]


def created(**changes):
    """A change of what the study rests on."""

    def change(state):
        first, *rest = state["events"]
        return {**state, "events": [{**first, **changes}, *rest]}

    return change


def last(**changes):
    """A change of the last event: the asked one."""

    def change(state):
        *first, event = state["events"]
        return {**state, "events": [*first, {**event, **changes}]}

    return change


def belief(**changes):
    def change(state):
        kept = state["events"][-1]["belief"]
        return last(belief={**kept, **changes})(state)

    return change


BROKEN = {
    "no dictionary": (lambda state: [1], "state is not a state_dict"),
    "half of it": (lambda state: {"format": 3}, "state is not a state_dict"),
    "another format": (lambda state: {**state, "format": 0}, "state has format 0; expected 1, 2"),
    "no events": (lambda state: {**state, "events": []}, "state is not a state_dict"),
    "no beginning": (
        lambda state: {**state, "events": state["events"][1:]}, "event number is 1; expected 0",
    ),
    "an event missing": (
        lambda state: {**state, "events": state["events"][:2] + state["events"][3:]},
        "event number is 3; expected 2",
    ),
    "other arms": (created(space={"type": "Arms"}), "state was saved with other arms"),
    "another policy": (created(policy=None), "state was saved with other policy"),
    "a number for names": (
        last(kind="added", features=[[9.0]], names=7), "names is 7; expected 1 different texts",
    ),
    "unknown arm": (last(point=60), "arm is 60"),
    "text for an arm": (last(point="a"), "arm is 'a'"),
    "nan": (last(kind="told", reward=float("nan")), "reward is nan"),
    "too few numbers": (belief(hyper=[1.0]), "state hyper is "),
    "negative numbers": (belief(hyper=[[-1.0], 1.0, 1.0]), "state hyper is "),
    "text": (belief(hyper=["a", 1.0, 1.0]), "state hyper is|state hyper"),
    "no hyper-parameters": (last(belief=[1.0]), "state belief is"),
    "a negative seed": (created(seed=-1), "seed is -1"),
    "no initial arms": (created(initial=0), "initial is 0"),
    "searched what nobody told": (last(searched=9), "state searched is 9; expected a whole"),
    "bounds that are none": (last(within=3), "event .* cannot be read"),
    "arms that are none": (last(among=None), "event .* cannot be read"),
    "searched half": (last(searched=0.5), "state searched is 0.5; expected a whole number"),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_a_state_that_does_not_fit_is_refused_and_nothing_changes(case):
    change, message = BROKEN[case]
    source = wf.Bandit(ARMS, "v-ucb", seed=7)
    play(source, 4)
    source.ask()
    bandit = wf.Bandit(ARMS, "v-ucb", seed=1)
    play(bandit, 2)
    next_choice = bandit.ask()
    before = bandit.state_dict()
    with refused(message):
        bandit.load_state_dict(change(source.state_dict()))
    assert bandit.state_dict() == before
    assert bandit.ask() == next_choice


def test_loading_replaces_everything():
    bandit, source = wf.Bandit(ARMS, "v-ucb", seed=1), wf.Bandit(ARMS, "v-ucb", seed=7, initial=4)
    play(bandit, 6)
    play(source, 2)
    bandit.load_state_dict(source.state_dict())
    assert (bandit.seed, bandit.initial, len(bandit.rewards)) == (7, 4, 2)
    assert bandit.ask() == source.ask()


def test_a_saved_state_does_not_change_with_the_bandit():
    bandit = wf.Bandit(ARMS, "v-ucb", seed=1)
    play(bandit, 4)
    state = bandit.state_dict()
    text = json.dumps(state)
    play(bandit, 2)
    assert json.dumps(state) == text
