"""What a policy's name means on a problem."""

import re
from pathlib import Path

import pytest

import windfall as wf
from windfall.cli import options
from windfall.compare.contenders import (
    BASELINES,
    CLASSICAL,
    KNOWN,
    contenders,
    labelled,
    on_one_problem,
    usual,
)
from windfall.errors import InputError
from windfall.plot.style import COLOURS
from windfall.policy import NAMES, Policy
from windfall.problems import Protocol
from windfall.registry import GOALS

PROTOCOL = Protocol(kappa=3.0, components=5)


def test_names_take_the_problem_s_settings_and_classical_ones_keep_theirs():
    names = ["lw-ucb", "v-ucb", "v-ucb-1", "v-ucb-2"]
    policies = contenders(labelled(names), PROTOCOL)
    acquisitions = {label: policy.acquisition for label, policy in policies.items()}
    assert list(policies) == names
    assert (acquisitions["lw-ucb"].kappa, acquisitions["lw-ucb"].components) == (3.0, 5)
    assert [float(acquisitions[n].kappa) for n in names[1:]] == [3.0, 1.0, 2.0]


def test_given_settings_replace_the_problem_s_where_a_name_leaves_them_open():
    policies = contenders(labelled(["lw-ucb", "v-ucb-2"]), PROTOCOL, kappa=0.5, components=2)
    weighted = policies["lw-ucb"].acquisition
    assert (weighted.kappa, weighted.components) == (0.5, 2)
    assert policies["v-ucb-2"].acquisition.kappa == 2.0


def test_objects_are_taken_as_they_are():
    own = Policy(wf.VUCB(kappa=0.7))
    policies = contenders({"mine": own, "plain": wf.EI(xi=0.1)}, PROTOCOL)
    assert policies["mine"] is own
    assert repr(policies["plain"]) == repr(Policy(wf.EI(xi=0.1)))


@pytest.mark.parametrize("goal", GOALS)
def test_the_goal_s_own_policy_comes_first(goal):
    assert usual(goal)[0] == on_one_problem(goal)[0] == GOALS[goal]
    assert not {*GOALS.values()} & {*usual(goal)[1:], *on_one_problem(goal)[1:]}
    assert usual()[1:] == usual(goal)[1:]
    assert (usual(), on_one_problem()) == (usual("reward"), on_one_problem("reward"))


def test_all_may_count_on_the_same_budget():
    mixed = {"windfall": "windfall", "ei": "ei", "mine": wf.VUCB(0.5), "v-ucb-1": "v-ucb-1"}
    for policy in contenders(mixed, PROTOCOL, budget=9).values():
        assert policy.budget == 9
    assert CLASSICAL["v-ucb-1"].budget is None


def test_the_classical_ones_are_six_and_usually_played():
    assert list(CLASSICAL) == ["ei", "ts", "v-ucb-1", "v-ucb-2", "gp-ucb", "gp-ucb-scaled"]
    assert set(CLASSICAL) < set(usual())
    assert "lw-ucb" in usual()
    assert contenders(labelled(usual()), PROTOCOL).keys() == set(usual())
    for name in set(CLASSICAL) & set(NAMES):
        assert repr(CLASSICAL[name]) == repr(wf.policy.as_policy(name))


def test_wherever_policies_are_listed_none_is_missing():
    """In the help of the command line, among the colours, on the page about them."""
    assert options.POLICIES == KNOWN
    assert set(COLOURS) == set(NAMES)
    assert set(on_one_problem()) == {GOALS["reward"], "lw-ucb", *BASELINES} < set(NAMES)
    page = (Path(__file__).parents[2] / "docs" / "policies.md").read_text()
    table = page.partition("| policy | take it when |")[2].partition("\n\n")[0]
    listed = [row.split("|")[1] for row in table.splitlines()[2:]]
    assert {name for row in listed for name in re.findall("`(.*?)`", row)} == set(KNOWN)


@pytest.mark.parametrize(
    ("policies", "settings", "message"),
    [
        (["v-ucb-3"], {}, r"policy is 'v-ucb-3' \(did you mean 'v-ucb-[12]'\?\); expected one"),
        (["ei", "zzz"], {}, "policy is 'zzz'; expected one of"),
        ({"mine": 3}, {}, "policy is 3; expected .*one of"),
        (["ei", "v-ucb-1"], {"kappa": 1.0}, "kappa is 1.0, but ei, v-ucb-1 has no kappa to set"),
        ({"mine": wf.VUCB(1.0)}, {"kappa": 2.0}, "kappa is 2.0, but mine has no kappa to set"),
        (["v-ucb"], {"components": 2}, "components is 2, but v-ucb has no components to set"),
    ],
)
def test_what_is_wrong_is_named(policies, settings, message):
    with pytest.raises(InputError, match=message):
        contenders(labelled(policies), PROTOCOL, **settings)


def test_no_policy_at_all():
    with pytest.raises(InputError, match="policies is empty"):
        labelled([])
    assert labelled("ei") == {"ei": "ei"}
