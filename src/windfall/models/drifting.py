"""Payoffs that may change with time: a model that stands still, and one that does not.

The last column of the inputs is the time. The *still* belief is that of a model which never looks
at it; the *moving* one keeps a reward of every (input, time) and takes the still one's kernel times
one of time. Of a few rates and changes that one counts under which the rewards are most probable,
if they are clearly more probable than without any; else nothing drifts, and every answer is the
still belief's, to the last bit.
"""

import dataclasses
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, PRNGKeyArray

from windfall.checks import finite, number
from windfall.errors import InputError
from windfall.models.base import Belief, FitInfo, Model, Reward, Tried
from windfall.models.gp.ageing import NEVER, Ageing, levels, most_probable, moved, sizes_of
from windfall.models.gp.belief import GPBelief
from windfall.models.gp.evidence import Hyper
from windfall.models.gp.fit import Fit, fit
from windfall.models.gp.model import GP
from windfall.models.gp.observations import Observations
from windfall.models.gp.usual import usual_model
from windfall.runtime.arrays import Array
from windfall.space import Inputs

__all__ = ["Drifting", "DriftingBelief", "drifting"]

#: Drift must be so much more probable than none, in logarithms.
_CLEARLY = 8.0
#: So many evaluations improve the hyper-parameters of what drifts, at every search.
_FEW = 12


