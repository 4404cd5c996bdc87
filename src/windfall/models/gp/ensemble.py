"""Several posteriors that differ in their hyper-parameters, each as probable as the others."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Float

from windfall.models.gp.posterior import Posterior, condition
from windfall.runtime.arrays import Array
from windfall.runtime.execution import map_lanes

__all__ = ["Ensemble"]


class Ensemble(Posterior):
    """An equal mixture of Gaussian processes over samples of the hyper-parameters.

    A posterior like any other, with one more axis at the front of ``hyper`` and ``whitener``.
    Observations, scale and trend are shared. Moments are those of the mixture,

        E f(x) = mean_s μ_s(x),   Var f(x) = mean_s σ_s²(x) + Var_s μ_s(x).
    """

    whitener: Float[Array, "s c c"]

    def each(self, function: Callable[..., Any], *others: Any) -> Any:
        """The answers of all members, stacked; ``others`` have one entry for each of them."""

        def answer(lane):
            hyper, whitener, rest = lane
            return function(self._with(hyper, whitener), *rest)

        return map_lanes(answer, (self.hyper, self.whitener, others))

    def _with(self, hyper, whitener) -> Posterior:
        return Posterior(hyper, self.observations, self.scale, whitener, self.healthy, self.trend)

    @property
    def size(self) -> int:
        """The number of members."""
        return self.whitener.shape[0]

    def mean(self, x):
        """The mean of the members' means."""
        return jnp.mean(self.each(lambda member: member.mean(x)), axis=0)

    def moments(self, x):
        """Mean and deviation of the mixture."""
        mean, deviation = self.each(lambda member: member.moments(x))
        variance = jnp.mean(deviation**2, axis=0) + jnp.var(mean, axis=0)
        return jnp.mean(mean, axis=0), jnp.sqrt(variance)

    def prior_deviation(self, x):
        """The deviation of the mixture before any reward."""
        deviation = self.each(lambda member: member.prior_deviation(x))
        return jnp.sqrt(jnp.mean(deviation**2, axis=0))

    def sample(self, key, anchors, features=512):
        """One payoff function: of a member drawn at random, a function drawn from it."""
        member_key, key = jax.random.split(key)
        i = jax.random.randint(member_key, (), 0, self.size)
        hyper, whitener = jax.tree.map(lambda a: jnp.asarray(a)[i], (self.hyper, self.whitener))
        return self._with(hyper, whitener).sample(key, anchors, features)

    def ceiling(self, x, glance):
        """None: each member would have its own."""
        del x, glance
        return None

    def misfit(self, scale):
        """On average over the members."""
        return jnp.mean(self.each(lambda member: member.misfit(scale)), axis=0)

    def extend(self, observations):
        """Every member after one more reward."""
        extended = self.each(lambda member: _own(member.extend(observations)))
        return self._joined(self.hyper, observations, self.scale, *extended)

    def anew(self, hyper, observations, scale):
        """Every member conditioned anew."""

        def member(one):
            return _own(condition(one, observations, scale, self.trend))

        return self._joined(hyper, observations, scale, *map_lanes(member, hyper))

    def _joined(self, hyper, observations, scale, whitener, healthy) -> "Ensemble":
        return dataclasses.replace(
            self,
            hyper=hyper,
            observations=scale.apply(self.trend.residual(observations)),
            scale=scale,
            whitener=whitener,
            healthy=jnp.all(healthy),
        )


def _own(posterior: Posterior) -> tuple[Array, Array]:
    """What a member does not share with the others, besides its hyper-parameters."""
    return posterior.whitener, posterior.healthy
