"""Where a policy chooses: among listed arms, or anywhere in a region.

Both say what a choice is (an arm's number, a unit point), where it is, and which choice has the
highest score; a policy does not know which of the two it works with. Choosing among arms is part of
a compiled program; in a region the host searches, with compiled programs of its own.
"""

from abc import abstractmethod
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh
from jaxtyping import Bool, Float, Int, PRNGKeyArray

from windfall.acquisition.base import Score
from windfall.acquisition.driver import Info
from windfall.acquisition.highest import LONG, glanced, highest, objections
from windfall.acquisition.maximise import SCATTERED, maximise
from windfall.acquisition.polish import Surface
from windfall.acquisition.region import Region
from windfall.acquisition.shards import highest_of_shards, spread
from windfall.models.base import Belief, Tried
from windfall.models.glance import Glance
from windfall.models.peak import peak
from windfall.runtime.arrays import Array
from windfall.runtime.modules import Module
from windfall.runtime.programs import program
from windfall.space import Arms, Parameters, Space

__all__ = ["NOWHERE", "Anywhere", "Candidates", "Listed", "candidates", "lengthened"]

#: The stream of random numbers that decides on exploration.
_LOTS = 0x10707


class Candidates(Module):
    """What never changes during a study: where choices can be made.

    Attributes:
        anchors: A few representative inputs.
    """

    anchors: Float[Array, "a d"]

    #: Whether choosing is part of one compiled program; else the host drives a search.
    listed: ClassVar[bool]

    @property
    @abstractmethod
    def size(self) -> int | Int[Array, ""]:
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
        among: Bool[Array, " m"] | None = None,
    ) -> tuple[Array, Info]:
        """The choice with the highest score, and what drove it.

        Args:
            key: Randomness of a search.
            score: What to maximise.
            belief: What the score rests on; knows what was tried.
            avoid: Points that the choice must differ from while there are others (NaN: none).
            among: Which arms are available; None for all, or where there is no list.
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
        count: How many of the rows are arms, where others are filled in: a list that grows then
            has one of a few lengths. None: all.
        copies: How many arms at the end are copies, so that every device has as many.
    """

    arms: Float[Array, "m d"]
    glance: Glance | None = None
    mesh: Mesh | None = eqx.field(static=True, default=None)
    count: Int[Array, ""] | None = None
    copies: int = eqx.field(static=True, default=0)

    listed: ClassVar[bool] = True

    @property
    def size(self) -> int | Int[Array, ""]:
        """|D|: the number of arms."""
        return self.arms.shape[0] - self.copies if self.count is None else self.count

    def placed(self) -> "Listed":
        """A long list is taken to the devices once, and not for every choice."""
        if self.arms.shape[0] < LONG:
            return self
        if len(jax.devices()) == 1 or self.count is not None:
            return jax.device_put(self)
        arms, glance, mesh = spread(np.asarray(self.arms), jax.devices())
        copies = arms.shape[0] - self.arms.shape[0]
        return Listed(self.anchors, arms, glance, mesh, copies=copies)

    def point(self, choice: Int[Array, ""]) -> Float[Array, " d"]:
        """Features of an arm."""
        return self.arms[choice]

    def choose(self, key, score, belief, avoid=None, among=None) -> tuple[Array, Info]:
        """The available arm with the highest score; of those to avoid, one to be avoided least."""
        del key
        if among is not None:
            among = jnp.pad(jnp.asarray(among), (0, self.copies))
        if self.mesh is None or not score.divisible:
            found = highest(score, self.arms, self.glance, avoid, among)
        else:
            found = highest_of_shards(self.mesh, score, self.arms, self.glance, avoid, among)
        at, best = self.arms[found.arm][None], _read(belief, peak(belief))
        mean, deviation = belief.in_rewards(*belief.moments(at))
        ratio = score.ratio(at)[0]
        valid = belief.healthy & found.valid
        info = Info(found.score, mean[0], deviation[0], ratio, best, valid, settled=score.settled)
        return found.arm, info

    def open(
        self, avoid: Float[Array, "p d"] | None, among: Bool[Array, " m"] | None = None
    ) -> Bool[Array, " m"]:
        """Which arms can be chosen: of those available the ones that are to be avoided least."""
        if among is not None:
            among = jnp.pad(jnp.asarray(among), (0, self.copies))
        against = objections(self.arms, avoid, among)
        return against == jnp.min(against)

    def explore(
        self,
        key: PRNGKeyArray,
        share: Float[Array, ""],
        best: tuple[Array, Info],
        score: Score,
        belief: Belief,
        avoid: Float[Array, "p d"] | None = None,
        among: Bool[Array, " m"] | None = None,
    ) -> tuple[Array, Info]:
        """With the probability ``share`` any of the A arms that can be chosen, else ``best``.

        Given ``best``, which may itself rest on a draw, an arm has the propensity share/A, and
        1 − share more if it is the best: exact, as far as estimates from a log go.
        """
        lot, draw = jax.random.split(jax.random.fold_in(key, _LOTS))  # a draw has used the key
        open = self.open(avoid, among)
        lots = jax.random.uniform(draw, open.shape)
        other = jnp.argmax(jnp.where(open, lots, -1.0))
        explored = jax.random.uniform(lot) < share
        arm = jnp.where(explored, other, best[0])
        propensity = share / jnp.sum(open) + jnp.where(arm == best[0], 1.0 - share, 0.0)
        at = self.arms[arm][None]
        (mean,), (deviation,) = belief.in_rewards(*belief.moments(at))
        value = score(at)[0]
        info = Info(value, mean, deviation, score.ratio(at)[0], best[1].best, best[1].healthy,
                    propensity=propensity, explored=explored, settled=best[1].settled)  # fmt: skip
        return arm, info

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

    listed: ClassVar[bool] = False

    @property
    def size(self) -> int:
        """|D|: the number of parameters."""
        return self.region.columns.pick.shape[1]

    def point(self, choice: Float[Array, " d"]) -> Float[Array, " d"]:
        """A choice is a point."""
        return choice

    def choose(self, key, score, belief, avoid=None, among=None) -> tuple[Array, Info]:
        """The point with the highest score; on the host."""
        assert among is None, "there is no list"
        known = jax.tree.map(np.asarray, belief)
        tried = known.tried
        inputs, rewards = tried.x[tried.live], tried.reward[tried.live]
        avoid = np.zeros((0, inputs.shape[1])) if avoid is None else avoid
        avoid = avoid[~np.any(np.isnan(avoid), axis=1)]
        room = SCATTERED + len(tried.x)
        surface = Surface(score, self.region, self.starts, room)
        rng = np.random.default_rng(np.asarray(jax.random.key_data(key)))
        x, search = maximise(rng, surface, inputs, rewards, avoid)
        points = np.concatenate([x[None], np.where(tried.live[:, None], tried.x, x)])
        ratio, mean, deviation = map(np.asarray, _seen(score, belief, points))
        best = np.max(mean[1:][tried.live], initial=-np.inf)
        valid = known.healthy & np.isfinite(search.value)
        told = search.value, mean[0], deviation[0], ratio[0], best, valid, search
        return x, Info(*told, settled=score.settled)

    def new(self, avoid, tried) -> Float[Array, "q d"]:
        """On the host."""
        known = np.asarray(tried.x)[np.asarray(tried.live)]
        return known if avoid is None else np.concatenate([avoid, known])