class DriftingBelief(Belief):
    """What is believed if nothing drifts, what is believed if something does, and which it is.

    Attributes:
        still: Without the time.
        moving: With it.
        drifts: Which of the two counts.
    """

    still: GPBelief
    moving: GPBelief
    drifts: Bool[Array, ""]
    timed = True

    @property
    def ageing(self) -> Ageing:
        """How rewards age."""
        kernel: Any = self.moving.posterior.hyper.kernel  # a product of two parts: ``_moved``
        return kernel.right.kernel

    @property
    def capacity(self) -> int:
        return self.moving.capacity

    @property
    def used(self):
        return self.moving.used

    @property
    def healthy(self):
        return jnp.where(self.drifts, self.moving.healthy, self.still.healthy)

    @property
    def tried(self) -> Tried:
        return self.moving.tried

    @property
    def seen(self) -> Tried:
        """Whenever it was."""
        return self.still.seen

    @property
    def forgotten(self):
        """Those from before the change, if there was one."""
        rewards = self.moving.rewards
        before = rewards.live & (rewards.features[:, -1] < self.ageing.since)
        return jnp.sum(jnp.where(before & self.drifts, rewards.count, 0.0)).astype(jnp.int32)

    def current(self, context):
        """What the kernel of time says; 1 if nothing drifts."""
        times = jnp.asarray(self.moving.rewards.features)[:, -1:]
        return jnp.where(self.drifts, self.ageing.gram(times, context[None, -1:])[:, 0], 1.0)

    def novelty(self, x, reach=0.25):
        """Whenever it was tried."""
        return self.still.novelty(x[:, :-1], reach)

    def _either(self, moving, still):
        return jax.lax.cond(self.drifts, moving, still)

    def mean(self, x):
        return self._either(lambda: self.moving.mean(x), lambda: self.still.mean(x[:, :-1]))

    def in_rewards(self, mean, deviation):
        """Both see rewards in the same units."""
        return self.still.in_rewards(mean, deviation)

    def moments(self, x):
        return self._either(lambda: self.moving.moments(x), lambda: self.still.moments(x[:, :-1]))

    def prior_deviation(self, x):
        """Of either kernel alone: that of time is 1 everywhere."""
        return self.still.prior_deviation(x[:, :-1])

    def sample(self, key, anchors, features=512):
        still = self.still.sample(key, anchors[:, :-1], features)
        moving = self.moving.sample(key, anchors, features)
        return lambda x: jnp.where(self.drifts, moving(x), still(x[:, :-1]))

    def observe(self, x, reward: Reward) -> "DriftingBelief":
        still, moving = self.still.observe(x[:-1], reward), self.moving.observe(x, reward)
        return dataclasses.replace(self, still=still, moving=moving)

    def imagine(self, x) -> "DriftingBelief":
        still, moving = self.still.imagine(x[:-1]), self.moving.imagine(x)
        return dataclasses.replace(self, still=still, moving=moving)

    def resized(self, capacity: int) -> "DriftingBelief":
        # Not by the constructor: a stack has other shapes than it is annotated with.
        parts = self.still.resized(capacity), self.moving.resized(capacity)
        return eqx.tree_at(lambda b: (b.still, b.moving), self, parts)

    @property
    def _timeless(self) -> Hyper:
        """The moving model's hyper-parameters without those of time."""
        hyper: Any = self.moving.posterior.hyper
        return Hyper(hyper.kernel.left.kernel, hyper.noise)

    def _with(self, still: GPBelief, hyper: Hyper, ageing: Ageing, drifts: Any) -> "DriftingBelief":
        posterior = self.moving.posterior
        posterior = dataclasses.replace(posterior, hyper=moved(hyper, ageing.rate, ageing.since))
        moving = dataclasses.replace(self.moving, posterior=posterior)
        return DriftingBelief(still, moving, drifts)

    def dump(self) -> dict[str, Any]:
        since = float(self.ageing.since)
        leaves = [np.asarray(leaf).tolist() for leaf in jax.tree.leaves(self._timeless)]
        return {
            "still": self.still.dump(),
            "moving": {"hyper": leaves, "behind": 0},
            "drifts": bool(self.drifts),
            "rate": float(self.ageing.rate),
            "since": since if np.isfinite(since) else None,
        }

    def load(self, saved: Any) -> "DriftingBelief":
        names = {"still", "moving", "drifts", "rate", "since"}
        if not isinstance(saved, dict) or not saved.keys() >= names:
            raise InputError(f"state belief is {saved!r:.80}; expected what a drift was dumped as")
        if not isinstance(saved["drifts"], bool):
            raise InputError(f"state drifts is {saved['drifts']!r:.80}; expected True or False")
        since = -np.inf if saved["since"] is None else finite("since", saved["since"])
        ageing = Ageing(number("rate", 0.0)(saved["rate"]), np.float64(since))
        hyper = self.still.load(saved["moving"]).posterior.hyper
        still = self.still.load(saved["still"])
        return self._with(still, hyper, ageing, np.bool_(saved["drifts"]))

    def stretched(self, factors) -> "DriftingBelief":
        kept = self._timeless
        hyper = Hyper(kept.kernel.stretched(factors[:-1]), kept.noise)
        return self._with(self.still.stretched(factors[:-1]), hyper, self.ageing, self.drifts)

    @property
    def rare(self):
        return self.still.rare

    def standing_alone(self):
        both = self.moving.standing_alone(), self.still.standing_alone()
        return jax.tree.map(partial(jnp.where, self.drifts), *both)

    def since(self, now: float) -> float:
        """The change; or when rewards came that count for a third by now; −∞ if none ages."""
        if not bool(self.drifts):
            return -np.inf
        since, rate = float(self.ageing.since), float(self.ageing.rate)
        return since if np.isfinite(since) else now - 1.0 / rate

    def remark(self) -> str:
        """Since when, or for how long, rewards count."""
        if not bool(self.drifts):
            return self.still.remark()
        since, rate = float(self.ageing.since), float(self.ageing.rate)
        if np.isfinite(since):
            return f"; rewards count since time {since:.15g}, when payoffs changed"
        return f"; rewards age: after {1.0 / rate:.3g} units of time they count for a third"

    @property
    def doubtful(self) -> bool:
        return self.still.doubtful

    def trouble(self) -> str | None:
        return (self.moving if bool(self.drifts) else self.still).trouble()


