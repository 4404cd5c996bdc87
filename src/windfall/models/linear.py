"""Bayesian linear regression on features: a round costs the same however many rewards there are.

Payoffs are f(x) = ȳ + φ(x)ᵀβ, where φ begins with the constant 1 and ȳ is the mean of all rewards.
Only sums over the rewards are kept; the posterior follows from them: see ``linear_sums``.
"""

import dataclasses
from itertools import combinations_with_replacement
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.tree_util import Partial
from jaxtyping import Float, PRNGKeyArray

from windfall.checks import LARGEST_SEED, known_name, number, shown, whole_number
from windfall.errors import InputError
from windfall.models.base import Belief, FitInfo, Model, Reward, Tried
from windfall.models.linear_sums import SHAPE, Solution, Sums, solve
from windfall.naming import name_of
from windfall.runtime.arrays import Array
from windfall.runtime.execution import float64, map_lanes
from windfall.space import Inputs

__all__ = ["BayesianLinear", "LinearBelief"]

#: λ is searched within these powers of 10 of the first guess; its logarithm has a normal prior.
_DECADES, _STEPS, _SPREAD = 6.0, 25, np.log(100.0)
#: How many of the inputs with the highest rewards are remembered.
_REMEMBERED = 64


def _remember(tried: Tried, count: Float[Array, " c"], x: Float[Array, " d"], reward: Reward):
    """A reward merged with others of its input, else in a free slot or the worst one's."""
    same = tried.live & jnp.all(tried.x == x, axis=1)
    old = jnp.any(same)
    worst = jnp.argmin(jnp.where(tried.live, tried.reward, -jnp.inf))  # a free one if there is any
    slot = jnp.where(old, jnp.argmax(same), worst)
    before, mean = jnp.where(old, count[slot], 0.0), jnp.where(old, tried.reward[slot], 0.0)
    after = before + reward.count
    mean += (reward.mean - mean) * (reward.count / after)
    enters = old | ~tried.live[slot] | (mean > tried.reward[slot])
    slot = jnp.where(enters, slot, len(count))  # beyond the end nothing is set
    distinct = tried.distinct + jnp.where(old, 0, 1).astype(tried.distinct.dtype)
    kept = Tried(
        tried.x.at[slot].set(x, mode="drop"),
        tried.reward.at[slot].set(mean, mode="drop"),
        tried.live.at[slot].set(True, mode="drop"),
        distinct,
    )
    return kept, count.at[slot].set(after, mode="drop")


