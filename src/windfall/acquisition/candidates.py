"""Where a policy chooses, inside compiled code: among listed arms, or anywhere in a region.

Both say what a choice is (an arm's number, a unit point), where it is, and which choice has the
highest score; a policy does not know which of the two it works with.
"""

from abc import abstractmethod
from functools import partial

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Bool, Float, Int, PRNGKeyArray

from windfall.acquisition.base import Score
from windfall.acquisition.maximise import Search, maximise
from windfall.acquisition.region import Region
from windfall.models.base import Tried
from windfall.models.blocks import in_blocks
from windfall.runtime.arrays import Array
from windfall.space import Arms, Parameters, Space

__all__ = ["Anywhere", "Candidates", "Listed", "Pick", "candidates"]


class Pick(eqx.Module):
    """A choice: what it is, where it is, its score, and how it was found."""

    choice: Array
    x: Float[Array, " d"]
    score: Float[Array, ""]
    valid: Bool[Array, ""]
    search: Search | None = None


class Candidates(eqx.Module):
    """What never changes during a study: where choices can be made.

    Attributes:
        anchors: A few representative inputs.
    """

    anchors: Float[Array, "a d"]

    @property
    @abstractmethod
    def size(self) -> int:
        """|D|: the number of arms, or of parameters."""

    @abstractmethod
    def point(self, choice: Array) -> Float[Array, " d"]:
        """Where a choice is in the unit box."""

    @abstractmethod
    def choose(
        self,
        key: PRNGKeyArray,
        score: Score,
        tried: Tried,
        avoid: Float[Array, "p d"] | None = None,
    ) -> Pick:
        """The choice with the highest score.

        Args:
            key: Randomness of a search.
            score: What to maximise.
            tried: Where a search may begin.
            avoid: Points that the choice must differ from while there are others (NaN: none).
        """


class Listed(Candidates):
    """Arms."""

    arms: Float[Array, "m d"]

    @property
    def size(self) -> int:
        """|D|: the number of arms."""
        return self.arms.shape[0]

    def point(self, choice: Int[Array, ""]) -> Float[Array, " d"]:
        """Features of an arm."""
        return self.arms[choice]

    def choose(self, key, score, tried, avoid=None) -> Pick:
        """The arm with the highest score; of arms to avoid, one that is to be avoided least."""
        del key, tried
        values = score(self.arms)
        rated = jnp.where(jnp.isnan(values), -jnp.inf, values)
        if avoid is not None:
            times = in_blocks(partial(_times, avoid), self.arms, avoid.size)
            rated = jnp.where(times > jnp.min(times), -jnp.inf, rated)
        arm = jnp.argmax(rated)
        return Pick(arm, self.arms[arm], values[arm], ~jnp.any(jnp.isnan(values)))


def _times(points: Float[Array, "p d"], arms: Float[Array, "m d"]) -> Int[Array, " m"]:
    """How many of some points each arm is."""
    return jnp.sum(jnp.all(arms[:, None] == points[None], axis=-1), axis=1)


class Anywhere(Candidates):
    """Every point of a region.

    Attributes:
        region: Which points exist and are allowed.
        starts: Points that fill it.
    """

    region: Region
    starts: Float[Array, "s d"]

    @property
    def size(self) -> int:
        """|D|: the number of parameters."""
        return self.region.columns.pick.shape[1]

    def point(self, choice: Float[Array, " d"]) -> Float[Array, " d"]:
        """A choice is a point."""
        return choice

    def choose(self, key, score, tried, avoid=None) -> Pick:
        """The point with the highest score."""
        avoid = jnp.zeros((0, self.starts.shape[1])) if avoid is None else avoid
        x, search = maximise(key, score, self.region, self.starts, tried, avoid)
        return Pick(x, x, search.value, jnp.isfinite(search.value), search)


def candidates(space: Space) -> Candidates:
    """The arms or the region of a study, as host arrays."""
    if isinstance(space, Arms):
        return Listed(space.anchors(), space.points)
    assert isinstance(space, Parameters)
    return Anywhere(space.anchors(), Region.of(space), space.fill(starts_for(space.size)))


def starts_for(parameters: int) -> int:
    """How many points fill a region before the polish: more in more dimensions.

    Example:
        >>> [starts_for(d) for d in (1, 2, 6, 10)]
        [1024, 1024, 3072, 4096]
    """
    return min(max(512 * parameters, 1024), 4096)
