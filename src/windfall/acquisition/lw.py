"""LW-UCB: an upper confidence bound whose curiosity is weighted by the likelihood ratio."""

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from windfall.acquisition.base import Acquisition, Rising
from windfall.attention.density import Bandwidth, check_bandwidth
from windfall.attention.domain_prior import (
    Conditional,
    Relative,
    Tabulated,
    check_traceable,
    check_weights,
    prior_over,
    prior_values,
)
from windfall.attention.prior import InContext, as_prior
from windfall.attention.ratio import (
    DirectRatio,
    Domain,
    MixtureRatio,
    direct_ratio,
    mixture_ratio,
)
from windfall.checks import number, one_of, whole_number
from windfall.errors import InputError
from windfall.models.units import joint_units, user_units
from windfall.runtime.arrays import Array
from windfall.runtime.modules import Module
from windfall.space import Arms, Inputs, Space
from windfall.space.joint import Joint

__all__ = ["LWUCB"]


class Survey(Module):
    """What LW-UCB knows of a space.

    Attributes:
        domain: Where p_μ is estimated.
        prior: p_x anywhere, where the ratio is used directly; None if it is uniform or part of a
            mixture.
        conditional: p_x where it depends on the context; None if it does not.
    """

    domain: Domain
    prior: Relative | Tabulated | None = None
    conditional: Conditional | None = None

    def at(self, context: Float[Array, " c"] | None) -> "Survey":
        """The same with the p_x of this context; uniform where that is 0 all over the domain."""
        if self.conditional is None or context is None:
            return self
        prior = self.conditional.at(context, self.domain.points)
        values = prior(self.domain.points)
        somewhere = jnp.where(jnp.any(values > 0), values, 1.0)
        return Survey(replace(self.domain, prior=somewhere), prior)


class WeightedBound(Rising):
    """μ(x) + κ w(x) σ(x)."""

    attention: DirectRatio | MixtureRatio
    prior: Relative | Tabulated | None
    kappa: Float[Array, ""]

    def value(self, x, mean, deviation):
        return mean + self.kappa * self._attention(x, mean) * deviation

    def ceiling(self, x, glance):
        """None where attention is the rarity of the mean itself, which may fall as that rises."""
        return None if isinstance(self.attention, DirectRatio) else super().ceiling(x, glance)

    @property
    def settled(self):
        return self.attention.settled if isinstance(self.attention, MixtureRatio) else None

    def ratio(self, x):
        return self._attention(x, self.belief.mean(x))

    def _attention(self, x, mean):
        prior = jnp.ones_like(mean) if self.prior is None else self.prior(x)
        return self.attention(x, mean, prior)


class LWUCB(Acquisition):
    """Likelihood-weighted UCB, the paper's policy: a(x) = μ(x) + κ w(x) σ(x).

    w = p_x/p_μ is large where the predicted payoff is rare. It is estimated over the domain each
    round and approximated by a Gaussian mixture, with mean 1 over the domain.

    Reference: Yang, Blanchard, Sapsis, Perdikaris, *Output-Weighted Sampling for Multi-Armed
    Bandits with Extreme Payoffs* (2022), equations for the likelihood ratio, its mixture and
    LW-UCB.

    Attributes:
        kappa: κ.
        components: n_GMM; 0 uses the ratio directly, without a mixture.
        domain: Where p_μ is estimated: "box" (space-filling points; right for few or scattered
            arms) or "arms".
        points: How many points fill the box.
        bandwidth: Of the density of μ.
        prior: p_x: None (uniform), ``gaussian``, ``independent``, a ``LogDensity`` or any function
            of an (m, d) array of features giving densities, or one weight per arm (then the domain
            is the arms). ``InContext`` where it depends on a context, too.

    Example:
        >>> LWUCB(kappa=1.0, components=2)
        LWUCB(kappa=1.0, components=2, domain='box', points=2048, bandwidth='scott', prior=None)
    """

    kappa: Float[Array, ""] = eqx.field(converter=number("kappa", 0.0), default=2.0)
    components: int = eqx.field(static=True, converter=whole_number("components", 0, 64), default=4)
    domain: Literal["box", "arms"] = eqx.field(
        static=True, converter=one_of("domain", "box", "arms"), default="box"
    )
    points: int = eqx.field(static=True, converter=whole_number("points", 16, 2**20), default=2048)
    bandwidth: Bandwidth = eqx.field(static=True, converter=check_bandwidth, default="scott")
    prior: Callable | np.ndarray | None = eqx.field(converter=as_prior, default=None)

    @property
    def grows(self) -> bool:
        """Not with one weight per arm."""
        return not isinstance(self.prior, np.ndarray)

    @property
    def contextual(self) -> bool:
        """Where p_x depends on the context."""
        return isinstance(self.prior, InContext)

    def setup(self, space: Inputs) -> Survey:
        """Where p_μ is estimated, and p_x there."""
        if isinstance(self.prior, InContext):
            return self._in_context(space, self.prior.density)
        assert isinstance(space, Space)
        survey = self._arms(space) if isinstance(space, Arms) else self._region(space)
        # A mixture contains the prior.
        return Survey(survey.domain) if self.components else survey

    def _in_context(self, space: Inputs, density: Callable) -> Survey:
        if not isinstance(space, Joint) or space.context is None or space.context.space is None:
            raise InputError(
                f"prior is {self.prior!r}; expected a study with a context whose bounds are given"
            )
        uniform = replace(self, prior=None).setup(space.space)
        conditional = Conditional(density, joint_units(space))
        columns = [space.space.dimension, space.frame.width - space.frame.timed]
        check_traceable(conditional, columns, "a p_x in contexts needs; write it with jax.numpy")
        return Survey(uniform.domain, None, conditional)

    def _arms(self, space: Arms) -> Survey:
        if isinstance(self.prior, np.ndarray):
            weights = check_weights(self.prior, space.size)
            return Survey(Domain(space.points, weights), Tabulated.of(space.points, weights))
        filled = self.domain == "box"
        points = space.fill(self.points) if filled else space.points
        if self.prior is None:
            return Survey(Domain(points, np.ones(len(points)), filled))
        at_points, at_arms = prior_values(
            self.prior, space.natural(points), space.natural(space.points)
        )
        survey = Domain(points, at_points, filled)
        return Survey(survey, Tabulated.of(space.points, at_arms))

    def _region(self, space: Space) -> Survey:
        if self.domain == "arms" or isinstance(self.prior, np.ndarray):
            asked = "domain is 'arms'" if self.domain == "arms" else "prior is a list of weights"
            raise InputError(f"{asked} and a box has no arms; use a function of features, or none")
        points = space.fill(self.points)
        if self.prior is None:
            return Survey(Domain(points, np.ones(len(points)), ordered=True))
        at_points, prior = prior_over(self.prior, space.natural(points), user_units(space))
        if not self.components:
            otherwise = "write it with jax.numpy, or use a mixture (components=4)"
            check_traceable(prior, [space.dimension], f"components=0 needs on a box; {otherwise}")
        return Survey(Domain(points, at_points, ordered=True), prior)

    def focus(self, key, belief, situation, setup):
        setup = setup.at(belief.known)
        domain, prior = setup.domain, None if self.components else setup.prior
        mean = belief.mean(domain.points)
        resolution = jnp.max(belief.prior_deviation(domain.points))
        if self.components == 0:
            attention = direct_ratio(mean, domain, resolution, self.bandwidth)
        else:
            attention = mixture_ratio(
                key, mean, domain, resolution, self.components, self.bandwidth
            )
        return WeightedBound(belief, attention, prior, self.kappa)
