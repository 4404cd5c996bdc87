"""A Gaussian process that a few of its inputs carry, for more rewards than an exact one can hold.

Payoffs are f(x) = g(x) + h(x). What m *inducing* inputs Z say about x is g(x) = v(x)ᵀu with
u ~ N(0, I), v(x) = W k(Z, x) and W the inverse of the Cholesky factor of k(Z, Z). What they leave
open is h(x), with the covariance r(x, x') = k(x, x') − v(x)ᵀv(x') that is missing; but an input
that was tried *early* has an h of its own, of variance d = r(x, x), independent of all others: an
exact Gaussian process with another kernel (the partially independent conditional of Snelson and
Ghahramani 2007; one block for what is new, and blocks of one). Variances far from Z are those of k,
what was tried lately tells as much about its neighbourhood as in the exact model, and an input that
has been tried is known by its own rewards however badly Z explains it, so that no policy keeps
coming back to it.

Early rewards come down to u ~ N(HᵀH t, HᵀH), see ``windfall.models.gp.sums``, the latest to weights
α on top, see ``windfall.models.gp.late``. With γ = HᵀH (t + V_L α), what is known of a point is

    E f = vᵀγ + r(x, L) α,  Var f = |Hv|² + r(x, x) − |W_L c|²,  c = GᵀHv + r(L, x),

and at an early input, with a = d/(d + σ²/n) and r(L, x) = 0, its own rewards add h = a (ȳ − g):

    E f = (1 − a) E g + a ȳ,  Var f = (1 − a)² Var g + a σ²/n.

A prediction costs O(m²), and so does one more reward as long as hyper-parameters and Z stay.
"""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int

from windfall.models.blocks import in_blocks
from windfall.models.gp import sparse_density as density
from windfall.models.gp.evidence import Hyper
from windfall.models.gp.inducing import NONE, carriers_among, whitener_of
from windfall.models.gp.late import Late, beginning, early
from windfall.models.gp.linalg import lower_product
from windfall.models.gp.means import Mean
from windfall.models.gp.observations import Observations, Scale
from windfall.models.gp.posterior import Posterior, taken_over
from windfall.models.gp.sparse_ceiling import carriers, ceiling
from windfall.models.gp.sparse_path import drawn
from windfall.models.gp.sums import Sums, brought_up, summed
from windfall.models.lookup import Lookup
from windfall.runtime.arrays import Array

__all__ = ["Sparse", "condition_sparse"]