class Drifting(Model[DriftingBelief]):
    """A Gaussian process whose payoffs may change with time, if the rewards say so.

    f(x, t) has the covariance k(x, x') exp(−rate |t − t'|), and none across a change. Rate and
    change are those, of a few, of highest evidence; the kernel k is that fitted as if nothing
    drifted, or the first guess.

    Attributes:
        model: The model where nothing drifts: a ``GP`` whose hyper-parameters are searched.

    Example:
        >>> Drifting(GP()).ages
        True
    """

    model: Any = eqx.field(default_factory=usual_model)  # checked
    ages = True

    def __check_init__(self):
        if not isinstance(self.model, GP) or not isinstance(self.model.fit, Fit):
            raise InputError(f"model is {self.model!r}; expected a GP with Fit(...) for drift")
        if not sizes_of(self.model.hyper(2)):
            raise InputError(
                f"model is {self.model!r}; expected for drift a kernel with a length scale for "
                "each feature (ard=True)"
            )

    @property
    def timeless(self) -> Any:
        return self.model

    @property
    def refit_every(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """That of the model."""
        return self.model.refit_every

    def __repr__(self) -> str:
        return f"Drifting({self.model!r})"

    def begin(self, space: Inputs, capacity: int) -> DriftingBelief:
        """The inputs end with the time."""
        still = self.model.begin(space.untimed, capacity)
        nothing = Observations.empty(1, space.dimension)
        hyper = moved(still.posterior.hyper, *NEVER)
        start = self.model.begin(space.untimed, 1).posterior
        trend = self.model.mean.bound(space)
        posterior = dataclasses.replace(start, hyper=hyper, observations=nothing, trend=trend)
        moving = GPBelief(nothing, posterior, np.int32(0)).resized(capacity)
        return jax.tree.map(np.asarray, DriftingBelief(still, moving, np.bool_(False)))

    def search(self, key: PRNGKeyArray, belief: DriftingBelief) -> tuple[DriftingBelief, FitInfo]:
        """The still model's hyper-parameters, then whether and how something drifts."""
        still, info = self.model.search(key, belief.still)
        hyper, mean = still.posterior.hyper, still.posterior.trend
        merged, timed = mean.residual(still.rewards), belief.moving.posterior.trend
        scale = still.posterior.units(merged, self.model.scale)
        rewards = scale.apply(timed.residual(belief.moving.rewards))

        # A fit that takes drift for noise may be blind to what payoffs look like at one time: the
        # first guess is an alternative to it, and so is what fitted best so far if they drift.
        columns = belief.still.rewards.features.shape[1]
        guess = self.model.over(columns, still.apart, still.ties, still.layout)
        guess = jax.tree.map(lambda a, b: jnp.broadcast_to(a, jnp.shape(b)), guess, hyper.kernel)
        noises = levels(hyper.noise)
        known = [Hyper(kernel, noise) for kernel in (hyper.kernel, guess) for noise in noises]
        lanes = jax.tree.map(lambda *leaves: jnp.stack(leaves), *known, belief._timeless)

        lane, ageing, lead = most_probable(lanes, rewards, timed)
        found, _ = fit(
            key, rewards, jax.tree.map(lambda a: a[lane], lanes),
            dataclasses.replace(self.model.fit, restarts=0), timed, 0.0, still.ties, _FEW,
            lambda hyper: moved(hyper, ageing.rate, ageing.since),
        )  # fmt: skip
        return belief._with(still, found, ageing, lead > _CLEARLY), info

    def condition(self, belief: DriftingBelief) -> DriftingBelief:
        """Both; the moving belief sees rewards in the units of the still one."""
        still = self.model.condition(belief.still)
        before = belief.moving.posterior
        posterior = jax.lax.cond(
            belief.drifts,
            lambda: before.anew(before.hyper, belief.moving.rewards, still.posterior.scale),
            lambda: jax.tree.map(jnp.asarray, before),
        )
        moving = dataclasses.replace(belief.moving, posterior=posterior)
        return dataclasses.replace(belief, still=still, moving=moving)


def drifting(model: Any) -> Drifting:
    """The model that goes with another where payoffs may drift."""
    return Drifting(model)  # pyright: ignore  an abstract attribute is no argument