class LinearBelief(Belief):
    """The sums of the rewards, and the posterior of the last conditioning.

    Attributes:
        features: φ without the constant: a function of (m, d) unit points.
        sums: What is kept of the rewards.
        best: The 64 inputs of the highest mean rewards. One that was dropped and comes back counts
            as new: ``distinct`` is exact up to 64 inputs, and never too small beyond.
        counts: How many rewards these inputs have.
        first: The first guess of λ.
        precision: λ.
        posterior: As ``BayesianLinear.condition`` solved it.
    """

    features: Partial
    sums: Sums
    best: Tried
    counts: Float[Array, " c"]
    first: Float[Array, ""]
    precision: Float[Array, ""]
    posterior: Solution

    @property
    def capacity(self) -> None:
        return None

    @property
    def healthy(self):
        found = self.posterior
        return jnp.all(jnp.isfinite(found.weights)) & jnp.all(jnp.isfinite(found.root))

    @property
    def tried(self) -> Tried:
        return self.best

    def _phi(self, x: Float[Array, "m d"]) -> Float[Array, "m p"]:
        return jnp.concatenate([jnp.ones_like(x[:, :1]), self.features(x)], axis=1)

    def mean(self, x):
        return self.posterior.location + self._phi(x) @ self.posterior.weights

    def moments(self, x):
        phi, found = self._phi(x), self.posterior
        deviation = jnp.sqrt(found.noise) * _lengths(phi @ found.root.T)
        return found.location + phi @ found.weights, deviation

    def prior_deviation(self, x):
        """s‖φ‖/√λ."""
        return jnp.sqrt(self.posterior.noise / self.precision) * _lengths(self._phi(x))

    def sample(self, key, anchors, features=512):
        """ȳ + φᵀβ with β = m + σWᵀz and σ² = b/Gamma(a)."""
        del anchors, features
        found = self.posterior
        key, noise_key = jax.random.split(key)
        z = jax.random.normal(key, found.weights.shape, found.weights.dtype)
        gamma = jax.random.gamma(noise_key, found.shape, dtype=found.shape.dtype)
        deviation = jnp.sqrt(found.noise * (found.shape - 1.0) / gamma)
        weights = found.weights + deviation * (z @ found.root)
        return lambda x: found.location + self._phi(x) @ weights

    def observe(self, x, reward: Reward) -> "LinearBelief":
        sums = self.sums.add(self._phi(x[None])[0], reward)
        best, counts = _remember(self.best, self.counts, x, reward)
        return dataclasses.replace(self, sums=sums, best=best, counts=counts)

    def imagine(self, x) -> "LinearBelief":
        """Λ + φφᵀ in place of Λ; m and s² stay.

        With q = Wφ the root is (I + qqᵀ)^(−½) W = W − qqᵀW/(r(r + 1)), r² = 1 + ‖q‖².
        """
        q = self.posterior.root @ self._phi(x[None])[0]
        r = jnp.sqrt(1.0 + q @ q)
        root = self.posterior.root - jnp.outer(q, q @ self.posterior.root) / (r * (r + 1.0))
        noted = self.observe(x, Reward(self.mean(x[None])[0]))
        return dataclasses.replace(noted, posterior=dataclasses.replace(self.posterior, root=root))

    def resized(self, capacity: int) -> "LinearBelief":
        return self

    def dump(self) -> dict[str, Any]:
        return {"precision": float(self.precision)}

    def load(self, saved: Any) -> "LinearBelief":
        if not isinstance(saved, dict):
            raise InputError(f"state belief is {shown(saved)}; expected a precision")
        precision = number("state precision", 0.0, strict=True)(saved.get("precision"))
        return dataclasses.replace(self, precision=precision)


def _lengths(rows: Float[Array, "m p"]) -> Float[Array, " m"]:
    return jnp.sqrt(jnp.sum(rows**2, axis=1))


@eqx.filter_jit
def _evaluated(features: Partial, x):
    """Features at some points; compiled once for all studies that have them."""
    return features(x)


def _linear(x):
    return 2.0 * x - 1.0


def _polynomial(x):
    t = _linear(x)
    pairs = combinations_with_replacement(range(x.shape[1]), 2)
    return jnp.concatenate([t, *(t[:, i : i + 1] * t[:, j : j + 1] for i, j in pairs)], axis=1)


def _fourier(frequencies, phases, x):
    return jnp.sqrt(2.0 / len(phases)) * jnp.cos(x @ frequencies + phases)


def _as_features(features: Any) -> Any:
    if callable(features) and not isinstance(features, type):
        return features
    return known_name("features", features, ("linear", "polynomial", "fourier"), "a function or")


