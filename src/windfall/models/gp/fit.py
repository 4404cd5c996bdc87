"""Hyper-parameters by maximum evidence (or maximum a posteriori), from several starts."""

import dataclasses
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Float, Int, PRNGKeyArray

from windfall.checks import true_or_false, whole_number
from windfall.errors import InputError
from windfall.models.base import FitInfo
from windfall.models.gp.bfgs import minimise
from windfall.models.gp.evidence import Hyper, log_evidence
from windfall.models.gp.means import Mean, Zero
from windfall.models.gp.observations import Observations
from windfall.models.gp.parameters import Coordinates
from windfall.models.gp.posterior import Posterior
from windfall.models.gp.priors import Prior
from windfall.models.gp.ties import Ties, comparable, gathered, spread
from windfall.naming import name_of
from windfall.runtime.arrays import Array
from windfall.runtime.execution import map_lanes
from windfall.runtime.modules import Module

__all__ = ["Fit", "check_prior", "fit"]

#: An answer that rests on more distinct inputs than this is beaten the less often from a random
#: start the more they are: each is tried in (16/n)² of the searches, but never less often than in
#: one out of four (docs/decisions/0005-restarts.md); and with more inputs than the second number,
#: where each costs seconds, no longer.
AMPLE, SETTLED = 16, 256
_LEAST_SHARE = 0.25
#: The same for lean searches.
LEAN, _LEAST_LEAN = 12, 0.125
#: The most evaluations where the previous answer rests on more than that: it is nearly right, an
#: evaluation takes up to 0.2 s, and the next search goes on from there.
_MOST_LATER = 12
_MUCH_NOISE = 0.3
#: A search has ended where no partial derivative is larger. A lean one's are in nats per spread of
#: the prior, which is no less than that of the posterior: p of them promise p/2 · 10⁻⁴ nats.
_FLAT, _FLAT_LEAN = 1e-4, 1e-2


class Fit(Module):
    """How to search for hyper-parameters.

    Attributes:
        restarts: Random starts in each search, besides the previous answer, the last of them with
            much noise; fewer once that rests on more than 16 distinct inputs, down to each in one
            search out of four, and none with more than 256.
        iterations: The most evaluations of the evidence per start; 12 once the previous answer
            rests on more than 256 distinct inputs.
        prior: Log density of (the logarithms of) the hyper-parameters, such as a
            ``LogNormalPrior`` or a function ``Hyper -> scalar``; None: maximum evidence. The
            one-hot columns of a choice share a length scale, which it sees once.
        lean: Whether the prior, a named one of all hyper-parameters, leaves little to be found:
            steps are then measured in its spreads, and random starts are fewer from 12 inputs on.

    Example:
        >>> from windfall.models.gp.priors import LogNormalPrior
        >>> Fit(prior=LogNormalPrior(noise=(0.01, 0.5)))
        Fit(restarts=3, iterations=50, prior=LogNormalPrior(noise=(0.01, 0.5)))
    """

    restarts: int = eqx.field(static=True, converter=whole_number("restarts", 0), default=3)
    iterations: int = eqx.field(static=True, converter=whole_number("iterations", 1), default=50)
    prior: Any = None
    lean: bool = eqx.field(static=True, converter=true_or_false("lean"), default=False)

    def __check_init__(self):
        check_prior(self.prior)
        if self.lean and not isinstance(self.prior, Prior):
            raise InputError(f"lean is True; expected a named prior, not {self.prior!r}")

    def begin(self, prior: Posterior) -> Posterior:
        """The state of belief before the first reward: one set of hyper-parameters."""
        return prior

    def infer(
        self,
        key: PRNGKeyArray,
        observations: Observations,
        previous: Posterior,
        behind: Int[Array, ""],
        ties: Ties = None,
    ) -> tuple[Hyper, FitInfo]:
        """The best hyper-parameters for standardised rewards, from the previous ones on.

        Args:
            key: Randomness of the starts.
            observations: The standardised rewards.
            previous: Holds the previous hyper-parameters.
            behind: How many distinct inputs these rest on.
            ties: Which features share a length scale.
        """
        ample, least = (LEAN, _LEAST_LEAN) if self.lean else (AMPLE, _LEAST_SHARE)
        share = (ample / jnp.maximum(behind, 1)) ** 2
        share = jnp.where(behind <= SETTLED, jnp.clip(share, least, 1.0), 0.0)
        later = min(self.iterations, _MOST_LATER)
        most = jnp.where(behind <= SETTLED, self.iterations, later)
        return fit(key, observations, previous.hyper, self, previous.trend, share, ties, most)

    def __repr__(self) -> str:
        """The expression that makes this again; the same in every process."""
        return (
            f"Fit(restarts={self.restarts}, iterations={self.iterations}, "
            f"prior={name_of(self.prior)}{', lean=True' if self.lean else ''})"
        )


