"""Where a policy chooses: among arms, or anywhere in a region.

Both say what a choice is (an arm's number, a unit point), where its features are, and which choice
has the highest score; a policy does not know which of the two it works with.
"""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Bool, Float, Int, PRNGKeyArray

from windfall.acquisition.base import Acquisition, Score
from windfall.acquisition.ground import Ground
from windfall.acquisition.maximise import Search, maximise
from windfall.attention.prior import Relative
from windfall.attention.ratio import Domain
from windfall.models.gp.observations import Observations
from windfall.runtime.arrays import Array
from windfall.space import Parameters, Space

__all__ = ["Arena", "Pick", "Region", "as_arena"]


class Pick(eqx.Module):
    """A choice: what it is, where it is, its input density and score, and how it was found."""

    choice: Any
    x: Float[Array, " d"]
    prior: Float[Array, ""]
    score: Float[Array, ""]
    valid: Bool[Array, ""]
    search: Search | None = None


class Arena(eqx.Module):
    """What never changes during a study: the arms and where to look at the model's mean."""

    arms: Float[Array, "m d"]
    prior: Float[Array, " m"]
    domain: Domain
    anchors: Float[Array, "a d"]

    @property
    def size(self) -> int:
        """|D|: the number of arms."""
        return self.arms.shape[0]

    def point(self, choice: Int[Array, ""]) -> Float[Array, " d"]:
        """Features of an arm."""
        return self.arms[choice]

    def priors(self, x: Float[Array, "m d"]) -> Float[Array, " m"]:
        """The input density at the arms, in their order."""
        del x
        return self.prior

    def choose(
        self,
        key: PRNGKeyArray,
        score: Score,
        observations: Observations,
        avoid: Float[Array, "p d"] | None = None,
    ) -> Pick:
        """The arm with the highest score."""
        del key, observations
        values = score(self.arms, self.prior)
        rated = jnp.where(jnp.isnan(values), -jnp.inf, values)
        if avoid is not None:
            taken = jnp.any(jnp.all(self.arms[:, None] == avoid[None], axis=-1), axis=1)
            rated = jnp.where(taken & ~jnp.all(taken), -jnp.inf, rated)
        arm = jnp.argmax(rated)
        valid = ~jnp.any(jnp.isnan(values))
        return Pick(arm, self.arms[arm], self.prior[arm], values[arm], valid)


class Region(eqx.Module):
    """What never changes during a study on a box: the ground, and points that fill it."""

    ground: Ground
    density: Relative | None
    domain: Domain
    anchors: Float[Array, "a d"]
    starts: Float[Array, "s d"]

    @property
    def size(self) -> int:
        """|D|: the number of parameters."""
        return self.ground.columns.pick.shape[1]

    def point(self, choice: Float[Array, " d"]) -> Float[Array, " d"]:
        """A choice is a point."""
        return choice

    def priors(self, x: Float[Array, "m d"]) -> Float[Array, " m"]:
        """The input density at any points."""
        if self.density is None:
            return jnp.ones(x.shape[0], x.dtype)
        return self.density(self.ground.natural(x))

    def choose(
        self,
        key: PRNGKeyArray,
        score: Score,
        observations: Observations,
        avoid: Float[Array, "p d"] | None = None,
    ) -> Pick:
        """The point with the highest score."""

        def value(x):
            return score(x, self.priors(x))

        avoid = jnp.zeros((0, self.starts.shape[1])) if avoid is None else avoid
        x, search = maximise(key, value, self.ground, self.starts, observations, avoid)
        prior = self.priors(x[None])[0]
        return Pick(x, x, prior, search.value, jnp.isfinite(search.value), search)


def as_arena(acquisition: Acquisition, space: Space | Parameters) -> Arena | Region:
    """The arms or the region of a study, as host arrays, as an acquisition looks at them."""
    if isinstance(space, Parameters):
        domain, density = acquisition.survey_region(space)
        starts = space.fill(starts_for(space.size))
        return Region(Ground.of(space), density, domain, space.anchors(), starts)
    domain, prior = acquisition.survey(space)
    return Arena(space.arms, prior, domain, space.anchors())


def starts_for(parameters: int) -> int:
    """How many points fill a region before the polish: more in more dimensions.

    Example:
        >>> [starts_for(d) for d in (1, 2, 6, 10)]
        [1024, 1024, 3072, 4096]
    """
    return min(max(512 * parameters, 1024), 4096)
