"""The likelihood ratio w(x) = p_x(x)/p_μ(μ(x)): how much attention a point deserves.

Points whose predicted payoff is rare have a small p_μ and a large w. The ratio is scaled so that
its mean over the domain is 1, which lets κ mean the same thing with and without attention.
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Float, PRNGKeyArray

from windfall.attention.density import Bandwidth, Density, estimate
from windfall.attention.mixture import Mixture, fit_mixture
from windfall.runtime.arrays import Array
from windfall.runtime.modules import Module

__all__ = ["DirectRatio", "Domain", "MixtureRatio", "direct_ratio", "mixture_ratio"]

#: A mean that varies by less than this fraction of the model's own deviation says nothing.
_FLAT = 1e-6


class Domain(Module):
    """Where p_μ is estimated: points of the unit box with the input density p_x at each.

    Attributes:
        points: The points.
        prior: p_x there.
        ordered: Whether the first of them fill the domain as all do, only less densely: Sobol
            points do.
    """

    points: Float[Array, "n d"]
    prior: Float[Array, " n"]
    ordered: bool = eqx.field(static=True, default=False)

    @property
    def enough(self) -> int:
        """So many of the points are enough for a mixture of a few Gaussians.

        Half of them, if these are 512 for each dimension: mixtures of one to three dimensions are
        then as likely at points that neither has seen, those of six are not.

        Example:
            >>> import numpy as np
            >>> [Domain(np.zeros((2048, d)), np.ones(2048), ordered=True).enough for d in (2, 3, 6)]
            [1024, 1536, 2048]
        """
        count, dimension = self.points.shape
        return min(count, max(count // 2, 512 * dimension)) if self.ordered else count


class DirectRatio(Module):
    """p_x(x)/p_μ(μ(x)), scaled; 1 everywhere while the mean is flat."""

    density: Density
    total: Float[Array, ""]
    informed: Array

    def __call__(self, x, mean, prior):
        """W at points with posterior mean ``mean`` and input density ``prior``."""
        del x
        return jnp.where(self.informed, prior / self.density(mean) / self.total, 1.0)


class MixtureRatio(Module):
    """A mixture's density, scaled: the smooth and bounded approximation of w.

    ``settled`` says whether its fit had converged; 1 everywhere while the mean is flat.
    """

    mixture: Mixture
    total: Float[Array, ""]
    informed: Array
    settled: Array

    def __call__(self, x, mean, prior):
        """W at the points ``x``; the prior is part of the mixture already."""
        del mean, prior
        return jnp.where(self.informed, self.mixture(x) / self.total, 1.0)


def direct_ratio(
    mean: Float[Array, " n"],
    domain: Domain,
    resolution: Float[Array, ""],
    bandwidth: Bandwidth = "scott",
) -> DirectRatio:
    """The ratio itself.

    Args:
        mean: The posterior mean μ at the domain's points.
        domain: Points and their input density.
        resolution: The smallest difference in μ that means something, such as the model's prior
            deviation; a mean flatter than 1e-6 of it gives w ≡ 1.
        bandwidth: Of the density of μ.
    """
    informed = jnp.max(mean) - jnp.min(mean) > _FLAT * resolution
    # A flat mean would make a zero bandwidth: any spread serves, the answer is not used.
    values = jnp.where(informed, mean, jnp.linspace(0.0, 1.0, mean.shape[0], dtype=mean.dtype))
    density = estimate(values, domain.prior, bandwidth)
    return DirectRatio(density, jnp.mean(domain.prior / density(values)), informed)


def mixture_ratio(
    key: PRNGKeyArray,
    mean: Float[Array, " n"],
    domain: Domain,
    resolution: Float[Array, ""],
    components: int,
    bandwidth: Bandwidth = "scott",
) -> MixtureRatio:
    """The ratio through a Gaussian mixture fitted to the domain's points weighted by w."""
    direct = direct_ratio(mean, domain, resolution, bandwidth)
    some = domain.enough
    weights = direct(domain.points[:some], mean[:some], domain.prior[:some])
    weights = jnp.where(jnp.any(weights > 0), weights, 1.0)  # p_x may be 0 at all of these
    mixture, info = fit_mixture(key, domain.points[:some], weights, components)
    total = jnp.mean(mixture(domain.points))
    return MixtureRatio(mixture, total, direct.informed, info.converged | ~direct.informed)
