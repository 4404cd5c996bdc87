"""A Gaussian process that a few of its inputs carry, for more rewards than an exact one can hold.

Payoffs are f(x) = g(x) + h(x). What m *inducing* inputs Z say about x is g(x), with the covariance
q(x, x') = k(x, Z) K⁻¹ k(Z, x') of low rank; what they leave open is h(x), with the variance
d(x) = k(x, x) − q(x, x) that is missing, and independent from input to input. This is an exact
Gaussian process with another kernel (the fully independent conditional of Quiñonero-Candela and
Rasmussen 2005): variances far from Z are those of k, and an input that has been tried is known by
its own rewards however badly Z explains it, so that no policy keeps coming back to it.

With L the Cholesky factor of K = k(Z, Z), W = L⁻¹, V = W k(Z, X) and λ_i = d(x_i) + σ²/n_i, the
covariance of the mean rewards ȳ is VᵀV + diag λ, and everything follows from m × m matrices,

    B = I + V diag(1/λ) Vᵀ = H⁻¹H⁻ᵀ,  t = V diag(1/λ) ȳ,  v = W k(Z, x):
    E g(x) = vᵀHᵀH t,  Var g(x) = |Hv|²,  Var h(x) = k(x, x) − |v|².

At a tried input, with a = d/(d + σ²/n), its own rewards add h = a (ȳ − g) and leave a σ²/n:

    E f = (1 − a) E g + a ȳ,  Var f = (1 − a)² Var g + a σ²/n.

Conditioning costs O(n m²) time and O(n m) memory, a prediction O(m²).
"""

import dataclasses

import jax
import jax.numpy as jnp
from jax.scipy.linalg import solve_triangular
from jaxtyping import Bool, Float, Int

from windfall.models.blocks import in_blocks
from windfall.models.gp.carried import carried
from windfall.models.gp.ceiling import WIDE, Carriers, sweep
from windfall.models.gp.evidence import Hyper
from windfall.models.gp.inducing import NONE, lately, pivots
from windfall.models.gp.linalg import lower_product, triangular_inverse
from windfall.models.gp.lookup import Lookup
from windfall.models.gp.means import Mean
from windfall.models.gp.observations import Observations, Scale
from windfall.models.gp.posterior import Posterior, whiten
from windfall.models.gp.sparse_path import SparsePath
from windfall.runtime.arrays import Array

__all__ = ["Sparse", "condition_sparse"]


