"""Arms that are added, and arms that are retired."""

import json

import numpy as np
import pytest
from bandit_study import ARMS, PAYOFF, play
from refusals import refused

import windfall as wf
from windfall.errors import InputError
from windfall.space import Arms
from windfall.study.stores import MemoryStore

POLICY = wf.Policy(wf.VUCB(1.0), wf.GP(fit=wf.Fit(restarts=0, iterations=10)))


def begun(rounds=6, **how):
    bandit = wf.Bandit(ARMS, POLICY, seed=3, **how)
    play(bandit, rounds)
    return bandit


@pytest.fixture(scope="module")
def bandit():
    """With three arms more, one of them far outside and much better."""
    bandit = begun()
    assert bandit.add_arms([[5.5], [6.0], [9.0]], names=["a", "b", "far"]) == [60, 61, 62]
    for arm, reward in ((62, 10.0), (60, -13.0)):
        bandit.tell(arm, reward)
    return bandit


def test_retiring_an_arm_and_adding_it_again_restores_choices():
    one, other = begun(), begun()
    first = one.ask()
    other.retire(first)
    second = other.ask()
    assert second.arm != first.arm
    # Its features are those of a retired arm, so that it is that arm again.
    assert other.add_arms(ARMS[[first.arm]]) == [first.arm]
    assert other.ask().arm == first.arm
    assert other.ask().why == first.why
    for _ in range(3):
        for bandit in (one, other):
            choice = bandit.ask()
            bandit.tell(choice, PAYOFF[choice.arm])
    assert one.rewards == other.rewards


def test_a_retired_arm_informs_the_model_and_is_never_chosen():
    bandit = begun()
    best = bandit.best.arm
    before = np.array(bandit.posterior())
    bandit.retire(best)
    np.testing.assert_array_equal(bandit.posterior(), before)
    assert bandit.best.arm != best
    assert best not in play(bandit, 6)
    bandit.tell(best, 1.0)  # what was under way still counts
    assert bandit.rewards[-1] == (best, 1.0)


def test_initial_arms_are_not_retired_ones():
    bandit = wf.Bandit(ARMS, POLICY, seed=3)
    wanted = bandit.ask().arm
    bandit.retire(wanted)
    assert bandit.ask().arm != wanted


def test_new_arms_are_chosen_also_outside_of_the_old_bounds(bandit):
    assert bandit.ask().arm in (61, 62)
    assert bandit.arms.shape == (63, 1)
    table = bandit.explain()
    assert {len(column) for column in table.values()} == {63}
    expected, _ = bandit.posterior([[9.0]])
    np.testing.assert_allclose(table["mean"][62], expected[0], rtol=1e-9)
    assert bandit.ask(among=["a", 3]).arm in (60, 3)


def test_arms_keep_their_places_in_the_unit_box_to_the_last_bit(bandit):
    arms = np.concatenate([ARMS, [[5.5], [6.0], [9.0]]])
    np.testing.assert_array_equal(bandit.space.points[:60], Arms(ARMS).points)
    np.testing.assert_array_equal(bandit.space.points, Arms(arms, box=[[-3.0], [5.0]]).points)


def test_what_was_added_and_retired_survives_saving(bandit):
    again = wf.Bandit.from_state_dict(json.loads(json.dumps(bandit.state_dict())))
    assert again.ask() == bandit.ask()
    assert again.space.titles[-3:] == ("a", "b", "far")
    copy = wf.Bandit.from_state_dict(bandit.state_dict())
    copy.retire("far")
    saved = wf.Bandit.from_state_dict(copy.state_dict())
    assert saved.ask() == copy.ask()
    assert saved.add_arms([[9.0]], names="far") == [62]


def test_a_few_arms_more_compile_nothing_anew(bandit):
    import jax

    compiled = []

    def listen(event: str, duration: float, **_) -> None:
        if event == "/jax/core/compile/jaxpr_to_mlir_module_duration":
            compiled.append(event)

    grown = wf.Bandit.from_state_dict(bandit.state_dict())
    grown.ask()
    grown.posterior()
    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        for place in range(1):  # 63 arms and one more fit 64
            grown.add_arms([[7.0 + place]])
            grown.ask()
            grown.retire(place)
            grown.ask()
            grown.posterior()
    finally:
        jax.monitoring.unregister_event_duration_listener(listen)
    assert compiled == []


