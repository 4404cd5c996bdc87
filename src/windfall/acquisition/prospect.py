"""The policy for whoever looks for the one best thing: what the tries pay on the way is nothing."""

import jax.numpy as jnp
from jaxtyping import Float

from windfall.acquisition.base import Acquisition
from windfall.acquisition.benefit import BenefitOfDoubt, bonus_for, reach_of
from windfall.acquisition.ei import ExpectedImprovement, log_expected_improvement
from windfall.models.gp.usual import finding_model
from windfall.models.peak import peak
from windfall.models.rewards import Tried
from windfall.runtime.arrays import Array

__all__ = ["Prospect"]


class ProspectScore(BenefitOfDoubt):
    """log [E max(f(x) − μ*, 0) + b ν(x)]."""

    target: Float[Array, ""]

    average = ExpectedImprovement.average

    def worth(self, mean, deviation, bonus):
        improvement = log_expected_improvement(mean, deviation, self.target)
        some = bonus > 0
        # The logarithm of 1 where there is none, for the sake of gradients.
        both = jnp.logaddexp(improvement, jnp.log(jnp.where(some, bonus, 1.0)))
        return jnp.where(some, both, improvement)


class Prospect(Acquisition):
    """Expected improvement on the best mean, and nothing twice.

        a(x) = E max(f(x) − μ*, 0) + b ν(x)

    The default policy weighs what a pull pays against what it may lead to: μ + κσ + h E max(f −
    μ*, 0), where h is how often an improvement will be enjoyed (see ``Windfall``). If only the best
    thing found counts, an improvement is all that a pull can bring, however many follow: h is
    without bound, and the rest of the score vanishes beside it. μ* is the highest *mean* of what
    was tried, since with noise the highest reward is mostly luck.

    How bad the bad ones are tells nothing about the best: to the model, rewards below the median
    differ by their powers of ten (``windfall.models.gp.compressed``).

    It may also be that all differences so far are luck: the rewards have no structure, and noise
    explains them. With this probability λ (``Belief.standing_alone``) the model has fitted hills to
    noise, and following them piles tries upon tries in a few corners. Then what was not tried may
    lead by as much as the best reward leads by now, wherever it is: b = λ(y − m), where y is the
    best reward and m the median, and ν is 0 where something was tried and 1 far from it. So a land
    that is flat as far as one can see is searched evenly; as soon as something sticks out, b
    vanishes and the tries climb (``docs/decisions/0017-flat-land.md``).

    A second pull of the same arm finds nothing, so that every arm is tried once before any is tried
    twice (``repeats``). Of all that was tried on real candidate lists this mattered most
    (``docs/decisions/0008-find-and-earn.md``).

    Example:
        >>> Prospect()
        Prospect()
    """

    repeats = False

    def focus(self, key, belief, situation, setup):
        _, luck = belief.standing_alone()
        bonus = bonus_for(belief, luck, _lead(belief.seen))
        return ProspectScore(belief, bonus, reach_of(luck), peak(belief))

    def model(self):
        return finding_model()


def _lead(seen: Tried) -> Float[Array, ""]:
    """By how much the best reward is ahead of the median, which does not mind how bad some are."""
    return seen.best - jnp.nanmedian(jnp.where(seen.live, seen.reward, jnp.nan))