class BayesianLinear(Model[LinearBelief]):
    """Payoffs that are linear in features of the input: f(x) = ȳ + φ(x)ᵀβ.

    For payoffs whose shape is known, and for many rewards: with p features a round costs O(p³),
    after a million rewards as after a hundred. What the features cannot express counts as noise, so
    say how noisy a reward is only where their shape is beyond doubt.

    λ, the prior precision of the coefficients, is the one of highest evidence on a grid around a
    first guess (that payoffs vary as much as rewards do), with a weak prior around this guess. The
    lengthscale of Fourier features is not searched: others would need sums of their own.

    Attributes:
        features: "linear" in the input, "polynomial" (with squares and products), "fourier" (random
            Fourier features of a Matérn 5/2 kernel), or a function that JAX can trace, from (m, d)
            points of the unit box to (m, p) numbers of similar size. A constant is always added.
        noise: First guess of the noise variance, relative to the variance of the rewards.
        size: The number of Fourier features.
        lengthscale: Of the Fourier features, in units of the box.
        seed: Randomness of the Fourier features.
        refit_every: Search on every so many rewards and keep λ in between.

    Example:
        >>> BayesianLinear("polynomial")
        BayesianLinear(features='polynomial', noise=0.01, size=128, lengthscale=0.3, seed=0,
                       refit_every=1)
    """

    features: Any = eqx.field(static=True, converter=_as_features, default="linear")
    noise: Float[Array, ""] = eqx.field(converter=number("noise", 0.0, strict=True), default=0.01)
    size: int = eqx.field(static=True, converter=whole_number("size", 1, 4096), default=128)
    lengthscale: Float[Array, ""] = eqx.field(
        converter=number("lengthscale", 0.0, strict=True), default=0.3
    )
    seed: int = eqx.field(static=True, converter=whole_number("seed", 0, LARGEST_SEED), default=0)
    refit_every: int = eqx.field(static=True, converter=whole_number("refit_every", 1), default=1)

    def __repr__(self) -> str:
        """The expression that makes this again; the same in every process."""
        named = repr(self.features) if isinstance(self.features, str) else name_of(self.features)
        return (
            f"BayesianLinear(features={named}, noise={float(self.noise)}, size={self.size}, "
            f"lengthscale={float(self.lengthscale)}, seed={self.seed}, "
            f"refit_every={self.refit_every})"
        )

    def _basis(self, dimension: int) -> Partial:
        if self.features != "fourier":
            named = {"linear": _linear, "polynomial": _polynomial}
            return Partial(named.get(self.features, self.features))
        # The spectrum of a Matérn kernel is a Student t with 2ν = 5 degrees of freedom.
        random = np.random.default_rng(self.seed)
        normal = random.normal(size=(dimension, self.size)) / self.lengthscale
        frequencies = normal * np.sqrt(2.5 / random.gamma(2.5, size=self.size))
        return Partial(_fourier, frequencies, random.uniform(0.0, 2.0 * np.pi, self.size))

    @float64
    def begin(self, space: Inputs, capacity: int) -> LinearBelief:
        features, anchors = self._basis(space.dimension), space.anchors()
        phi = np.asarray(_evaluated(features, anchors))
        if phi.ndim != 2 or len(phi) != len(anchors) or not np.all(np.isfinite(phi)):
            raise InputError(
                f"features {name_of(self.features)} give an array of shape {phi.shape} for "
                f"{len(anchors)} points; expected finite numbers, one row for each point"
            )
        p, c, zero, zeros = 1 + phi.shape[1], _REMEMBERED, np.float64(0.0), np.zeros(3)
        first = self.noise * (1.0 + np.mean(np.sum(phi**2, axis=1)))
        root = np.eye(p) / np.sqrt(first)
        return LinearBelief(
            features,
            Sums(zero, zero, zero, zeros, np.zeros((3, p, p)), np.zeros((3, p)), zeros),
            Tried(np.zeros((c, space.dimension)), np.zeros(c), np.zeros(c, bool), np.int32(0)),
            np.zeros(c),
            first,
            first,
            Solution(zero, np.zeros(p), root, self.noise, np.float64(SHAPE), zero),
        )

    def search(self, key: PRNGKeyArray, belief: LinearBelief) -> tuple[LinearBelief, FitInfo]:
        """λ of the highest evidence; the previous one if no evidence is finite."""
        steps = jnp.linspace(-_DECADES, _DECADES, _STEPS) * np.log(10.0)
        grid = belief.first * jnp.exp(steps)
        evidence = map_lanes(lambda one: solve(belief.sums, one, self.noise).evidence, grid)
        value = jnp.nan_to_num(evidence - 0.5 * (steps / _SPREAD) ** 2, nan=-jnp.inf)
        best = jnp.argmax(value)
        found = jnp.isfinite(value[best])
        precision = jnp.where(found, grid[best], belief.precision)
        info = FitInfo(-value[best], jnp.asarray(_STEPS, jnp.int32), found)
        return dataclasses.replace(belief, precision=precision), info

    def condition(self, belief: LinearBelief) -> LinearBelief:
        posterior = solve(belief.sums, belief.precision, self.noise)
        return dataclasses.replace(belief, posterior=posterior)