def test_a_study_keeps_them_for_all_who_open_it():
    store = MemoryStore()
    one = wf.Study("alloy", ARMS, POLICY, store=store, initial=9)
    other = wf.Study("alloy", store=store)
    one.retire(3, request="r")
    assert one.add_arms([[7.5]], names=["new"]) == [60]
    other.tell(60, 2.0)
    assert other.best.arm == 60
    assert one.history()["kind"] == ["retired", "added", "told"]
    assert one.history()["arm"] == [3, None, 60]
    with pytest.raises(InputError, match=r"^arm is 3, which is retired already"):
        other.retire(3)


BAD = {
    "retired twice": (lambda b: b.retire(5), "arm is 5, which is retired already"),
    "unknown": (lambda b: b.retire(60), "arm is 60; expected"),
    "unknown name": (lambda b: b.retire("x"), "arm is 'x'; expected the name"),
    "asked about": (lambda b: b.ask(among=[5]), "among has arm 5, which is retired; expected"),
    "shape": (lambda b: b.add_arms([[1.0, 2.0]]), r"features has shape \(1, 2\); expected"),
    "nan": (lambda b: b.add_arms([[np.nan]]), r"features\[0, 0\] is nan; expected a finite"),
    "names": (lambda b: b.add_arms([[9.0]], names=["a", "b"]), "names is .*; expected 1 differ"),
    "a number for names": (
        lambda b: b.add_arms([[9.0]], names=5),
        "names is 5; expected 1 different texts",
    ),
    "no axes": (
        lambda b: b.add_arms([[9.0]], names=np.array("a")),
        "names is 'a'; expected 1 different texts",
    ),
    "no name": (
        lambda b: b.add_arms([[9.0]], names=""),
        "names is ''; expected names that can be read",
    ),
    "a blank name": (
        lambda b: b.add_arms([[9.0], [9.5]], names=["a", " "]),
        r"names is \['a', ' '\]; expected names that can be read",
    ),
    "a name that is taken": (
        lambda b: b.add_arms([[9.0]], names=["7"]),
        "names has '7'; expected names that no arm has",
    ),
    "a retired name with other features": (
        lambda b: b.add_arms([[9.0]], names=["5"]),
        "names has '5', a retired arm's; expected its features, too",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_in_one_line_and_changes_nothing(case):
    bandit = wf.Bandit(ARMS, POLICY, seed=3)
    bandit.retire(5)
    before = bandit.state_dict()
    call, message = BAD[case]
    with refused(message):
        call(bandit)
    assert bandit.state_dict() == before


def test_the_last_arm_stays_and_a_box_has_none():
    bandit = wf.Bandit([[0.0], [1.0]], POLICY)
    bandit.retire(0)
    with pytest.raises(InputError, match=r"^arm is 1, the last one"):
        bandit.retire(1)
    with pytest.raises(InputError, match=r"^arms cannot be added"):
        wf.Bandit(wf.Box([0.0], [1.0]), POLICY).add_arms([[0.5]])
    weighted = wf.Bandit(ARMS, wf.LWUCB(prior=np.ones(len(ARMS))))
    with pytest.raises(InputError, match=r"^arms cannot be added where .* one weight per arm"):
        weighted.add_arms([[0.5] * ARMS.shape[1]])
    assert weighted.space.size == len(ARMS)
    with pytest.raises(InputError, match=r"^an arm cannot be retired"):
        wf.Bandit(wf.Box([0.0], [1.0]), POLICY).retire(0)


def test_a_repeated_request_has_the_same_answer():
    with wf.Study("twice", ARMS, POLICY, store=MemoryStore()) as study:
        for _ in range(2):
            assert study.add_arms([[5.5]], names=["a"], request="add") == [60]
            study.retire("a", request="retire")
        assert [event.kind for event in study.happened()] == ["added", "retired"]
        assert study.add_arms([[5.5]], names=["a"]) == [60]  # it comes back
        assert study.add_arms([[7.5], [8.5]]) == [61, 62]
        with pytest.raises(InputError, match="expected one that no other call had"):
            study.retire(0, request="add")