class Sparse(Posterior):
    """A sparse posterior; every answer is in reward units.

    An input told both with and without known noise has two slots, whose h are taken to be
    independent; predictions there rest on the first of them and on g.

    Attributes:
        chosen: The slots that the last search chose to carry the model.
        whitener: W; rows that do not count are those of the identity.
        sums: What early rewards say.
        late: What the latest say.
        level: γ.
        unexplained: The share of the prior variance of early inputs that Z leaves open.
        lookup: Early inputs, to be found; all other rows hold what no point can be equal to.
    """

    whitener: Float[Array, "m m"]
    chosen: Int[Array, " m"]
    sums: Sums
    late: Late
    level: Float[Array, " m"]
    unexplained: Float[Array, ""]
    lookup: Lookup
    cumulative: ClassVar[bool] = True

    @property
    def there(self) -> Bool[Array, " m"]:
        """Which rows of Z count."""
        return self.chosen != NONE

    @property
    def inducing(self) -> Float[Array, "m d"]:
        """Z."""
        return jnp.asarray(self.observations.features)[jnp.maximum(self.chosen, 0)]

    @property
    def early(self) -> Bool[Array, " c"]:
        """Which slots are early ones, or count as such since there is no room among the latest."""
        return early(self.observations, self.late.begin, len(self.late.live))

    def crossed(self, x: Float[Array, "n d"]) -> tuple[Float[Array, "m n"], Float[Array, "l n"]]:
        """k(Z, x) and k(L, x)."""
        to_chosen = _masked(self.kernel.gram(self.inducing, x), self.there)
        return to_chosen, _masked(self.kernel.gram(self.late.x, x), self.late.live)

    def finder(self):
        """A function that finds for points their early slots, whether there is one, a, ȳ, σ²/n."""
        observations, open_ = self.observations, jnp.asarray(self.sums.open)
        noise = observations.noise(self.hyper.noise)
        gain, reward = open_ / (open_ + noise), jnp.asarray(observations.mean)

        def find(x: Float[Array, "m d"]):
            slot, there = self.lookup(x)
            return slot, there, jnp.where(there, gain[slot], 0.0), reward[slot], noise[slot]

        return find

    def combined(self, change: Float[Array, " m"], weights: Float[Array, " l"]):
        """A function of k(Z, x), k(L, x): vᵀchange + r(x, L) weights, the second not if early."""
        direct, back = change @ self.whitener, (self.late.white @ weights) @ self.whitener

        def combine(cross, recent, early):
            return direct @ cross + jnp.where(early, 0.0, weights @ recent - back @ cross)

        return combine

    @property
    def width(self) -> int:
        """Numbers that are held per point."""
        return len(self.level) + len(self.late.weights)

    def mean(self, x):
        """E f(x)."""
        combine, tried = self.combined(self.level, self.late.weights), self.finder()

        def block(points):
            _, early, gain, reward, _ = tried(points)
            value = combine(*self.crossed(points), early)
            return self.in_reward_units(points, value + gain * (reward - value))

        return in_blocks(block, x, self.width)

    def moments(self, x):
        """E f(x) and the root of Var f(x)."""
        combine, tried = self.combined(self.level, self.late.weights), self.finder()
        late = self.late

        def block(points):
            _, early, gain, reward, noise = tried(points)
            cross, recent = self.crossed(points)
            white = lower_product(self.whitener, cross)
            turned = self.sums.root @ white
            own = jnp.where(early, 0.0, recent - late.white.T @ white)
            seen = lower_product(late.whitener, late.turned.T @ turned + own)
            carried = jnp.sum(turned**2, axis=0) - jnp.sum(seen**2, axis=0)
            prior = self.kernel.diagonal(points)
            open_ = jnp.maximum(prior - jnp.sum(white**2, axis=0), 0.0)
            known = (1.0 - gain) ** 2 * jnp.maximum(carried, 0.0) + gain * noise
            variance = jnp.maximum(
                jnp.where(early, known, carried + open_), self.least_variance(prior)
            )
            value = combine(cross, recent, early)
            mean = self.in_reward_units(points, value + gain * (reward - value))
            return mean, self.scale.spread * jnp.sqrt(variance)

        return in_blocks(block, x, 2 * self.width)

    def least_variance(self, prior):
        """As in the exact model of the latest inputs."""
        stretch = jnp.max(jnp.diagonal(self.late.whitener))
        return jnp.finfo(prior.dtype).eps * prior * jnp.maximum(stretch * jnp.sqrt(prior), 1.0)

    def sample(self, key, anchors, features=512):
        """One payoff function drawn from the posterior: see ``windfall.models.gp.sparse_path``."""
        return drawn(self, key, anchors, features)

    def ceiling(self, x, glance):
        """No less than μ and σ, soon: see ``windfall.models.gp.sparse_ceiling``."""
        return ceiling(self, x, glance)

    def carriers(self):
        """Z and the latest inputs."""
        return carriers(self)

    def late_open(self) -> Float[Array, " l"]:
        """D of the latest inputs."""
        prior = self.kernel.diagonal(self.late.x) - jnp.sum(self.late.white**2, axis=0)
        return jnp.where(self.late.live, jnp.maximum(prior, 0.0), 0.0)

    def forms(self):
        """As for the exact posterior, with the latest inputs taken for early ones."""
        return density.forms(self)

    def log_density(self):
        """−½ (ȳᵀA⁻¹ȳ + log|A|): how probable the means are, up to a constant."""
        return density.log_density(self)

    def left_out(self, slot):
        """How far the mean of a slot is from what the others predict; standardised."""
        return density.left_out(self, slot)

    def units(self, observations, find):
        """Nothing is compressed: sums of early rewards would begin anew with every other median."""
        return self.scale.plain(find(observations))

    def extend(self, observations):
        """The posterior after one more reward, with hyper-parameters, scale and kernel kept.

        What is late stays so, and a new input is late while there is room.
        """
        residual = self.trend.residual(observations)
        return condition_sparse(self.hyper, residual, self.scale, self.trend, self.chosen,
                                len(self.late.live), self, self.late.begin)  # fmt: skip

    def anew(self, hyper, observations, scale):
        """Other rewards, and inputs chosen now if no search chose any."""
        residual, latest = self.trend.residual(observations), len(self.late.live)
        chosen, scaled = jnp.asarray(self.chosen), scale.apply(residual)
        around = Hyper(self.trend.over(hyper.kernel), hyper.noise)
        chosen = jax.lax.cond(
            chosen[0] == NONE,
            lambda: carriers_among(around, scaled, len(chosen)),
            lambda: chosen,
        )
        return condition_sparse(hyper, residual, scale, self.trend, chosen, latest, self)

    def upon(self, earlier):
        """With the sums of the other; see ``windfall.models.gp.sums``."""
        return taken_over(self, earlier, "chosen", "whitener", "healthy", "sums")

    def forgetting(self) -> "Sparse":
        """Nothing is built upon what was added up with other hyper-parameters, or another Z."""
        return eqx.tree_at(lambda p: p.sums.ready, self, np.zeros(np.shape(self.sums.ready), bool))