@program
def _seen(score: Score, belief: Belief, x):
    """What else is to be known of points: attention, mean and deviation."""
    return score.ratio(x), *belief.in_rewards(*belief.moments(x))


def _read(belief: Belief, mean: Array) -> Array:
    """A mean in reward units."""
    return belief.in_rewards(mean, jnp.zeros_like(mean))[0]


#: For what needs nothing of the space, and is compiled without it.
NOWHERE = Listed(np.zeros((0, 0)), np.zeros((0, 0)))


def candidates(space: Space) -> Candidates:
    """The arms or the region of a study, as host arrays."""
    if isinstance(space, Arms):
        glance = None if space.size < LONG else glanced(space.points)
        return Listed(space.anchors(), space.points, glance)
    assert isinstance(space, Parameters)
    return Anywhere(space.anchors(), Region.of(space), space.fill(starts_for(space.size)))


def lengthened(anchors: Array, arms: np.ndarray) -> tuple[Listed, np.ndarray]:
    """A list that grows, and which of its rows are arms: seldom another length, a power of two.

    The other rows are the first arm again, and never to be chosen.
    """
    length = 1 << max(len(arms) - 1, 15).bit_length()
    rows = np.concatenate([arms, np.repeat(arms[:1], length - len(arms), axis=0)])
    glance = None if length < LONG else glanced(rows)
    listed = Listed(anchors, rows, glance, count=np.int32(len(arms)))
    return listed, np.arange(length) < len(arms)


def starts_for(parameters: int) -> int:
    """How many points fill a region before the polish: more in more dimensions.

    Example:
        >>> [starts_for(d) for d in (1, 2, 6, 10)]
        [1024, 1024, 3072, 4096]
    """
    return min(max(512 * parameters, 1024), 4096)
