"""Hyper-parameters sampled from their posterior instead of searched: full Bayes."""

from importlib.util import find_spec
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Int, PRNGKeyArray

from windfall.checks import whole_number
from windfall.errors import InputError
from windfall.models.base import FitInfo
from windfall.models.gp.ensemble import Ensemble
from windfall.models.gp.evidence import Hyper, log_evidence
from windfall.models.gp.fit import Fit, check_prior, fit
from windfall.models.gp.observations import Observations
from windfall.models.gp.parameters import Coordinates
from windfall.models.gp.posterior import Posterior
from windfall.models.gp.priors import usual_prior
from windfall.models.gp.ties import Ties, gathered, spread
from windfall.naming import name_of
from windfall.runtime.arrays import Array
from windfall.runtime.modules import Module

__all__ = ["Bayes"]

#: A trajectory has at most 2^7 steps; the few hyper-parameters of a kernel rarely need 2^4.
_DOUBLINGS = 7


class Bayes(Module):
    """Sample hyper-parameters with NUTS; predictions and acquisitions average over the samples.

    One chain from the most probable hyper-parameters, over the coordinates of the search, its
    steps tuned while it warms up. Needs BlackJAX: ``pip install windfall[bayes]``.

    Attributes:
        samples: How many sets of hyper-parameters to keep.
        warmup: Steps that tune the sampler and are thrown away.
        thinning: Steps from one kept sample to the next.
        prior: As for ``Fit``; None: a weak log-normal prior of each lengthscale, variance, noise,
            alpha and period. Names of a user's own are log-uniform between 0.001 and 1000.

    Reference: Hoffman, Gelman, *The No-U-Turn Sampler* (2014).

    Example:
        >>> Bayes(samples=8)
        Bayes(samples=8, warmup=128, thinning=4, prior=None)
    """

    samples: int = eqx.field(static=True, converter=whole_number("samples", 1), default=16)
    warmup: int = eqx.field(static=True, converter=whole_number("warmup", 20), default=128)
    thinning: int = eqx.field(static=True, converter=whole_number("thinning", 1), default=4)
    prior: Any = None

    def __check_init__(self):
        check_prior(self.prior)
        if find_spec("blackjax") is None:
            raise InputError(
                "Bayes needs BlackJAX, which is not installed: pip install windfall[bayes]"
            )

    def begin(self, prior: Posterior) -> Ensemble:
        """The state of belief before the first reward: the same guess in every sample."""

        def repeated(leaf):
            return np.broadcast_to(leaf, (self.samples, *np.shape(leaf)))

        hyper, whitener = jax.tree.map(repeated, (prior.hyper, prior.whitener))
        return Ensemble(
            hyper, prior.observations, prior.scale, whitener, prior.healthy, prior.trend
        )

    def infer(
        self,
        key: PRNGKeyArray,
        observations: Observations,
        previous: Posterior,
        behind: Int[Array, ""],
        ties: Ties = None,
    ) -> tuple[Hyper, FitInfo]:
        """Samples of the hyper-parameters for standardised rewards, as one stack."""
        del behind  # a chain starts from the most probable ones, however much they rest on
        import blackjax  # an optional extra

        last = jax.tree.map(lambda a: a[-1], previous.hyper)
        prior = usual_prior(last) if self.prior is None else self.prior
        search_key, warmup_key, chain_key = jax.random.split(key, 3)
        settings = Fit(prior=prior)
        start, _ = fit(search_key, observations, last, settings, previous.trend, ties=ties)
        start = gathered(start, ties)
        coordinates = Coordinates(start, *observations.repeated())

        def log_density(u):
            hyper = coordinates.hyper(u)
            evidence = log_evidence(spread(hyper, ties), observations, previous.trend)
            return evidence + prior(hyper) + coordinates.log_volume(u)

        u = coordinates.at(ravel_pytree(jax.tree.map(jnp.log, start))[0])
        tuning: Any = blackjax.window_adaptation(
            blackjax.nuts, log_density, max_num_doublings=_DOUBLINGS
        )
        (state, tuned), _ = tuning.run(warmup_key, u, self.warmup)
        sampler: Any = blackjax.nuts(log_density, **tuned)

        def advance(state, keys):
            return jax.lax.scan(lambda state, key: sampler.step(key, state), state, keys)

        def kept(state, keys):
            state, info = advance(state, keys)
            return state, (state.position, info.num_integration_steps, info.is_divergent)

        keys = jax.random.split(chain_key, (self.samples, self.thinning))
        state, (positions, steps, divergent) = jax.lax.scan(kept, state, keys)
        info = FitInfo(-state.logdensity, jnp.sum(steps), ~jnp.any(divergent))
        return jax.vmap(lambda u: spread(coordinates.hyper(u), ties))(positions), info

    def __repr__(self) -> str:
        """The expression that makes this again; the same in every process."""
        return (
            f"Bayes(samples={self.samples}, warmup={self.warmup}, thinning={self.thinning}, "
            f"prior={name_of(self.prior)})"
        )
