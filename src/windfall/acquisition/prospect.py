"""The policy for whoever looks for the one best thing: what the tries pay on the way is nothing."""

from windfall.acquisition.base import Acquisition
from windfall.acquisition.ei import ExpectedImprovement
from windfall.models.gp.usual import finding_model
from windfall.models.peak import peak

__all__ = ["Prospect"]


class Prospect(Acquisition):
    """Expected improvement on the best mean, and nothing twice: a(x) = E max(f(x) − μ*, 0).

    The default policy weighs what a pull pays against what it may lead to: μ + κσ + h E max(f −
    μ*, 0), where h is how often an improvement will be enjoyed (see ``Windfall``). If only the best
    thing found counts, an improvement is all that a pull can bring, however many follow: h is
    without bound, and the rest of the score vanishes beside it. μ* is the highest *mean* of what
    was tried, since with noise the highest reward is mostly luck.

    How bad the bad ones are tells nothing about the best: to the model, rewards below the median
    differ by their powers of ten (``windfall.models.gp.compressed``).

    A second pull of the same arm finds nothing, so that every arm is tried once before any is tried
    twice (``repeats``). Of all that was tried on real candidate lists this mattered most
    (``docs/decisions/0008-find-and-earn.md``).

    Example:
        >>> Prospect()
        Prospect()
    """

    repeats = False

    def focus(self, key, belief, situation, setup):
        return ExpectedImprovement(belief, peak(belief))

    def model(self):
        return finding_model()
