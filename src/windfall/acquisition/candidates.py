"""Where a policy chooses: among listed arms, or anywhere in a region.

Both say what a choice is (an arm's number, a unit point), where it is, and which choice has the
highest score; a policy does not know which of the two it works with. Choosing among arms is part of
a compiled program; in a region the host searches, with compiled programs of its own.
"""

from abc import abstractmethod

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh
from jaxtyping import Bool, Float, Int, PRNGKeyArray

from windfall.acquisition.base import Score
from windfall.acquisition.highest import LONG, glanced, highest
from windfall.acquisition.maximise import SCATTERED, Search, maximise
from windfall.acquisition.polish import Surface
from windfall.acquisition.region import Region
from windfall.acquisition.shards import highest_of_shards, spread
from windfall.models.base import Belief, Tried
from windfall.models.glance import Glance
from windfall.runtime.arrays import Array
from windfall.space import Arms, Parameters, Space

__all__ = ["NOWHERE", "Anywhere", "Candidates", "Info", "Listed", "View", "candidates"]


class Info(eqx.Module):
    """What drove a choice, for people to read; no policy depends on it.

    Attributes:
        score: The highest score.
        mean: Predicted payoff of the choice.
        deviation: Its deviation.
        ratio: The attention paid to it.
        best: The highest predicted payoff among what was tried.
        healthy: False if the computation failed.
        search: How the maximisation ended, where there are no arms to list.
    """

    score: Float[Array, ""]
    mean: Float[Array, ""]
    deviation: Float[Array, ""]
    ratio: Float[Array, ""]
    best: Float[Array, ""]
    healthy: Bool[Array, ""]
    search: Search | None = None

    @property
    def driver(self) -> str:
        """What carried the choice past the best of what was tried: mean, uncertainty or attention.

        Its mean if that is at least as high. Else its uncertainty, or attention if the same bonus
        would not have been enough without it: (score − mean)/ratio is below the gap.
        """
        gap = self.best - self.mean
        if gap <= 1e-9 * abs(self.best):
            return "mean"
        plain = (self.score - self.mean) / max(self.ratio, 1.0)
        return "attention" if self.ratio > 1.0 and plain < gap else "uncertainty"

    def why(self, name: str) -> str:
        """One sentence for a choice, once the numbers are plain Python ones."""
        attention = f", attention {self.ratio:.3g}" if self.ratio != 1.0 else ""
        return (
            f"{name} chose it for its {self.driver}: predicted mean {self.mean:.4g}, deviation "
            f"{self.deviation:.3g}{attention}; the best tried so far is predicted {self.best:.4g}"
        )


class View(eqx.Module):
    """What is to be known of points: score, attention, mean and deviation."""

    score: Score
    belief: Belief

    def __call__(self, x: Float[Array, "m d"]) -> tuple[Float[Array, " m"], ...]:
        return self.score(x), self.score.ratio(x), *self.belief.moments(x)


class Candidates(eqx.Module):
    """What never changes during a study: where choices can be made.

    Attributes:
        anchors: A few representative inputs.
    """

    anchors: Float[Array, "a d"]

    @property
    @abstractmethod
    def listed(self) -> bool:
        """Whether choosing is part of one compiled program; else the host drives a search."""

    @property
    @abstractmethod
    def size(self) -> int:
        """|D|: the number of arms, or of parameters."""

    def placed(self) -> "Candidates":
        """The same, where it is computed with."""
        return self

    @abstractmethod
    def point(self, choice: Array) -> Float[Array, " d"]:
        """Where a choice is in the unit box."""

    @abstractmethod
    def choose(
        self,
        key: PRNGKeyArray,
        score: Score,
        belief: Belief,
        avoid: Float[Array, "p d"] | None = None,
    ) -> tuple[Array, Info]:
        """The choice with the highest score, and what drove it.

        Args:
            key: Randomness of a search.
            score: What to maximise.
            belief: What the score rests on; knows what was tried.
            avoid: Points that the choice must differ from while there are others (NaN: none).
        """

    @abstractmethod
    def new(self, avoid: Float[Array, "p d"] | None, tried: Tried) -> Float[Array, "q d"]:
        """Points to avoid so that nothing is tried again, besides those that are to be anyway."""