def condition_sparse(
    hyper: Hyper,
    residual: Observations,
    scale: Scale,
    trend: Mean,
    chosen: Int[Array, " m"],
    latest: int,
    before: Sparse | None = None,
    begin: Int[Array, ""] | None = None,
) -> Sparse:
    """The sparse posterior given hyper-parameters and rewards.

    Args:
        hyper: Hyper-parameters.
        residual: The rewards in their own units, less what the mean function knows.
        scale: What standardises them.
        trend: The mean function.
        chosen: The slots of the inputs that carry the model.
        latest: Room for the latest inputs.
        before: With fewer rewards and the same hyper-parameters, if its sums are ready.
        begin: The slot of the first of the latest, if it is not to be the usual one.
    """
    kernel, scaled = trend.over(hyper.kernel), scale.apply(residual)
    first = beginning(residual.used, latest) if begin is None else begin
    counted = early(residual, first, latest)
    features, there = jnp.asarray(residual.features), chosen != NONE
    inducing = features[jnp.maximum(chosen, 0)]
    noise = scaled.noise(hyper.noise)

    def white(whitener, x):
        return lower_product(whitener, _masked(kernel.gram(inducing, x), there))

    def from_nothing():
        whitener, regular = whitener_of(kernel, inducing, there)
        prior = kernel.diagonal(features)
        return whitener, regular, summed(white(whitener, features), prior, noise, residual, counted)

    if before is None:
        whitener, regular, sums = from_nothing()
    else:
        # Noise that is known changes its size with the scale, and with it every sum; but where the
        # kernel is kept, for an imagined reward, so is the scale.
        sized = jnp.any(residual.known > 0) & (begin is None)
        ready = before.sums.ready & ~sized
        kept = jax.tree.map(jnp.asarray, (before.whitener, before.healthy, before.sums))
        whitener, regular, sums = jax.lax.cond(ready, lambda: kept, from_nothing)
    sums = brought_up(
        sums, lambda x: white(whitener, x), kernel.diagonal, hyper.noise, residual, counted
    )
    up = sums.root @ sums.standardised(scale)[:, 0]
    slots = first + jnp.arange(latest)
    live, slots = slots < residual.used, jnp.minimum(slots, residual.capacity - 1)
    x = features[slots]
    seen = white(whitener, x)
    away = scaled.mean[slots] - (up @ sums.root) @ seen
    late, sound = Late.of(first, x, live, seen, sums.root, kernel.gram(x, x), noise[slots], away)
    prior = jnp.where(counted, kernel.diagonal(features), 0.0)
    return Sparse(
        hyper=hyper,
        observations=scaled,
        scale=scale,
        whitener=whitener,
        healthy=regular & sound & jnp.all(jnp.isfinite(sums.root)),
        trend=trend,
        chosen=chosen,
        sums=sums,
        late=late,
        level=(up + late.turned @ late.weights) @ sums.root,
        unexplained=jnp.sum(sums.open) / jnp.maximum(jnp.sum(prior), jnp.finfo(prior.dtype).tiny),
        lookup=Lookup.of(jnp.where(counted[:, None], features, jnp.nan)),
    )


def _masked(cross, there):
    return jnp.where(there[:, None], cross, 0.0)
