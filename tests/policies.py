"""Every policy that has a name, for tests that must hold for all of them."""

from windfall.acquisition.base import Acquisition
from windfall.acquisition.lw import LWUCB
from windfall.policy import NAMES, as_policy
from windfall.registry import GOALS

#: A name that is added to windfall is under test at once. The default comes first.
ALL = list(NAMES)
#: Where a policy can hardly matter: the default of each goal, one that draws, one that attends.
FEW = [name for name in ALL if name in (*GOALS.values(), "ts", "lw-ucb")]
#: Settings that make a policy cheap to compile and to run, and change nothing else.
_SMALL = {"ts": {"features": 64}, "lw-ucb": {"components": 2, "points": 128}}
#: The likelihood ratio without a mixture has no name of its own, and other code.
DIRECT = LWUCB(components=0, points=128)


def small(name: str, **settings) -> Acquisition:
    """The acquisition of this name, made cheap; settings that it does not have are left out."""
    return as_policy(name, **_SMALL.get(name, {}), **settings).acquisition