class Listed(Candidates):
    """Arms.

    Attributes:
        arms: Their features, in the unit box.
        glance: The same for a first look, in blocks, where there are many.
        mesh: The devices over which both are spread; None if they are in one place.
        copies: How many arms at the end are copies, so that every device has as many.
    """

    arms: Float[Array, "m d"]
    glance: Glance | None = None
    mesh: Mesh | None = eqx.field(static=True, default=None)
    copies: int = eqx.field(static=True, default=0)

    @property
    def listed(self) -> bool:
        """There is a list."""
        return True

    @property
    def size(self) -> int:
        """|D|: the number of arms."""
        return self.arms.shape[0] - self.copies

    def placed(self) -> "Listed":
        """A long list is taken to the devices once, and not for every choice."""
        if self.size < LONG:
            return self
        if len(jax.devices()) == 1:
            return jax.device_put(self)
        arms, glance, mesh = spread(np.asarray(self.arms), jax.devices())
        return Listed(self.anchors, arms, glance, mesh, arms.shape[0] - self.size)

    def point(self, choice: Int[Array, ""]) -> Float[Array, " d"]:
        """Features of an arm."""
        return self.arms[choice]

    def choose(self, key, score, belief, avoid=None) -> tuple[Array, Info]:
        """The arm with the highest score; of arms to avoid, one that is to be avoided least."""
        del key
        if self.mesh is None or not score.divisible:
            found = highest(score, self.arms, self.glance, avoid)
        else:
            found = highest_of_shards(self.mesh, score, self.arms, self.glance, avoid)
        at, tried = self.arms[found.arm][None], belief.tried
        mean, deviation = belief.moments(at)
        best = jnp.max(jnp.where(tried.live, belief.mean(tried.x), -jnp.inf))
        ratio = score.ratio(at)[0]
        valid = belief.healthy & found.valid
        return found.arm, Info(found.score, mean[0], deviation[0], ratio, best, valid)

    def new(self, avoid, tried) -> Float[Array, "q d"]:
        """In a compiled program."""
        known = jnp.where(tried.live[:, None], tried.x, jnp.nan)
        return known if avoid is None else jnp.concatenate([avoid, known])


class Anywhere(Candidates):
    """Every point of a region.

    Attributes:
        region: Which points exist and are allowed.
        starts: Points that fill it.
    """

    region: Region
    starts: Float[Array, "s d"]

    @property
    def listed(self) -> bool:
        """There is none."""
        return False

    @property
    def size(self) -> int:
        """|D|: the number of parameters."""
        return self.region.columns.pick.shape[1]

    def point(self, choice: Float[Array, " d"]) -> Float[Array, " d"]:
        """A choice is a point."""
        return choice

    def choose(self, key, score, belief, avoid=None) -> tuple[Array, Info]:
        """The point with the highest score; on the host."""
        known = jax.tree.map(np.asarray, belief)
        tried = known.tried
        inputs, rewards = tried.x[tried.live], tried.reward[tried.live]
        avoid = np.zeros((0, inputs.shape[1])) if avoid is None else avoid
        avoid = avoid[~np.any(np.isnan(avoid), axis=1)]
        room = SCATTERED + len(tried.x)
        surface = Surface(View(score, belief), self.region, self.starts, room)
        rng = np.random.default_rng(np.asarray(jax.random.key_data(key)))
        x, search = maximise(rng, surface, inputs, rewards, avoid)
        value, ratio, mean, deviation, _ = surface.columns(np.concatenate([x[None], inputs]))
        best = np.max(mean[1:], initial=-np.inf)
        valid = known.healthy & np.isfinite(value[0])
        return x, Info(value[0], mean[0], deviation[0], ratio[0], best, valid, search)

    def new(self, avoid, tried) -> Float[Array, "q d"]:
        """On the host."""
        known = np.asarray(tried.x)[np.asarray(tried.live)]
        return known if avoid is None else np.concatenate([avoid, known])


#: For what needs nothing of the space, and is compiled without it.
NOWHERE = Listed(np.zeros((0, 0)), np.zeros((0, 0)))


def candidates(space: Space) -> Candidates:
    """The arms or the region of a study, as host arrays."""
    if isinstance(space, Arms):
        glance = None if space.size < LONG else glanced(space.points)
        return Listed(space.anchors(), space.points, glance)
    assert isinstance(space, Parameters)
    return Anywhere(space.anchors(), Region.of(space), space.fill(starts_for(space.size)))


def starts_for(parameters: int) -> int:
    """How many points fill a region before the polish: more in more dimensions.

    Example:
        >>> [starts_for(d) for d in (1, 2, 6, 10)]
        [1024, 1024, 3072, 4096]
    """
    return min(max(512 * parameters, 1024), 4096)
