"""Hyper-parameters by maximum evidence (or maximum a posteriori), from several starts.

The search runs over u ∈ Rᵖ, log θ = low + (high − low)·sigmoid(u): every parameter is positive and
stays in a wide box, so that three rewards cannot send a length scale to infinity.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Bool, Float, Int, PRNGKeyArray

from windfall.arrays import Array
from windfall.checks import whole
from windfall.errors import InputError
from windfall.gp.bfgs import minimise
from windfall.gp.evidence import Hyper, log_evidence
from windfall.gp.observations import Observations
from windfall.runtime import map_lanes

__all__ = ["Fit", "FitInfo", "LogNormalPrior", "fit"]

#: Where each parameter may go, and where random starts are drawn (both log-uniform). Features fill
#: the unit box and rewards have deviation 1, so the same numbers serve every problem.
BOUNDS = {
    "lengthscale": (5e-3, 2e1),
    "variance": (1e-3, 1e3),
    "noise": (1e-8, 1e0),
    "alpha": (1e-1, 1e2),
    "period": (1e-2, 1e1),
}
STARTS = {
    "lengthscale": (5e-2, 1e0),
    "variance": (3e-1, 1e1),
    "noise": (1e-6, 1e-2),
    "alpha": (5e-1, 5e0),
    "period": (1e-1, 2e0),
}
_ELSE = (1e-3, 1e3)


class LogNormalPrior(eqx.Module):
    """Hyper-parameters known before the first reward: log θ ~ N(log median, spread²) by name.

    Example:
        >>> LogNormalPrior(lengthscale=(0.3, 0.7))
        LogNormalPrior(lengthscale=(0.3, 0.7))
    """

    terms: dict[str, tuple[float, float]]

    def __init__(self, **terms: Any):
        """``name=(median, spread)`` for each hyper-parameter that has a prior."""
        for name, term in terms.items():
            if not _is_positive_pair(term):
                raise InputError(
                    f"prior {name} is {term!r}; expected (median, spread), both positive"
                )
        self.terms = {name: (float(m), float(s)) for name, (m, s) in terms.items()}

    def __call__(self, hyper: Hyper) -> Float[Array, ""]:
        """The log density of the hyper-parameters, up to a constant."""
        known = list(_named(hyper))
        unknown = self.terms.keys() - {name for name, _ in known}
        if unknown:
            raise InputError(
                f"prior has {sorted(unknown)}; expected names of hyper-parameters: "
                f"{', '.join(dict(known))}"
            )
        total = jnp.zeros(())
        for name, value in known:
            if name in self.terms:
                median, spread = self.terms[name]
                total -= 0.5 * jnp.sum(((jnp.log(value) - jnp.log(median)) / spread) ** 2)
        return total

    def __repr__(self) -> str:
        inside = ", ".join(f"{k}=({m}, {s})" for k, (m, s) in self.terms.items())
        return f"LogNormalPrior({inside})"


class Fit(eqx.Module):
    """How to search for hyper-parameters.

    Attributes:
        restarts: Random starts in each search, besides the previous round's answer.
        iterations: The most evaluations of the evidence per start.
        prior: Log density of the hyper-parameters (``Hyper -> scalar``); None: maximum evidence.
    """

    restarts: int = eqx.field(static=True, default=3)
    iterations: int = eqx.field(static=True, default=50)
    prior: Any = None

    def __check_init__(self):
        whole("restarts", self.restarts, 0)
        whole("iterations", self.iterations, 1)
        if self.prior is not None and not callable(self.prior):
            raise InputError(
                f"prior is {self.prior!r}; expected a LogNormalPrior, a function of the "
                "hyper-parameters or None"
            )


class FitInfo(eqx.Module):
    """How a search ended."""

    objective: Float[Array, ""]
    evaluations: Int[Array, ""]
    converged: Bool[Array, ""]


def fit(
    key: PRNGKeyArray, observations: Observations, warm: Hyper, settings: Fit
) -> tuple[Hyper, FitInfo]:
    """The best hyper-parameters over a warm start and random restarts.

    Never worse than ``warm``, which is moved into the box first if it lies outside; ``warm`` if no
    start gives a finite evidence.
    """
    _, unravel = ravel_pytree(warm)
    low, high = _box(warm, BOUNDS)

    def natural(log_parameters):
        return jax.tree.map(jnp.exp, unravel(log_parameters))

    def hyper_at(u):
        return natural(low + (high - low) * jax.nn.sigmoid(u))

    def objective(hyper):
        value = -log_evidence(hyper, observations)
        return value if settings.prior is None else value - settings.prior(hyper)

    def coordinates(log_parameters):
        fraction = (log_parameters - low) / (high - low)
        # Right on the box's edge the sigmoid is flat and nothing would move.
        return jax.scipy.special.logit(jnp.clip(fraction, 1e-3, 1.0 - 1e-3))

    warm = jax.tree.map(jnp.clip, warm, natural(low), natural(high))
    log_warm, _ = ravel_pytree(jax.tree.map(jnp.log, warm))
    start_low, start_high = _box(warm, STARTS)
    draws = jax.random.uniform(key, (settings.restarts, low.shape[0]), log_warm.dtype)
    random_starts = start_low + (start_high - start_low) * draws
    starts = jax.vmap(coordinates)(jnp.concatenate([log_warm[None], random_starts]))

    def search(start):
        slope = jax.value_and_grad(lambda u: objective(hyper_at(u)))
        return minimise(slope, start, evaluations=settings.iterations)

    solutions = map_lanes(search, starts)
    # argmin is first-wins: on equal values the warm start's solution is kept.
    best = jax.tree.map(lambda a: a[jnp.argmin(solutions.value)], solutions)
    # Kept off the edge, even the warm start's own search may end a little below where it came from.
    at_warm = objective(warm)
    found = jnp.isfinite(best.value) & ~(best.value > at_warm)
    hyper, value = jax.tree.map(
        lambda new, old: jnp.where(found, new, old),
        (hyper_at(best.x), best.value),
        (warm, at_warm),
    )
    return hyper, FitInfo(value, jnp.sum(solutions.evaluations), best.converged)


def _is_positive_pair(term: Any) -> bool:
    try:
        median, spread = map(float, term)
    except (TypeError, ValueError):
        return False
    return 0 < median < np.inf and 0 < spread < np.inf


def _named(hyper: Hyper):
    """Each parameter with the name of the field that holds it."""
    for path, leaf in jax.tree_util.tree_flatten_with_path(hyper)[0]:
        last = path[-1]
        yield getattr(last, "name", getattr(last, "key", "")), leaf


def _box(hyper: Hyper, table: dict) -> tuple[Float[Array, " p"], Float[Array, " p"]]:
    """The logarithms of the low and high ends for every entry of the parameter vector."""
    ends = [
        np.full((np.size(leaf), 2), np.log(table.get(name, _ELSE))) for name, leaf in _named(hyper)
    ]
    both = np.concatenate(ends)
    return jnp.asarray(both[:, 0]), jnp.asarray(both[:, 1])
