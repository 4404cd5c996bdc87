"""A kernel of time: rewards age, and those from before a change say nothing; how fast, and when."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import solve_triangular
from jaxtyping import Float, Int

from windfall.models.gp.evidence import Hyper, covariance, log_evidence
from windfall.models.gp.kernels import Kernel, Part
from windfall.models.gp.means import Mean
from windfall.models.gp.observations import LEAST_NOISE, Observations
from windfall.runtime.arrays import Array
from windfall.runtime.execution import map_lanes

__all__ = [
    "NEVER",
    "Ageing",
    "change_evidence",
    "columns_of",
    "levels",
    "most_probable",
    "moved",
    "sizes_of",
]

#: How long payoffs stay alike, in spans of all times; and how much of the still model's noise
#: was no noise.
_SPANS = (4.0, 2.0, 1.0, 0.5, 0.25, 0.12, 0.06)
_NOISES = (1.0, 0.1, 0.01)

#: No rate and no change.
NEVER = np.float64(0.0), np.float64(-np.inf)


class Ageing(Kernel):
    """k(t, t') = exp(−rate |t − t'|) where both lie on one side of ``since``, else 0.

    With the rate 0 and ``since`` −∞ it is 1: nothing ages.

    Attributes:
        rate: How fast payoffs change, per unit of time.
        since: When they changed all at once; −∞ for never.
    """

    rate: Float[Array, ""]
    since: Float[Array, ""]

    def __call__(self, x1, x2):
        return self.gram(x1[None], x2[None])[0, 0]

    def gram(self, x1, x2):
        apart = jnp.abs(x1[:, None, 0] - x2[None, :, 0])
        same = (x1[:, None, 0] >= self.since) == (x2[None, :, 0] >= self.since)
        return jnp.where(same, jnp.exp(-self.rate * apart), 0.0)

    def diagonal(self, x):
        return jnp.ones(x.shape[0], x.dtype)

    def random_features(self, key, count, anchors):
        """√2 cos(ωt + b) with ω ~ rate · Cauchy, times a random sign on either side."""
        frequency_key, phase_key, sign_key = jax.random.split(key, 3)
        frequencies = self.rate * jax.random.cauchy(frequency_key, (count,), anchors.dtype)
        phases = jax.random.uniform(phase_key, (count,), anchors.dtype, 0.0, 2.0 * jnp.pi)
        signs = jax.random.rademacher(sign_key, (2, count), anchors.dtype)

        def features(x):
            side = (x[:, 0] >= self.since).astype(int)
            return jnp.sqrt(2.0) * jnp.cos(x[:, :1] * frequencies + phases) * signs[side]

        return features


def levels(noise: Float[Array, ""]) -> list[Float[Array, ""]]:
    """Noises to be compared: some of what was taken for it may be drift."""
    return [jnp.maximum(noise * share, LEAST_NOISE) for share in _NOISES]


def most_probable(
    lanes: Hyper, rewards: Observations, mean: Mean
) -> tuple[Int[Array, ""], Ageing, Float[Array, ""]]:
    """Which hyper-parameters and what ageing make the rewards most probable, if anything ages.

    Args:
        lanes: Hyper-parameters to choose from, without those of time, stacked.
        rewards: Standardised, of every (input, time).
        mean: The mean function.

    Returns:
        Which hyper-parameters, how rewards age with them, and by how much this is more probable
        than that nothing does, in logarithms: the best of the former, each averaged over all rates
        or all changes, against the best of the latter.
    """

    def each(found):
        rates, changes, odds = alternatives(moved(found, *NEVER), rewards, mean)

        def evidence(how):
            return log_evidence(moved(found, *how), rewards, mean)

        return rates, changes, odds + map_lanes(evidence, (rates, changes))

    # In each row first that nothing drifts, then the rates, then the change.
    rates, changes, values = map_lanes(each, lanes)
    ages = [jax.nn.logsumexp(kind, axis=1) for kind in (values[:, 1:-1], values[:, -1:])]
    lead = jnp.max(jnp.stack(ages)) - jnp.max(values[:, 0])
    lane, how = jnp.unravel_index(jnp.argmax(values[:, 1:]), values[:, 1:].shape)
    return lane, Ageing(rates[lane, how + 1], changes[lane, how + 1]), lead


def alternatives(
    hyper: Hyper, rewards: Observations, mean: Mean
) -> tuple[Float[Array, " j"], Float[Array, " j"], Float[Array, " j"]]:
    """Rates and changes to be compared, and the logarithm of what is expected of each beforehand.

    First that nothing drifts, then the rates, each as likely as the others, and last the change
    of highest evidence; before the rewards are seen a change may have come with any of them.
    """
    times = jnp.where(rewards.live, rewards.features[:, -1], jnp.nan)
    span = jnp.maximum(jnp.nanmax(times) - jnp.nanmin(times), 1e-300)
    values = change_evidence(hyper, rewards, mean)
    at = jnp.argmax(values)
    odds = jax.nn.logsumexp(values) - values[at] - jnp.log(jnp.maximum(rewards.used - 1, 1))
    rates = jnp.concatenate([jnp.zeros(1), 1.0 / (np.array(_SPANS) * span), jnp.zeros(1)])
    changes = jnp.full(len(_SPANS) + 2, -jnp.inf).at[-1].set(rewards.features[at, -1])
    spread = jnp.full(len(_SPANS), -np.log(len(_SPANS)))
    return rates, changes, jnp.concatenate([jnp.zeros(1), spread, odds[None]])


def change_evidence(hyper: Hyper, rewards: Observations, mean: Mean) -> Float[Array, " c"]:
    """How probable the rewards are if everything changed with each of them, up to a constant.

    Rewards from before and after a change are independent, and a Cholesky factor of all rewards
    holds those of the first one, two, …: with z = L⁻¹y the first c have the log density
    −Σ_(i ≤ c) (z_i²/2 + log L_ii). A second factor, in the opposite order, has the last ones.
    −∞ for the first reward and where the time did not go on.
    """
    matrix = covariance(hyper, rewards, mean)
    y = jnp.where(rewards.live, rewards.mean, 0.0)
    first, last = _first_ones(y, matrix), _first_ones(y[::-1], matrix[::-1, ::-1])[::-1]
    times = rewards.features[:, -1]
    later = rewards.live[1:] & (times[1:] > times[:-1])
    both = jnp.where(later, first[:-1] + last[1:], -jnp.inf)
    return jnp.concatenate([jnp.full(1, -jnp.inf), both])


def _first_ones(y, matrix):
    factor = jnp.linalg.cholesky(matrix, symmetrize_input=False)
    white = solve_triangular(factor, y, lower=True)
    return -jnp.cumsum(0.5 * white**2 + jnp.log(jnp.diagonal(factor)))


def moved(hyper: Hyper, rate: Any, since: Any) -> Hyper:
    """The hyper-parameters of the moving model: a kernel that knows no time, times that of time."""
    columns = columns_of(hyper)
    kernel = Part(hyper.kernel, 0, columns) * Part(Ageing(rate, since), columns, columns + 1)
    return Hyper(kernel, hyper.noise)


def columns_of(hyper: Hyper) -> int:
    """How many columns a kernel sees; if it has parts, up to the end of the last one."""
    nodes = jax.tree.leaves(hyper.kernel, is_leaf=lambda x: isinstance(x, Part))
    ends = [node.stop for node in nodes if isinstance(node, Part)]
    return max(ends) if ends else sizes_of(hyper)[0]


def sizes_of(hyper: Hyper) -> list[int]:
    """How many entries those parameters of a kernel have that have one for each column."""
    return [np.shape(leaf)[-1] for leaf in jax.tree.leaves(hyper.kernel) if np.ndim(leaf)]
