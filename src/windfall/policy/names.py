"""Policies by name, by goal, or as a user wrote them."""

import dataclasses
from typing import Any

from windfall import registry
from windfall.acquisition.base import Acquisition
from windfall.checks import known_name
from windfall.models.drifting import drifting
from windfall.policy.policy import Policy
from windfall.runtime.given import ModelLike, PolicyLike, Text, Truth, Whole

__all__ = ["NAMES", "as_policy"]

NAMES = tuple(registry.POLICIES)


def as_policy(
    policy: PolicyLike | None = None,
    *,
    goal: str | None = None,
    model: ModelLike | None = None,
    repeats: Truth | None = None,
    budget: Whole | None = None,
    drift: Text | None = None,
    **settings: Any,
) -> Policy:
    """A policy from a name, an acquisition or a policy; None is the default policy of the goal.

    Args:
        policy: What the user wrote.
        goal: What counts, if no policy is named: "reward", the sum, or "best", the best found.
        model: See ``Policy``; None leaves it to the policy.
        repeats: The same.
        budget: The same.
        drift: "auto" if payoffs may change with time.
        **settings: For a name only: settings of that acquisition, such as ``kappa``; those that
            belong to another acquisition are left out.

    Example:
        >>> as_policy("v-ucb", kappa=1.0, components=2).acquisition
        VUCB(kappa=1.0)
        >>> as_policy(goal="best").acquisition
        Prospect()
    """
    chosen = _joined(registry.wanted(policy, goal), settings)
    given = {"model": model, "repeats": repeats, "budget": budget}
    changes = {name: value for name, value in given.items() if value is not None}
    wanted = Policy(**chosen.spec_arguments() | changes) if changes else chosen
    if drift is None or wanted.model.ages:
        return wanted
    known_name("drift", drift, ("auto",))
    return as_policy(wanted, model=drifting(wanted.model))


def _joined(policy: PolicyLike, settings: dict[str, Any]) -> Policy:
    if isinstance(policy, Policy):
        return policy
    if isinstance(policy, Acquisition):
        return Policy(policy)
    known_name("policy", policy, NAMES, "an object such as LWUCB(kappa=1.0), or")
    makers = {name: registry.find(make) for name, make in registry.POLICIES.items()}
    known = sorted({field for make in makers.values() for field in _settings(make)})
    for setting in settings:
        known_name("setting", setting, known)
    make = makers[policy]
    return Policy(make(**{k: v for k, v in settings.items() if k in _settings(make)}))


def _settings(make: Any) -> set[str]:
    """The settings that a constructor takes; a named variant has none."""
    return {f.name for f in dataclasses.fields(make)} if isinstance(make, type) else set()
