"""A belief about payoffs in every context, as seen from one of them.

The model works on joint inputs: the columns of an arm or a point, then those of the context. Who
decides sees only the first, at the context that there is now, and need not know of contexts at all.
"""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Bool, Float, Int

from windfall.models.base import Belief, Habit, Reward, Tried
from windfall.models.distances import same_points
from windfall.models.unusual import unusual
from windfall.runtime.arrays import Array

__all__ = ["Situated", "joined"]

#: In what share of contexts something is tried at least that is taken for granted.
_MOSTLY = 0.5
#: So many contexts, the latest, tell what is unusual.
_LATEST = 512


def joined(x: Float[Array, "m d"], context: Float[Array, " c"]) -> Float[Array, "m d+c"]:
    """Joint inputs: points, each with the same context."""
    beside = jnp.broadcast_to(context, (x.shape[0], context.shape[0]))
    return jnp.concatenate([x, beside.astype(x.dtype)], axis=1)


class Situated(Belief):
    """What is believed about the payoffs in one context.

    Attributes:
        inner: The belief over joint inputs.
        context: Columns of the context.
        elsewhere: What was tried in whichever context, and what is believed to come of it in this
            one: μ(x, context) in the place of rewards. Every arm or point counts once, in however
            many contexts it was tried.
        here: Which of these were tried in this very context.
        telling: How many of the distinct ones the rewards still tell of.
        favoured: The row of what was chosen most often.
        foremost: Whether it is expected to pay most here, too.
        usual: Whether, besides, most choices were that one.
    """

    inner: Belief
    context: Float[Array, " c"]
    elsewhere: Tried
    here: Bool[Array, " n"]
    favoured: Int[Array, ""]
    foremost: Bool[Array, ""]
    usual: Bool[Array, ""]
    telling: Float[Array, ""]

    @classmethod
    def at(cls, inner: Belief, context: Float[Array, " c"]) -> "Situated":
        """A belief, conditioned, at a context."""
        tried = inner.tried
        width = jnp.asarray(tried.x).shape[1] - context.shape[0]
        x, z = jnp.asarray(tried.x)[:, :width], jnp.asarray(tried.x)[:, width:]
        live = jnp.asarray(tried.live)
        same = live[:, None] & live & same_points(x, x)
        first = live & ~jnp.any(jnp.tril(same, -1), axis=1)
        times = jnp.where(first, jnp.sum(same, axis=1), 0)
        expected = jnp.where(first, inner.mean(joined(x, context)), 0.0)
        distinct = jnp.sum(first).astype(jnp.asarray(tried.distinct).dtype)
        # No moment comes back: what was tried since the last change is tried now.
        current, untimed = inner.current(context), context.shape[0] - inner.timed
        here = live & jnp.all((z == context)[:, :untimed], axis=1) & (current > 0)
        telling = jnp.sum(jnp.where(first, jnp.max(same * current, axis=1), 0.0))
        favoured = jnp.argmax(times)
        highest = jnp.argmax(jnp.where(first, expected, -jnp.inf))
        foremost = highest == favoured
        usual = (times[favoured] > _MOSTLY * jnp.sum(live)) & foremost
        tried = Tried(x, expected, first, distinct)
        habits = favoured, foremost, usual
        return cls(inner, jnp.asarray(context), tried, here, *habits, telling)

    @property
    def capacity(self) -> int | None:
        return self.inner.capacity

    @property
    def used(self):
        return self.inner.used

    @property
    def healthy(self):
        return self.inner.healthy

    @property
    def tried(self) -> Tried:
        return self.elsewhere

    @property
    def repeatable(self) -> Tried:
        """Only in the very same context would it be the same again."""
        return dataclasses.replace(self.elsewhere, live=self.here)

    @property
    def seen(self) -> Tried:
        return self.inner.seen

    @property
    def lasting(self):
        return self.telling

    @property
    def forgotten(self):
        return self.inner.forgotten

    @property
    def known(self):
        return self.context[: self.context.shape[0] - self.inner.timed]

    @property
    def _differs(self) -> bool:
        """Whether there is more to a context than the time."""
        return self.known.shape[0] > 0

    def novelty(self, x, reach=0.25):
        """Of a point in this context: to try it in another is something else."""
        return self.inner.novelty(joined(x, self.context), reach)

    @property
    def habit(self):
        if not self._differs or self.inner.rare is None:
            return None
        return Habit(self.elsewhere.x[self.favoured], self.foremost, self.inner.rare)

    def taken_for_granted(self, share):
        """Whether what most choices were is expected to be the best here, and here is unusual.

        Where windfalls are rare, what more choices were than anything else.
        """
        if not self._differs:
            return super().taken_for_granted(share)
        tried = self.inner.tried
        rows = min(_LATEST, tried.x.shape[0])
        latest = (jnp.sum(tried.live) - 1 - jnp.arange(rows)) % tried.x.shape[0]
        past = jnp.asarray(tried.x)[latest, -self.context.shape[0] :][:, : self.known.shape[0]]
        rarity = unusual(past, jnp.asarray(tried.live)[latest], self.known)
        habit = self.habit
        usual = self.usual if habit is None else self.usual | (habit.best & habit.rare)
        return usual & (rarity < share)

    def mean(self, x):
        return self.inner.mean(joined(x, self.context))

    def moments(self, x):
        return self.inner.moments(joined(x, self.context))

    def in_rewards(self, mean, deviation):
        return self.inner.in_rewards(mean, deviation)

    def prior_deviation(self, x):
        return self.inner.prior_deviation(joined(x, self.context))

    def sample(self, key, anchors, features=512):
        path = self.inner.sample(key, joined(jnp.asarray(anchors), self.context), features)
        return lambda x: path(joined(x, self.context))

    def observe(self, x, reward: Reward) -> "Situated":
        inner = self.inner.observe(joined(x[None], self.context)[0], reward)
        return dataclasses.replace(self, inner=inner)

    def imagine(self, x) -> "Situated":
        return Situated.at(self.inner.imagine(joined(x[None], self.context)[0]), self.context)

    def resized(self, capacity: int) -> "Situated":
        return Situated.at(self.inner.resized(capacity), self.context)

    def dump(self) -> dict[str, Any]:
        return self.inner.dump()

    def load(self, saved: Any) -> "Situated":
        return dataclasses.replace(self, inner=self.inner.load(saved))

    def standing_alone(self):
        """Not where contexts differ: nearly everything is new there, at every context again."""
        doubts = self.inner.standing_alone()
        return jax.tree.map(jnp.zeros_like, doubts) if self._differs else doubts

    def remark(self) -> str:
        return self.inner.remark()

    def since(self, now: float) -> float | None:
        return self.inner.since(now)

    @property
    def doubtful(self) -> bool:
        return self.inner.doubtful

    def trouble(self) -> str | None:
        return self.inner.trouble()

    @property
    def members(self) -> int | None:
        return self.inner.members

    def each(self, function, *others):
        def answer(one: Belief, *rest):
            return function(Situated.at(one, self.context), *rest)

        return self.inner.each(answer, *others)
