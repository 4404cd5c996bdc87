"""A prior for many features of which few matter."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from windfall.checks import number
from windfall.errors import InputError
from windfall.models.gp.parameters import named
from windfall.models.gp.priors import LogNormalPrior
from windfall.runtime.arrays import Array
from windfall.specs import by_name

__all__ = ["SAAS"]

#: log τ is integrated out on a grid: so many steps, over so many e-folds to both sides.
_STEPS, _REACH = 65, 12.0


class SAAS(LogNormalPrior):
    """Sparse axis-aligned subspaces: most features make no difference until rewards say they do.

    Relevances ρ = 1/lengthscale² are half-Cauchy with a common scale τ, which is so itself,

        τ ~ C⁺(shrinkage),  ρ_i | τ ~ C⁺(τ):

    τ pulls all relevances towards 0, and the heavy tails let the few go that the rewards speak for.
    τ is integrated out, so that there is nothing more to sample. Meant for
    ``GP(fit=Bayes(prior=SAAS()))``; as the prior of a ``Fit`` it gives the most probable
    hyper-parameters, which shrink less.

    Reference: Eriksson, Jankowiak, *High-Dimensional Bayesian Optimization with Sparse Axis-Aligned
    Subspaces* (2021).

    Attributes:
        shrinkage: The scale of τ: the smaller, the fewer features are thought to matter.
        terms: ``name=(median, spread)`` of other hyper-parameters, log-normal.

    Example:
        >>> SAAS(noise=(1e-3, 1.0))
        SAAS(shrinkage=0.1, noise=(0.001, 1.0))
    """

    shrinkage: Float[Array, ""] = eqx.field(converter=number("shrinkage", 0.0, strict=True))

    def __init__(self, shrinkage: Any = 0.1, **terms: Any):
        """The shrinkage, and ``name=(median, spread)`` of other hyper-parameters."""
        super().__init__(**terms)
        self.shrinkage = shrinkage

    def __call__(self, hyper):
        """The log density of the logarithms of all hyper-parameters, up to a constant."""
        scales = [jnp.ravel(value) for name, value in named(hyper) if name == "lengthscale"]
        if not scales:
            raise InputError("prior is SAAS; expected a kernel with length scales")
        return super().__call__(hyper) + log_relevances(jnp.concatenate(scales), self.shrinkage)

    def spec_arguments(self) -> dict[str, Any]:
        """For specs: not the constructor's arguments, since those have the user's names."""
        return {"shrinkage": float(self.shrinkage), "terms": self.terms}

    @classmethod
    def from_spec_arguments(cls, terms: Any, shrinkage: Any = 0.1) -> "SAAS":
        return cls(shrinkage, **by_name("terms", terms))

    def __repr__(self) -> str:
        """The expression that makes this prior again."""
        inside = [f"{name}=({a}, {b})" for name, (a, b) in self.terms.items()]
        return f"SAAS({', '.join([f'shrinkage={float(self.shrinkage)}', *inside])})"


def log_relevances(
    lengthscale: Float[Array, " d"], shrinkage: Float[Array, ""]
) -> Float[Array, ""]:
    """The log density of log lengthscales, up to a constant, with τ integrated out.

    C⁺(ρ; τ) ∝ 1/(τ (1 + ρ²/τ²)), times ρ since the density is one of log ρ. The integral over log τ
    is a sum over a grid, which for smooth functions that vanish at the ends converges faster than
    any power of its step.
    """
    log_tau = jnp.log(shrinkage) + np.linspace(-_REACH, _REACH, _STEPS)
    log_rho = -2.0 * jnp.log(lengthscale)[:, None]
    each = (log_rho - log_tau) - jnp.logaddexp(0.0, 2.0 * (log_rho - log_tau))
    first = (log_tau - jnp.log(shrinkage)) - jnp.logaddexp(
        0.0, 2.0 * (log_tau - jnp.log(shrinkage))
    )
    return jax.nn.logsumexp(first + jnp.sum(each, axis=0))
