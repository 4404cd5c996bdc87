"""When rewards call for another search of the hyper-parameters, once such a search is dear.

Under the right model the standardised surprises z of rewards, each predicted from those before it,
are independent and standard normal. The k rewards since a search say how wrong its hyper-parameters
are by the likelihood ratio of the variance r = Σz²/k that they show against the variance 1 that
they should have,

    G = ½ k (r − 1 − log r) ≥ 0  nats.

Both an overconfident model (r > 1) and a timid one (r < 1) lose by it. Surprises are measured in
the units of the search; that the hyper-parameters now stand for others, since the spread of the
rewards has changed, counts as if all rewards showed that ratio. A search is called for when
G exceeds log n, the price of one parameter in n data; or when there are many new rewards, which may
tell of length scales without surprising anybody. Up to a few inputs every reward calls for one.
"""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int

from windfall.runtime.arrays import Array

__all__ = ["FEW", "UNKNOWN", "against", "against_jumps", "outdated"]

#: G as a function of k and r.
Evidence = Callable[[Any, Any], Any]

#: Up to so many distinct inputs a search follows every reward.
FEW = 128
#: The share of the inputs beyond these few that new rewards may amount to without a search.
_GROWTH = 1.0 / 16.0
#: What ``Posterior.misfit`` said at a search that did not ask it.
UNKNOWN = np.full(4, np.nan)


def against(count: Float[Array, ""], ratio: float | Float[Array, ""]) -> Float[Array, ""]:
    """G: what so many numbers say against the variance 1 if they show the variance ``ratio``."""
    return 0.5 * count * (ratio - 1.0 - jnp.log(ratio))


def against_jumps(count: Float[Array, ""], ratio: float | Float[Array, ""]) -> Float[Array, ""]:
    """The same where payoffs jump, as an exponential kernel expects: calm says nothing.

    Most rewards are then foreseen to a hair and a few not at all. The variance of all surprises is
    1, but that of some in a row is nearly 0, and three of these would call for a search.
    """
    return jnp.where(ratio > 1.0, against(count, ratio), 0.0)


def outdated(
    now: Float[Array, " 2"],
    then: Float[Array, " 2"],
    behind: Int[Array, ""],
    stretch: float | Float[Array, ""] = 1.0,
    evidence: Evidence = against,
) -> Bool[Array, ""]:
    """Whether a search is called for.

    Args:
        now: ``Posterior.misfit`` with the hyper-parameters of the last search.
        then: The same at that search.
        behind: How many distinct inputs it rested on.
        stretch: How many times the spread of the rewards is now what it was then.
        evidence: G of k rewards that show the ratio r.

    Example:
        >>> then, n = jnp.array([1000.0, 1000.0]), np.int32(1000)
        >>> [bool(outdated(then + jnp.array([z2, 1.0]), then, n)) for z2 in (0.5, 4.0, 25.0)]
        [False, False, True]
    """
    squares, rewards = now - then
    ratio = squares / rewards
    nats = evidence(rewards, ratio) + against(now[1], stretch**-2)
    few = (rewards > 0) & (rewards <= _GROWTH * (behind - FEW))  # fewer than then: some taken back
    settled = few & (nats <= jnp.log(behind))  # not where there is no number to compare
    return (behind <= FEW) | ~settled