def fit(
    key: PRNGKeyArray,
    observations: Observations,
    warm: Hyper,
    settings: Fit,
    mean: Mean = Zero(),  # noqa: B008  frozen
    restart: float | Float[Array, ""] = 1.0,
    ties: Ties = None,
    most: int | Int[Array, ""] | None = None,
    within: Callable[[Hyper], Hyper] = lambda hyper: hyper,
) -> tuple[Hyper, FitInfo]:
    """The best hyper-parameters over a warm start and random ones, each with a probability.

    Never worse than ``warm``, which is moved into the box first if it lies outside; ``warm`` if no
    start gives a finite evidence. Each start has ``most`` evaluations, if not the settings' own.
    Rewards are judged by what ``within`` makes of hyper-parameters, which are then a part of it.

    A random start is tried with the probability ``restart``. One number decides for all of them,
    so that a search tries as many as any other, give or take one: none takes long beside the rest.
    """
    warm = gathered(warm, ties)
    coordinates = Coordinates(warm, *observations.repeated())

    def objective(hyper):
        value = -log_evidence(within(spread(hyper, ties)), observations, mean)
        return value if settings.prior is None else value - settings.prior(comparable(hyper, ties))

    warm = coordinates.inside(warm)
    log_warm, _ = ravel_pytree(jax.tree.map(jnp.log, warm))
    low, high = coordinates.start_low, coordinates.start_high
    count, p = settings.restarts, low.shape[0]
    draws = jax.random.uniform(key, (1 + count * p,), log_warm.dtype)
    luck, randomly = draws[0], low + (high - low) * draws[1:].reshape(count, p)
    # Rewards that are mostly noise have two explanations, noise and a rugged payoff; searches that
    # start from little noise only find the second. The last start has much of it.
    noisy = (np.arange(count) == count - 1)[:, None] & (np.arange(p) == p - 1)
    randomly = jnp.where(noisy, jnp.maximum(jnp.log(_MUCH_NOISE), high), randomly)
    starts = jax.vmap(coordinates.at)(jnp.concatenate([log_warm[None], randomly]))
    # A start that is left out gets no evaluations: its value stays infinite.
    most = jnp.asarray(settings.iterations if most is None else most)
    tried = (luck + np.arange(count) / max(count, 1)) % 1.0 < restart
    turns = jnp.concatenate([most[None], jnp.where(tried, most, 0)])
    # Kept off the edge, even the warm start's own search may end a little below where it came from:
    # before it begins, the warm start is evaluated as it is.
    exactly, first = coordinates.exactly(log_warm), np.arange(1 + count) == 0

    # A search knows no curvature when it begins; a lean one takes that of the prior.
    spreads = settings.prior.spreads(warm) if settings.lean else None
    flat = _FLAT_LEAN if settings.lean else _FLAT

    def search(lane):
        start, evaluations, first = lane
        unit = 1.0 if spreads is None else spreads / coordinates.per_unit(start)
        slope = jax.value_and_grad(lambda z: objective(coordinates.hyper(unit * z)))
        before = exactly / unit, first
        found = minimise(
            slope, start / unit, evaluations=evaluations, gradient_tolerance=flat, before=before
        )
        return dataclasses.replace(found, x=unit * found.x)

    solutions = map_lanes(search, (starts, turns, jnp.asarray(first)))
    at = jnp.argmin(solutions.value)
    best = jax.tree.map(lambda a: a[at], solutions)
    kept = solutions.before[0] <= best.value  # on equal values the warm start, too
    hyper = jax.tree.map(
        lambda new, old: jnp.where(kept, old, new), coordinates.hyper(best.x), warm
    )
    value = jnp.minimum(solutions.before[0], best.value)
    converged = jnp.where(kept, solutions.converged[0], best.converged)
    return spread(hyper, ties), FitInfo(value, jnp.sum(solutions.evaluations), converged)


def check_prior(prior: Any) -> None:
    """Refuse what cannot be called with hyper-parameters."""
    if prior is not None and not callable(prior):
        raise InputError(
            f"prior is {prior!r}; expected a LogNormalPrior, a GammaPrior, a function of the "
            "hyper-parameters or None"
        )