class Sparse(Posterior):
    """A sparse posterior; every answer is in reward units.

    An input told both with and without known noise has two slots, whose h are taken to be
    independent; predictions there rest on the first of them and on g.

    Attributes:
        chosen: The slots that the last search chose to carry the model.
        inducing: Z.
        there: Which rows of Z count.
        whitener: W; rows that do not count are those of the identity.
        root: H.
        told: t.
        open: d(x_i) of every slot.
        unexplained: The share of the prior variance of the inputs that Z leaves open; 0 if exact.
        chosen_forms: [ȳ 1]ᵀA⁻¹[ȳ 1] with what was chosen alone.
    """

    whitener: Float[Array, "m m"]
    chosen: Int[Array, " k"]
    inducing: Float[Array, "m d"]
    there: Bool[Array, " m"]
    root: Float[Array, "m m"]
    told: Float[Array, " m"]
    open: Float[Array, " c"]
    unexplained: Float[Array, ""]
    chosen_forms: Float[Array, "2 2"]

    @property
    def _level(self) -> Float[Array, " m"]:
        """HᵀH t: E g(x) = v · level."""
        return (self.root @ self.told) @ self.root

    def white(self, x: Float[Array, "m d"]) -> Float[Array, "k m"]:
        """W k(Z, x)."""
        cross = _masked(self.kernel.gram(self.inducing, x), self.there)
        return lower_product(self.whitener, cross)

    def finder(self):
        """A function that finds for points their slots, whether they have one, a, ȳ and σ²/n."""
        observations = self.observations
        noise, open_ = observations.noise(self.hyper.noise), jnp.asarray(self.open)
        gain, reward = open_ / (open_ + noise), jnp.asarray(observations.mean)
        # Free slots hold what no point can be equal to.
        lookup = Lookup.of(jnp.where(observations.live[:, None], observations.features, jnp.nan))

        def find(x: Float[Array, "m d"]):
            slot, there = lookup(x)
            return slot, there, jnp.where(there, gain[slot], 0.0), reward[slot], noise[slot]

        return find

    def mean(self, x):
        """E f(x)."""
        level, tried = self._level, self.finder()

        def block(points):
            _, _, gain, reward, _ = tried(points)
            value = level @ self.white(points)
            return self.in_reward_units(points, value + gain * (reward - value))

        return in_blocks(block, x, len(self.told))

    def moments(self, x):
        """E f(x) and the root of Var f(x)."""
        level, tried = self._level, self.finder()

        def block(points):
            _, there, gain, reward, noise = tried(points)
            white = self.white(points)
            prior = self.kernel.diagonal(points)
            low_rank = jnp.sum((self.root @ white) ** 2, axis=0)
            open_ = jnp.maximum(prior - jnp.sum(white**2, axis=0), 0.0)
            variance = jnp.where(
                there, (1.0 - gain) ** 2 * low_rank + gain * noise, low_rank + open_
            )
            # A difference of rounded numbers, as in the exact posterior.
            floor = jnp.finfo(prior.dtype).eps * prior
            deviation = self.scale.spread * jnp.sqrt(jnp.maximum(variance, floor))
            value = level @ white
            return self.in_reward_units(points, value + gain * (reward - value)), deviation

        return in_blocks(block, x, 2 * len(self.told))

    def sample(self, key, anchors, features=512):
        """One payoff function drawn from the posterior, by Matheron's rule.

        A prior function f₀ of random features has g₀ = k(x, Z)K⁻¹f₀(Z), and the rest of it is the h
        of whatever was not tried; tried inputs have an h of their own.
        """
        feature_key, weight_key, open_key, noise_key = jax.random.split(key, 4)
        observations, dtype = self.observations, self.whitener.dtype
        phi = self.kernel.random_features(feature_key, features, anchors)
        weights = jax.random.normal(weight_key, (features,), dtype) / jnp.sqrt(features)
        noise = observations.noise(self.hyper.noise)
        shape = observations.mean.shape
        own = jnp.sqrt(self.open) * jax.random.normal(open_key, shape, dtype)
        heard = own + jnp.sqrt(noise) * jax.random.normal(noise_key, shape, dtype)
        first = self.whitener @ jnp.where(self.there, phi(self.inducing) @ weights, 0.0)
        white = self.white(observations.features)
        residual = observations.mean - first @ white - heard
        precision = jnp.where(observations.live, 1.0 / (self.open + noise), 0.0)
        change = (self.root @ (white @ (precision * residual))) @ self.root
        width = max(2 * len(self.told), features, anchors.shape[0])
        return SparsePath(self, phi, weights, first, change, own, heard, width)

    def ceiling(self, x, glance):
        """No less than μ and σ, by a pass over Z; a tried input knows its own rewards besides."""
        seen = sweep(self, self._level @ self.whitener, glance)
        if seen is None:
            return None
        _, there, gain, reward, noise = self.finder()(x)
        prior = self.kernel.diagonal(x)
        left = prior - seen.explained
        left = jnp.where(there, jnp.minimum(left, prior * noise / (prior + noise)), left)
        left = jnp.maximum(left, jnp.finfo(prior.dtype).eps * prior)
        mean = self.in_reward_units(x, seen.total + gain * (reward - seen.total))
        return mean, self.scale.spread * jnp.sqrt(left)

    def carriers(self):
        """Z. A reward there says k(z, x) of x, but for what rounding and jitter leave open of z."""
        slot, there, _, _, noise = self.finder()(self.inducing)
        gap = jnp.sqrt(self.open[slot] / self.kernel.diagonal(self.inducing))
        counts = there & self.there & (gap <= WIDE)
        gap = jnp.max(jnp.where(counts, gap, 0.0))
        return Carriers(self.inducing, jnp.where(counts, noise, jnp.inf), len(self.there), gap)

    def forms(self):
        """As for the exact posterior, without the latest inputs among Z.

        These come and go between searches and take the kernel with them: only with one and the same
        kernel does every reward add the square of its own surprise.
        """
        return self.chosen_forms

    def log_density(self):
        """−½ (ȳᵀA⁻¹ȳ + log|A|) by Woodbury's formula and Sylvester's: |A| = |B| Π λ_i."""
        observations = self.observations
        live, noise = observations.live, observations.noise(self.hyper.noise)
        spread = jnp.where(live, self.open + noise, 1.0)
        y = jnp.where(live, observations.mean, 0.0)
        white = jnp.asarray(self.root) @ self.told
        apart = jnp.sum(y**2 / spread + jnp.log(spread))
        return 0.5 * (jnp.dot(white, white) - apart) + jnp.linalg.slogdet(self.root)[1]

    def left_out(self, slot):
        """(A⁻¹ȳ)_i/(A⁻¹)_ii by Woodbury's formula, with λ_i taken out of both."""
        observations = self.observations
        white = self.white(jnp.asarray(observations.features)[slot][None])[:, 0]
        spread = self.open[slot] + observations.noise(self.hyper.noise)[slot]
        away = observations.mean[slot] - self._level @ white
        return away / (1.0 - jnp.sum((self.root @ white) ** 2) / spread)

    def extend(self, observations):
        """The posterior after one more reward, with hyper-parameters, scale and Z kept: O(m²).

        One reward more changes 1/λ of its slot by w, and B by w vvᵀ: with ρ = Hv the root becomes
        (I + w ρρᵀ)^(−½) H.
        """
        scaled = self.scale.apply(self.trend.residual(observations))
        slot = jnp.argmax(scaled.count != self.observations.count)
        x = scaled.features[slot][None]
        white = self.white(x)[:, 0]
        prior = self.kernel.diagonal(x)[0]
        open_ = self.open.at[slot].set(jnp.maximum(prior - white @ white, 0.0))

        def precision(data: Observations):
            inverse = 1.0 / (open_[slot] + data.noise(self.hyper.noise)[slot])
            return jnp.where(data.live[slot], inverse, 0.0)

        after, before = precision(scaled), precision(self.observations)
        turned = self.root @ white
        size = turned @ turned
        stretch = jnp.sqrt(1.0 + (after - before) * size)
        shrink = (1.0 - 1.0 / stretch) / jnp.maximum(size, jnp.finfo(size.dtype).tiny)
        return dataclasses.replace(
            self,
            observations=scaled,
            root=self.root - shrink * jnp.outer(turned, turned @ self.root),
            told=self.told
            + white * (after * scaled.mean[slot] - before * self.observations.mean[slot]),
            open=open_,
        )

    def anew(self, hyper, observations, scale):
        """Other hyper-parameters and rewards, and inputs chosen now if no search chose any."""
        scaled = scale.apply(self.trend.residual(observations))
        chosen = jnp.asarray(self.chosen)
        chosen = jax.lax.cond(
            chosen[0] == NONE,
            lambda: pivots(self.trend.over(hyper.kernel), scaled, len(chosen)),
            lambda: chosen,
        )
        return condition_sparse(hyper, scaled, scale, self.trend, chosen, len(self.told))


