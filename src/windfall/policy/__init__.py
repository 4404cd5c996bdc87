"""A round as pure functions over explicit state: observe, learn, select.

A policy joins a model of the payoffs and an acquisition (how to value an arm, or any point of a
box). This is the only implementation of a round: ``Bandit`` runs these functions one by one, and a
simulation runs them in a loop inside one compiled program.
"""

from windfall.acquisition.driver import Info
from windfall.policy.learning import due, learn, observe, search, situated
from windfall.policy.names import NAMES, as_policy
from windfall.policy.policy import Policy
from windfall.policy.state import Count, State, study_key

__all__ = [
    "NAMES",
    "Count",
    "Info",
    "Policy",
    "State",
    "as_policy",
    "due",
    "learn",
    "observe",
    "search",
    "situated",
    "study_key",
]
