"""What many rewards say of the few inputs that carry a sparse model, in m × m numbers.

Payoffs at the n inputs of ``windfall.models.gp.sparse`` are f = Vᵀu + h with u ~ N(0, I) and
independent h of variance d. With λ_i = d_i + σ²/n_i, B = I + V diag(1/λ) Vᵀ = H⁻¹H⁻ᵀ and
t = V diag(1/λ) ȳ, the rewards leave u ~ N(HᵀH t, HᵀH). All of them at once cost O(n m²). One
reward more changes one λ_i: with w the change of 1/λ_i and ρ = Hv_i,

    B' = B + w v_i v_iᵀ,   H' = (I + w ρρᵀ)^(−½) H = H − (1 − (1 + w|ρ|²)^(−½)) ρ ρᵀH / |ρ|²,

which costs O(m²). Rewards are in their own units here, beside a column of ones: t for standardised
ones follows from both, so that location and spread may change from reward to reward.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from windfall.models.gp.linalg import lower_half, triangular_inverse
from windfall.models.gp.observations import Observations, Scale
from windfall.runtime.arrays import Array
from windfall.runtime.modules import Module

__all__ = ["Sums", "brought_up", "summed"]


class Sums(Module):
    """What rewards say of u, and which rewards these are.

    Attributes:
        root: H.
        volume: log|H|.
        told: V diag(1/λ) [ȳ 1].
        open: d of each slot that counts.
        count: How many rewards of each slot are in the sums; 0 for slots that are not.
        mean: Their mean.
        ready: Whether this may be built upon: not if hyper-parameters have changed since.
    """

    root: Float[Array, "m m"]
    volume: Float[Array, ""]
    told: Float[Array, "m 2"]
    open: Float[Array, " c"]
    count: Float[Array, " c"]
    mean: Float[Array, " c"]
    ready: Bool[Array, ""]

    @classmethod
    def nothing(cls, size: int, capacity: int) -> "Sums":
        """Before anything was added up, as host arrays."""
        zeros, none = np.zeros(capacity), np.zeros((size, 2))
        return cls(np.eye(size), np.float64(0.0), none, zeros, zeros, zeros, np.bool_(False))

    def standardised(self, scale: Scale) -> Float[Array, "m 2"]:
        """V diag(1/λ) [ȳ 1] for rewards in the units of a scale."""
        told = jnp.asarray(self.told)
        return told.at[:, 0].set((told[:, 0] - scale.location * told[:, 1]) / scale.spread)

    def changed(self, slot, white, observations: Observations, variance, prior) -> "Sums":
        """With the rewards that a slot has now in place of those it had; white is its v."""
        open_ = jnp.maximum(prior - white @ white, 0.0)

        def precision(count):
            noise = variance / jnp.where(count > 0, count, 1.0)
            return jnp.where(count > 0, 1.0 / (open_ + noise), 0.0)

        count, mean = observations.count[slot], observations.mean[slot]
        after, before = precision(count), precision(self.count[slot])
        turned = self.root @ white
        size = turned @ turned
        stretch = jnp.sqrt(1.0 + (after - before) * size)
        shrink = (1.0 - 1.0 / stretch) / jnp.maximum(size, jnp.finfo(size.dtype).tiny)
        more = jnp.stack([after * mean - before * self.mean[slot], after - before])
        return Sums(
            self.root - shrink * jnp.outer(turned, turned @ self.root),
            self.volume - jnp.log(stretch),
            self.told + jnp.outer(white, more),
            self.open.at[slot].set(open_),
            self.count.at[slot].set(count),
            self.mean.at[slot].set(mean),
            self.ready,
        )


def summed(
    white: Float[Array, "m c"],
    prior: Float[Array, " c"],
    noise: Float[Array, " c"],
    observations: Observations,
    counts: Bool[Array, " c"],
) -> Sums:
    """All rewards added up, from nothing.

    Args:
        white: V.
        prior: k(x, x) of each slot.
        noise: σ²/n of each slot.
        observations: The rewards, in their own units.
        counts: Which slots are to be counted.
    """
    white = jnp.where(counts, white, 0.0)
    open_ = jnp.where(counts, jnp.maximum(prior - jnp.sum(white**2, axis=0), 0.0), 0.0)
    spread = jnp.where(counts, open_ + noise, 1.0)
    count, mean = (jnp.where(counts, a, 0.0) for a in (observations.count, observations.mean))
    both = jnp.stack([mean, jnp.where(counts, 1.0, 0.0)], axis=1)
    matrix = jnp.eye(len(white)) + lower_half(white / spread, white)
    factor = jnp.linalg.cholesky(matrix, symmetrize_input=False)
    return Sums(
        triangular_inverse(factor),
        -jnp.sum(jnp.log(jnp.diagonal(factor))),
        white @ (both / spread[:, None]),
        open_,
        count,
        mean,
        jnp.asarray(True),
    )


def brought_up(
    sums: Sums,
    white: Callable[[Float[Array, "1 d"]], Float[Array, "m 1"]],
    prior: Callable[[Float[Array, "1 d"]], Float[Array, " 1"]],
    variance: Float[Array, ""],
    observations: Observations,
    counts: Bool[Array, " c"],
) -> Sums:
    """The sums with whatever slots have more rewards than are in them, one slot after the other.

    Args:
        sums: Earlier ones.
        white: v of a point.
        prior: k(x, x) of a point.
        variance: σ².
        observations: The rewards now, none of known noise.
        counts: Which slots are to be counted.
    """
    other = (sums.count != observations.count) | (sums.mean != observations.mean)

    def step(carry):
        sums, left = carry
        slot = jnp.argmax(left)
        x = jnp.asarray(observations.features)[slot][None]
        now = sums.changed(slot, white(x)[:, 0], observations, variance, prior(x)[0])
        return now, left.at[slot].set(False)

    observations = jax.tree.map(jnp.asarray, observations)
    start = jax.tree.map(jnp.asarray, (sums, counts & other))
    return jax.lax.while_loop(lambda carry: jnp.any(carry[1]), step, start)[0]
