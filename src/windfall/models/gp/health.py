"""When a model cannot predict: what is wrong with it, in words."""

from typing import Any

import jax
import numpy as np
from jaxtyping import Float

from windfall.models.gp.ensemble import Ensemble
from windfall.models.gp.kernels import Custom, Kernel, Part, Product, Sum
from windfall.models.gp.means import Function
from windfall.models.gp.posterior import Posterior
from windfall.runtime.arrays import Array
from windfall.runtime.programs import program

__all__ = ["doubtful", "trouble"]

#: So many of the inputs show whether a kernel is one.
_ENOUGH = 1024
#: Rounding makes eigenvalues of this size, relative to the largest, out of zeros and no larger.
_ROUNDING = 1e-8


def doubtful(posterior: Posterior) -> bool:
    """Whether a model may have trouble although it is healthy: a part of it is the user's own."""
    return _is_users(posterior.hyper.kernel) or _own(posterior.trend)


def trouble(posterior: Posterior) -> str | None:
    """Why a model cannot be trusted, if it cannot.

    Windfall's own kernels are positive definite by construction. A user's is looked at on the
    inputs told so far, without the noise, which would hide from a fit what is wrong with it.
    """
    found = _mean_trouble(posterior) or _kernel_trouble(posterior)
    if found is None and not posterior.healthy:
        return (
            f"kernel {posterior.hyper.kernel!r} has no Cholesky factor on the inputs told so far, "
            "or a prediction is not finite; use another kernel or mean function"
        )
    return found


def _mean_trouble(posterior: Posterior) -> str | None:
    used = int(posterior.observations.used)
    if np.all(np.isfinite(np.asarray(posterior.observations.mean)[:used])):
        return None
    return (
        f"mean function {posterior.trend!r} is not finite at the inputs told so far; "
        "use one that is finite wherever a reward can be told"
    )


def _kernel_trouble(posterior: Posterior) -> str | None:
    kernel = posterior.hyper.kernel
    if not _is_users(kernel) or int(posterior.observations.used) == 0:
        return None
    used = min(int(posterior.observations.used), _ENOUGH)
    named = f"kernel {kernel!r} "
    remedy = f"on the {used} input(s) told so far; use another kernel"
    for gram in np.asarray(_grams(posterior))[:, :used, :used]:
        if not np.all(np.isfinite(gram)):
            return f"{named}is not finite {remedy}"
        largest = np.max(np.abs(gram))
        if np.max(np.abs(gram - gram.T)) > _ROUNDING * largest:
            return f"{named}is not symmetric, k(x1, x2) ≠ k(x2, x1), {remedy}"
        values = np.linalg.eigvalsh(gram)
        if values[0] < -_ROUNDING * np.max(np.abs(values)):
            return (
                f"{named}is not positive definite: its matrix has the eigenvalue {values[0]:.3g} "
                f"{remedy}"
            )
    return None


def _is_users(kernel: Kernel) -> bool:
    """Whether a kernel, or a part of it, was written by the user."""

    def whole(node: Any) -> bool:
        return isinstance(node, Kernel) and not isinstance(node, Sum | Product | Part)

    return any(map(_own, jax.tree.leaves(kernel, is_leaf=whole)))


def _own(part: Any) -> bool:
    """Whether the user wrote it: a function, or a class that is not windfall's."""
    return isinstance(part, Custom | Function) or not type(part).__module__.startswith("windfall.")


@program
def _grams(posterior: Posterior) -> Float[Array, "s c c"]:
    def gram(member: Posterior):
        x = member.observations.features[:_ENOUGH]
        return member.hyper.kernel.gram(x, x)

    if isinstance(posterior, Ensemble):
        return posterior.each(gram)
    return gram(posterior)[None]
