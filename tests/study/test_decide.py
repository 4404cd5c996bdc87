"""A decision in one program, or in the steps that it is made of where something comes between."""

import numpy as np
import pytest
from bandit_study import ARMS, PAYOFF
from policies import small

import windfall as wf
from windfall.study import compiled

FIT = wf.GP(fit=wf.Fit(restarts=0, iterations=10))


def played(acquisition, *, at_once: bool, **options) -> list[wf.Choice]:
    bandit = wf.Bandit(ARMS, wf.Policy(acquisition, FIT, **options), seed=2)
    assert bandit._decider._plain
    bandit._decider._plain = at_once
    choices = []
    for i in range(10):
        choices.append(bandit.ask(among=np.arange(len(ARMS)) != 5))
        if i % 4 == 3:
            bandit.fail(choices[-1])
        else:
            bandit.tell(choices[-1], float(PAYOFF[choices[-1].arm] + 0.1 * np.sin(3.0 * i)))
    return choices


@pytest.mark.parametrize("name", ["v-ucb", "lw-ucb", "ts"])
def test_one_program_chooses_what_its_steps_choose_and_says_the_same(name):
    one, steps = (played(small(name), at_once=at_once) for at_once in (True, False))
    assert one == steps
    assert [choice.why for choice in one] == [choice.why for choice in steps]


def test_a_choice_drawn_at_random_is_said_to_be_either_way():
    one, steps = (played(wf.VUCB(), at_once=at_once, explore=0.5) for at_once in (True, False))
    assert one == steps
    assert any("drawn at random" in choice.why for choice in one)


def test_what_drove_a_choice_comes_in_plain_numbers():
    bandit = wf.Bandit(ARMS, wf.Policy(small("lw-ucb"), FIT), seed=0)
    for arm in (0, 20, 40):
        bandit.tell(arm, PAYOFF[arm])
    decider, record = bandit._decider, bandit._record
    learned = decider._learn(record)
    arm, info = compiled.decide(
        decider.policy, decider._begun, learned.belief, np.int32(3), None, decider._all
    )
    assert type(arm) is int
    assert {type(getattr(info, name)) for name in ("score", "mean", "ratio", "best")} == {float}
    assert type(info.healthy) is bool
    assert type(info.settled) is bool
