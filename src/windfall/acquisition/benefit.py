"""The benefit of the doubt: a bonus for what is far from all that was tried."""

from abc import abstractmethod

import jax
import jax.numpy as jnp
from jaxtyping import Float

from windfall.acquisition.base import Rising
from windfall.models.base import Belief
from windfall.runtime.arrays import Array

__all__ = ["BenefitOfDoubt", "bonus_for", "reach_of"]

#: Of more inputs than this the nearest is not sought for less than such a share of the lead.
_MANY, _NEGLIGIBLE = 1024, 1e-6
#: From how near something that was tried takes the novelty of a point away, in spacings of n
#: points; twice as far where all differences may be luck.
_NEAR = 0.25


class BenefitOfDoubt(Rising):
    """A score with a bonus b ν(x) for what is new: subclass it with ``worth``."""

    bonus: Float[Array, ""]
    reach: Float[Array, ""]

    @abstractmethod
    def worth(self, mean: Array, deviation: Array, bonus: Array) -> Float[Array, " m"]:
        """The score of points with these moments, if novelty earns them so much."""

    def value(self, x, mean, deviation):
        return self.worth(mean, deviation, self.earned(x))

    def ceiling(self, x, glance):
        """As if nothing like it had been tried, which is soon said."""
        moments = self.belief.ceiling(x, glance)
        return None if moments is None else self.worth(*moments, self.bonus)

    def earned(self, x: Float[Array, "m d"]) -> Float[Array, " m"]:
        """The bonus times ν(x); of many inputs the nearest is sought only if there is a bonus."""
        if len(self.belief.tried.x) <= _MANY:
            return self.bonus * self.belief.novelty(x, self.reach)
        nothing = jnp.zeros(x.shape[0], x.dtype)
        return jax.lax.cond(
            self.bonus > 0,
            lambda: self.bonus * self.belief.novelty(x, self.reach),
            lambda: nothing,
        )


def bonus_for(belief: Belief, doubt: Array, lead: Array) -> Float[Array, ""]:
    """b: the doubt times the lead of the best reward; 0 before there is any.

    Args:
        belief: What is believed.
        doubt: How far the rewards are from telling anything about what was not tried.
        lead: By how much the best reward is ahead.
    """
    bonus = jnp.where(belief.seen.distinct > 0, doubt * lead, 0.0)
    if len(belief.tried.x) > _MANY:
        bonus = jnp.where(bonus > _NEGLIGIBLE * lead, bonus, 0.0)
    return bonus


def reach_of(luck: Float[Array, ""]) -> Float[Array, ""]:
    """How far novelty reaches: further where differences may be luck, so that tries are even."""
    return _NEAR * (1.0 + luck)
