"""Policies by name, as far as a problem's own settings decide what a name means."""

from collections.abc import Iterable, Mapping
from typing import Any

from windfall.acquisition.ei import EI
from windfall.acquisition.thompson import TS
from windfall.acquisition.ucb import GPUCB, VUCB
from windfall.checks import known_name
from windfall.errors import InputError
from windfall.policy import NAMES, Policy, as_policy
from windfall.problems import Protocol
from windfall.registry import wanted

__all__ = [
    "BASELINES",
    "CLASSICAL",
    "KNOWN",
    "contenders",
    "labelled",
    "on_one_problem",
    "usual",
]

#: What a new policy has to beat; the same settings on every problem.
CLASSICAL: dict[str, Policy] = {
    "ei": Policy(EI()),
    "ts": Policy(TS()),
    "v-ucb-1": Policy(VUCB(1.0)),
    "v-ucb-2": Policy(VUCB(2.0)),
    "gp-ucb": Policy(GPUCB()),
    "gp-ucb-scaled": Policy(GPUCB.scaled()),
}
#: Every name that a policy goes by: the general ones, and those above with fixed settings.
KNOWN = tuple(dict.fromkeys((*NAMES, *CLASSICAL)))
#: The paper's baselines, with the settings that a problem has for them.
BASELINES = ("ei", "ts", "v-ucb", "gp-ucb")


def on_one_problem(goal: str | None = None) -> tuple[str, ...]:
    """Played on one problem when the caller names no policies: the goal's own comes first.

    >>> on_one_problem("best")
    ('prospect', 'lw-ucb', 'v-ucb', 'gp-ucb', 'ei', 'ts')
    """
    return wanted(None, goal), "lw-ucb", "v-ucb", "gp-ucb", "ei", "ts"


def usual(goal: str | None = None) -> tuple[str, ...]:
    """Played on a suite when the caller names no policies: the goal's own comes first."""
    return wanted(None, goal), "lw-ucb", *CLASSICAL


def labelled(policies: Mapping[str, Any] | Iterable[str]) -> dict[str, Any]:
    """Policies by label: a list of names labels itself.

    >>> labelled(["ei", "ts"])
    {'ei': 'ei', 'ts': 'ts'}
    """
    if isinstance(policies, str):
        policies = [policies]
    chosen = dict(policies) if isinstance(policies, Mapping) else {p: p for p in policies}
    if not chosen:
        raise InputError("policies is empty; expected at least one name or object")
    return chosen


def contenders(
    policies: Mapping[str, Any],
    protocol: Protocol,
    kappa: float | None = None,
    components: int | None = None,
    budget: int | None = None,
) -> dict[str, Policy]:
    """The policies themselves, with the problem's settings where the caller gave none.

    Args:
        policies: By label: a name, an acquisition or a policy.
        protocol: Gives κ and the number of components to names that do not fix them.
        kappa: Overrides the protocol's.
        components: Overrides the protocol's.
        budget: How many pulls the policies may think of, initial ones included.

    >>> contenders({"v-ucb": "v-ucb", "v-ucb-1": "v-ucb-1"}, Protocol(kappa=3.0))["v-ucb"]
    Policy(VUCB(kappa=3.0), ...)
    """
    settings = {
        "kappa": protocol.kappa if kappa is None else kappa,
        "components": protocol.components if components is None else components,
    }
    chosen = {
        label: as_policy(_policy(policy, settings), budget=budget)
        for label, policy in policies.items()
    }
    takers = [chosen[label] for label, policy in policies.items() if str(policy) in NAMES]
    for setting, given in (("kappa", kappa), ("components", components)):
        if given is not None and not any(hasattr(p.acquisition, setting) for p in takers):
            raise InputError(
                f"{setting} is {given}, but {', '.join(policies)} has no {setting} to set;"
                " leave it out"
            )
    return chosen


def _policy(policy: Any, settings: dict[str, Any]) -> Any:
    if not isinstance(policy, str):
        return policy
    if policy in NAMES:
        return as_policy(policy, **settings)
    return CLASSICAL[known_name("policy", policy, KNOWN)]
