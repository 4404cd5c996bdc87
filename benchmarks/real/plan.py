"""What is played: policies, rounds, trials."""

from typing import Any

import windfall as wf
from windfall.policy import Policy

TRIALS = 24
#: The best of the initial arms, then 60 decisions.
ROUNDS = 61
SEED = 0

#: Whose best on each list is the measure of all.
REFERENCE = ("v-ucb-1", "v-ucb-2", "ei", "ts")
DEFAULT = "windfall"
#: For the goal "best".
FINDER = "prospect"
BOTORCH = "botorch logei"


def policies() -> dict[str, Any]:
    """By label, what ``windfall.compare_suite`` takes."""
    model = Policy(wf.Windfall()).model
    return {
        DEFAULT: "windfall",
        FINDER: "prospect",
        **{name: name for name in REFERENCE},
        "lw-ucb-1": wf.LWUCB(kappa=1.0),
        "ei, default's model": Policy(wf.EI(), model),
        "ts, default's model": Policy(wf.TS(), model),
    }
