"""The seam between models and everything else.

A *model* says how payoffs are learned; a *belief* is what it believes at one moment, rewards
included. Policies, acquisitions, studies and simulations know a model by what stands here and by
nothing else.

A round goes: ``observe`` the rewards, ``search`` for hyper-parameters if that is due, ``condition``
on the rewards, and then ask for ``mean``, ``moments`` or a ``sample`` anywhere. ``observe`` only
notes a reward; predictions change when the belief is conditioned.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Generic, TypeVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int, PRNGKeyArray

from windfall.models.blocks import in_blocks
from windfall.models.distances import square_distances
from windfall.models.glance import Glance
from windfall.models.rewards import EXACT, Habit, Reward, Tried
from windfall.runtime.arrays import Array
from windfall.runtime.modules import Module
from windfall.space import Inputs

__all__ = ["EXACT", "Belief", "FitInfo", "Habit", "Model", "Path", "Reward", "Tried"]


class Path(Module):
    """A payoff function that was drawn, as numbers: one program may draw, another evaluate it."""

    @abstractmethod
    def __call__(self, x: Float[Array, "m d"]) -> Float[Array, " m"]:
        """What each point pays."""

    def ceiling(self, glance: Glance) -> Float[Array, " m"] | None:
        """No less than that, soon; None where there is nothing sooner."""
        del glance
        return None


class FitInfo(Module):
    """How a search for hyper-parameters (or a sampler of them) ended."""

    objective: Float[Array, ""]
    evaluations: Int[Array, ""]
    converged: Bool[Array, ""]


class Belief(Module):
    """What is believed about the payoffs at points of the unit box.

    In reward units, or on a scale on which a policy had better compare them: that keeps the order,
    and ``in_rewards`` leads back.
    """

    #: Whether inputs end with the time.
    timed: ClassVar[bool] = False

    @property
    @abstractmethod
    def capacity(self) -> int | None:
        """Room for distinct inputs; None if their number makes no difference."""

    @property
    def used(self) -> Int[Array, "..."]:
        """How much of the capacity is taken; of a stack of beliefs, by each."""
        return self.tried.distinct

    @property
    @abstractmethod
    def healthy(self) -> Bool[Array, ""]:
        """False if predictions cannot be trusted."""

    @property
    @abstractmethod
    def tried(self) -> Tried:
        """The inputs that have rewards."""

    @property
    def repeatable(self) -> Tried:
        """Those that would be the same again if they were tried now."""
        return self.tried

    @property
    def seen(self) -> Tried:
        """All that was ever tried, with what it paid then: in whichever context."""
        return self.tried

    @property
    def known(self) -> Float[Array, " c"] | None:
        """Columns of the context in which this is believed, less the time; None: there is none."""
        return None

    @property
    def lasting(self) -> Float[Array, ""] | Int[Array, ""]:
        """How many distinct inputs the rewards tell of now; fewer than were tried if they age."""
        return self.tried.distinct

    @property
    def forgotten(self) -> Int[Array, ""] | int:
        """How many rewards came before a change and count no longer."""
        return 0

    def current(self, context: Float[Array, " c"]) -> Float[Array, " n"]:
        """How far what was tried tells of the time in a context, 0 to 1, by the rows of tried."""
        del context
        return jnp.ones_like(self.tried.reward)

    def novelty(self, x: Float[Array, "m d"], reach: Any = 0.25) -> Float[Array, " m"]:
        """ν(x): 0 at what was tried, 1 from about twice the reach on, in spacings of n points."""
        tried = self.tried
        reach *= jnp.maximum(tried.distinct, 1) ** (-1.0 / x.shape[1])

        def nearest(points):
            squares = square_distances(tried.x, points)
            return jnp.min(jnp.where(tried.live[:, None], squares, jnp.inf), axis=0)

        square = in_blocks(nearest, x, tried.x.shape[0] * x.shape[1])
        return -jnp.expm1(-0.5 * square / reach**2)

    def taken_for_granted(self, share: Float[Array, ""]) -> Bool[Array, ""] | None:
        """Whether the usual choice is about to be made again in a context that is unusual.

        None where no contexts differ: what is tried again is nothing new there.

        Args:
            share: So many contexts count as unusual.
        """
        del share
        return None

    @property
    def rare(self) -> Bool[Array, ""] | None:
        """Whether nearly all rewards are alike, where each arm is for itself; None elsewhere."""
        return None

    @property
    def habit(self) -> Habit | None:
        """What was chosen most often, where each arm is for itself; None elsewhere."""
        return None

    @abstractmethod
    def mean(self, x: Float[Array, "m d"]) -> Float[Array, " m"]:
        """μ(x)."""

    @abstractmethod
    def moments(self, x: Float[Array, "m d"]) -> tuple[Float[Array, " m"], Float[Array, " m"]]:
        """μ(x) and σ(x) of the payoff, without the noise of a reward."""

    def in_rewards(
        self, mean: Float[Array, "*m"], deviation: Float[Array, "*m"]
    ) -> tuple[Float[Array, "*m"], Float[Array, "*m"]]:
        """Mean and deviation of payoffs in reward units, for people to read."""
        return mean, deviation

    def ceiling(
        self, x: Float[Array, "m d"], glance: Glance
    ) -> tuple[Float[Array, " m"], Float[Array, " m"]] | None:
        """No less than μ(x) and σ(x), soon; None where there is nothing sooner than ``moments``.

        Args:
            x: The points.
            glance: The same points, for a first look.
        """
        del x, glance
        return None

    @abstractmethod
    def prior_deviation(self, x: Float[Array, "m d"]) -> Float[Array, " m"]:
        """σ(x) before any reward: the size of what can be learned about the payoff."""

    @abstractmethod
    def sample(
        self, key: PRNGKeyArray, anchors: Float[Array, "a d"], features: int = 512
    ) -> Callable[[Float[Array, "m d"]], Float[Array, " m"]]:
        """One payoff function drawn jointly over all points: a ``Path``, or any function.

        Args:
            key: Randomness of this draw.
            anchors: Points that matter, for models that need to know.
            features: The number of random features, for models that use them.
        """

    @abstractmethod
    def observe(self, x: Float[Array, " d"], reward: Reward) -> "Belief":
        """Note a reward; there must be room for its input."""

    @abstractmethod
    def imagine(self, x: Float[Array, " d"]) -> "Belief":
        """Predictions as if ``x`` had paid its mean: that stays, the deviation shrinks."""

    @abstractmethod
    def resized(self, capacity: int) -> "Belief":
        """The same belief (or a stack of them) with another capacity, on the host."""

    @abstractmethod
    def dump(self) -> dict[str, Any]:
        """Hyper-parameters as numbers and lists that JSON can hold; not the rewards."""

    @abstractmethod
    def load(self, saved: Any) -> "Belief":
        """This belief with hyper-parameters that were dumped; an ``InputError`` if they misfit."""

    def stretched(self, factors: Float[np.ndarray, " d"]) -> "Belief":
        """The same hyper-parameters where columns of the unit box have other units, on the host.

        Args:
            factors: What a length of 1 in each column is now. Covariances stay as they were: length
                scales are multiplied by this, where a model has them.
        """
        del factors
        return self

    def standing_alone(self) -> tuple[Float[Array, ""], Float[Array, ""]]:
        """How far the best reward is from telling anything about other inputs, from 0 to 1.

        As a windfall that no other reward explains, and as mere luck; 0 if a model cannot say.
        """
        return jnp.zeros_like(self.tried.best), jnp.zeros_like(self.tried.best)

    @property
    def thrifty(self) -> bool:
        """Whether a search costs so much that it has to be called for; see ``outdated``."""
        return False

    def outdated(self) -> bool | Bool[Array, ""]:
        """Whether rewards since the last search, conditioned on, call for another, if thrifty."""
        return True

    @property
    def cumulative(self) -> bool:
        """Whether it is conditioned sooner upon what it was before; see ``upon``."""
        return False

    def before(self, rewards: "Belief") -> "Belief":
        """With the fewer rewards that another belief has noted, and its own settings."""
        raise TypeError(f"nothing can be built upon {rewards!r}")

    def upon(self, earlier: "Belief") -> "Belief":
        """The same, to be conditioned upon what it was ``before``, conditioned."""
        raise TypeError(f"nothing can be built upon {earlier!r}")

    def since(self, now: float) -> float | None:
        """Since when rewards count, where they may age; None where they do not. On the host."""
        return None

    def remark(self) -> str:
        """What a reader of a decision should know of the model, to be added to it. On the host."""
        return ""

    @property
    def doubtful(self) -> bool:
        """Whether a healthy belief may have trouble, as long as the study lasts. On the host."""
        return False

    def trouble(self) -> str | None:
        """Why predictions cannot be trusted, in words; None if nothing is wrong. On the host."""
        return None if bool(self.healthy) else "the model's predictions are not finite"

    @property
    def members(self) -> int | None:
        """Of how many equally probable beliefs this one consists; None if it is one."""
        return None

    def each(self, function: Callable[..., Any], *others: Any) -> Any:
        """The answers of all members, stacked; ``others`` have one entry for each of them."""
        raise TypeError("this belief has no members")


B = TypeVar("B", bound=Belief)


class Model(Module, Generic[B]):
    """How payoffs are learned; B is what it believes."""

    #: Whether inputs end with the time.
    ages: ClassVar[bool] = False
    #: Search for hyper-parameters on every so many rewards and keep them in between.
    refit_every: eqx.AbstractVar[int]

    @property
    def timeless(self) -> "Model[Any]":
        """The model of payoffs that stand still."""
        return self

    @abstractmethod
    def begin(self, space: Inputs, capacity: int) -> B:
        """What is believed before any reward, as host arrays."""

    @abstractmethod
    def search(self, key: PRNGKeyArray, belief: B) -> tuple[B, FitInfo]:
        """The belief with hyper-parameters found anew; conditioning is left to be done."""

    @abstractmethod
    def condition(self, belief: B) -> B:
        """The belief with predictions that rest on all rewards observed."""