def condition_sparse(
    hyper: Hyper,
    scaled: Observations,
    scale: Scale,
    trend: Mean,
    chosen: Int[Array, " k"],
    size: int,
) -> Sparse:
    """The sparse posterior given hyper-parameters and standardised observations.

    Args:
        hyper: Hyper-parameters.
        scaled: The standardised rewards.
        scale: The way back to reward units.
        trend: The mean function.
        chosen: The slots of inputs that carry the model.
        size: m: how many there are with those that came last.
    """
    kernel = trend.over(hyper.kernel)
    slots = jnp.concatenate([chosen, lately(chosen, scaled.used, size - len(chosen))])
    there = slots != NONE
    inducing = jnp.asarray(scaled.features)[jnp.maximum(slots, 0)]
    gram = kernel.gram(inducing, inducing)
    gram = jnp.where(there[:, None] & there, gram, jnp.eye(size, dtype=gram.dtype))
    whitener, healthy = whiten(gram, there)
    live = scaled.live
    cross = _masked(kernel.gram(inducing, scaled.features), there)
    white = jnp.where(live, lower_product(whitener, cross), 0.0)
    prior = jnp.where(live, kernel.diagonal(scaled.features), 0.0)
    noise = scaled.noise(hyper.noise)
    y = jnp.where(live, scaled.mean, 0.0)

    # The first rows of V do not depend on those after them.
    _, spread, factor, _ = carried(white[: len(chosen)], prior, noise, y, live)
    both = jnp.stack([y, jnp.where(live, 1.0, 0.0)], axis=1)
    half = solve_triangular(factor, white[: len(chosen)] @ (both / spread[:, None]), lower=True)
    forms = both.T @ (both / spread[:, None]) - half.T @ half
    open_, _, factor, told = carried(white, prior, noise, y, live)
    root = triangular_inverse(factor)
    return Sparse(
        hyper=hyper,
        observations=scaled,
        scale=scale,
        whitener=whitener,
        healthy=healthy & jnp.all(jnp.isfinite(root)),
        trend=trend,
        chosen=chosen,
        inducing=inducing,
        there=there,
        root=root,
        told=told,
        open=open_,
        unexplained=jnp.sum(open_) / jnp.maximum(jnp.sum(prior), jnp.finfo(prior.dtype).tiny),
        chosen_forms=forms,
    )


def _masked(cross, there):
    return jnp.where(there[:, None], cross, 0.0)
