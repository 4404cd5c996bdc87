"""The default policy: mean, curiosity that wanes, and attention to a windfall that lasts."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Float

from windfall.acquisition.base import Acquisition
from windfall.acquisition.benefit import BenefitOfDoubt, bonus_for, reach_of
from windfall.acquisition.ei import expected_improvement
from windfall.checks import number
from windfall.models.base import Belief
from windfall.models.gp.usual import earning_model
from windfall.models.peak import peak
from windfall.runtime.arrays import Array

__all__ = ["Windfall"]

#: In so many of the last pulls of a budget curiosity wanes, and anything may be tried again; and
#: what counts as no curiosity.
_ENDING, _NOTHING = 10.0, 1e-9
#: In so many rounds nothing is tried twice, if there are so many times as many arms.
_EARLY, _FAR_MORE = 16, 5
#: The κ of a deep look: beside it nothing but the deviation counts. At most such a share of
#: contexts is unusual enough for one.
_DEEP, _OFTEN = 1e6, 0.5
#: Where windfalls are rare, this share of contexts is unusual for good: a look costs nothing beside
#: them.
_STEADILY = 0.1


class WindfallScore(BenefitOfDoubt):
    """μ(x) + κσ(x) + h E max(f(x) − y*, 0) + b ν(x)."""

    best: Float[Array, ""]
    kappa: Float[Array, ""]
    pulls: Float[Array, ""]
    shunned: Float[Array, " d"] | None = None

    def worth(self, mean, deviation, bonus):
        return mean + self.kappa * deviation + self._windfall(mean, deviation, bonus)

    def value(self, x, mean, deviation):
        value = super().value(x, mean, deviation)
        if self.shunned is None:
            return value
        # Below all others, but a number: it may be the only one that is available.
        least = mean - self.kappa * deviation
        return jnp.where(jnp.all(x == self.shunned, axis=1), least, value)

    def ratio(self, x):
        mean, deviation = self.belief.moments(x)
        certain = deviation <= 0
        windfall = self._windfall(mean, deviation, self.earned(x))
        relative = windfall / jnp.where(certain, 1.0, deviation)
        return jnp.where(certain, 1.0, 1.0 + relative / self.kappa)

    def _windfall(self, mean, deviation, bonus):
        return self.pulls * expected_improvement(mean, deviation, self.best) + bonus


class Windfall(Acquisition):
    """The default policy: a(x) = μ(x) + κ w(x) σ(x) with attention to a windfall that lasts.

    A pull is worth what it is expected to pay, and what it may lead to. If it beats the best arm so
    far, y*, the surplus is earned again in the pulls that follow, until something better is found.
    With h such pulls it is worth h times the expected improvement,

        h E max(f(x) − y*, 0) = h σ(x) τ(z(x)),  τ(z) = zΦ(z) + φ(z),  z = (μ − y*)/σ,

    the online knowledge gradient (Ryzhov, Powell, Frazier 2012) of an arm whose payoff is known
    once it is pulled. How long does an improvement last? The best of n arms, in any order, is
    the best of all M with probability n/M. After n distinct arms an improvement is therefore final
    with about this probability, and h = patience · n/M. Where arms are many it makes no difference
    yet: others will follow. Where most arms are known it pays to look at the rest. On a box there
    is no M; there h = patience, since what counts is the best point in the end.

    A model that is wrong about what it has not seen needs plain curiosity besides, the more the
    less it has seen: κ = curiosity · (1 + min(u^(3/2), (d + 1)/n)), where u is the share of the
    prior variance that is left, on average over the arms. It is 1 before anything is known and
    falls as the rewards explain more of the arms: soon where payoffs are smooth, slowly where every
    arm is for itself. There (d + 1)/n takes over: d + 1 arms settle a trend in d features, and a
    model that rests on many times as many knows how little it knows. The exponent is a compromise
    that was measured, like the two settings. Together

        a(x) = μ(x) + κσ(x) + hσ(x)τ(z(x)) = μ(x) + κ w(x) σ(x),  w(x) = 1 + (h/κ) τ(z(x)):

    an upper bound with attention, as in LW-UCB; but the attention follows the odds of a windfall
    and not the rarity of the mean. It is never below 1, so that no arm is forgotten; rare low
    payoffs draw none; it fades as y* rises above what the model thinks possible; and it needs no
    domain, density or mixture.

    All this takes the model at its word, and a Gaussian one cannot foresee windfalls: if all arms
    but one pay the same, it calls a second one impossible. Without structure, though, the next arm
    beats the best of n with probability 1/(n + 1) whatever the distribution, and then serves
    ``patience`` pulls. Where the best reward stands alone (it sticks out of the others, and no
    neighbour explains it; or all differences may be noise) what was not tried therefore gets the
    benefit of the doubt,

        ρ min(1, 2 patience/n) (y − m) ν(x),

    with the doubt ρ, the lead y − m of the best reward over the mean and the novelty ν, 0 where
    something was tried and 1 elsewhere. On a hill ρ is soon 0. It is part of w. Where differences
    may be luck, those of the mean may be, too: ρ goes up to 2 there, and ν rises half as steeply,
    so that what was not tried is looked at evenly.

    Where contexts differ, nearly everything is new in every one, and there is no such benefit. A
    model makes up its mind sooner still: one arm that pays well in every context, and one reward of
    each of the others, and it will never look at those again, whatever they may pay in other
    contexts. Where something is taken for granted so (most choices were the
    same one, and it is expected to pay most here, too) the most unusual of two contexts, and later
    of n/patience, is worth a deep look: at what is least known there.

    Where windfalls are rare and each arm is for itself (arms that are mere names, nearly all
    rewards alike) deviations are a guess. What was chosen most often is then followed where it is
    expected to pay most, and in the most unusual tenth of contexts another arm is looked at, for
    good: that costs nothing beside a windfall.

    In the first sixteen rounds (or M/5, if that is less) nothing is tried twice: a second pull of
    the same arm pays hardly more than one of its neighbours would, and shows nothing new.

    If a budget says how many pulls are left, an improvement serves no more than these, and
    over the last ten curiosity wanes and anything may be tried again, however early that is: the
    last pull of all goes to the highest mean.

    The model matters as much (``windfall.models.gp.usual``); a policy uses it unless told
    otherwise. ``docs/policies.md`` shows what each part is worth.

    Attributes:
        curiosity: κ once everything is known; twice that in the beginning.
        patience: How many later pulls an improvement serves if nothing better is ever found.

    Example:
        >>> Windfall(patience=20.0)
        Windfall(curiosity=1.1, patience=20.0)
    """

    curiosity: Float[Array, ""] = eqx.field(
        converter=number("curiosity", 0.0, strict=True), default=1.1
    )
    patience: Float[Array, ""] = eqx.field(converter=number("patience", 0.0), default=30.0)

    def focus(self, key, belief, situation, setup):
        tried = belief.tried
        best = jnp.where(tried.distinct > 0, peak(belief), 0.0)  # before any pull h is 0
        # On a box the size is the number of parameters, which the pulls soon exceed.
        pulls = jnp.minimum(self.patience * belief.lasting / situation.size, self.patience)
        doubt = jnp.minimum(
            _unknown(belief, situation.anchors) ** 1.5,
            (tried.x.shape[1] + 1) / jnp.maximum(belief.lasting, 1),
        )
        # Never quite 0, by which attention is divided.
        fade = jnp.clip((situation.left - 1.0) / _ENDING, _NOTHING, 1.0)
        pulls = jnp.minimum(pulls, situation.left - 1.0)
        seen = belief.seen
        n = jnp.maximum(seen.distinct, 1)
        lead = seen.best - jnp.sum(jnp.where(seen.live, seen.reward, 0.0)) / n
        windfall, luck = belief.standing_alone()
        # If differences are luck, those of the mean are: they must not outweigh the bonus.
        doubtful = jnp.maximum(windfall, 2.0 * luck) * jnp.minimum(2.0 * self.patience / n, 1.0)
        bonus = jnp.where(situation.left > 1.0, bonus_for(belief, doubtful, lead), 0.0)
        kappa = self.curiosity * (1.0 + doubt) * fade
        share, habit = jnp.minimum(self.patience / n, _OFTEN), belief.habit
        if habit is not None:
            share = jnp.where(habit.rare, jnp.maximum(share, _STEADILY), share)
        granted, shunned = belief.taken_for_granted(share), None
        if granted is not None:
            look = granted & (situation.left > 1.0)
            kappa = jnp.where(look, _DEEP, kappa)
            if habit is not None:
                follow = habit.rare & habit.best & ~look
                kappa, pulls = jnp.where(follow, _NOTHING, kappa), jnp.where(follow, 0.0, pulls)
                shunned = jnp.where(look, habit.point, jnp.nan)
        return WindfallScore(belief, bonus, reach_of(luck), best, kappa, pulls, shunned)

    def early(self, round, size, left):
        """In the first rounds, as long as there are far more arms than these and no end is near."""
        return (round <= _EARLY) & (round * _FAR_MORE <= size) & (left > _ENDING)

    def model(self):
        return earning_model()


def _unknown(belief: Belief, x: Float[Array, "m d"]) -> Float[Array, ""]:
    """The share of the prior variance that is left at some points, on average.

    Of the payoffs' variance around a mean function: what is unknown of that is no measure, since
    its prior is as wide as can be and a few rewards settle it.
    """
    _, deviation = belief.moments(x)
    return jnp.mean(jnp.minimum(deviation / belief.prior_deviation(x), 1.0) ** 2)
