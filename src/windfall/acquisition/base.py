"""What every acquisition is: once a round it looks at the belief and returns a score.

An acquisition ``focus``es on the state of affairs (fits the attention, draws a function) and gives
a ``Score``: a function of points to be maximised, over arms or over a box.
"""

from abc import abstractmethod
from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int, PRNGKeyArray

from windfall.models.base import Belief, Model
from windfall.models.glance import Glance
from windfall.models.gp.model import GP
from windfall.naming import name_of
from windfall.runtime.arrays import Array
from windfall.runtime.modules import Module
from windfall.space import Space

__all__ = ["Acquisition", "Rising", "Score", "Situation"]


class Situation(Module):
    """What an acquisition may know besides the belief.

    Attributes:
        round: The policy's round t = 1, 2, …
        size: |D|, the number of arms, or of parameters where there are no arms.
        anchors: A few representative inputs.
        left: How many pulls are left, this one included; ∞ if nobody knows.
    """

    round: Int[Array, ""]
    size: int | Int[Array, ""]
    anchors: Float[Array, "a d"]
    left: Float[Array, ""] = np.float64(np.inf)


class Score(Module):
    """A function of points to be maximised."""

    @abstractmethod
    def __call__(self, x: Float[Array, "m d"]) -> Float[Array, " m"]:
        """The score of each point."""

    def ceiling(self, x: Float[Array, "m d"], glance: Glance) -> Float[Array, " m"] | None:
        """No less than the score of each point, sooner than the score; None: compute them all.

        Args:
            x: The points.
            glance: The same points, for a first look.
        """
        del x, glance
        return None

    @property
    def divisible(self) -> bool:
        """Whether devices may each compute it for points of their own."""
        return True

    def ratio(self, x: Float[Array, "m d"]) -> Float[Array, " m"]:
        """The attention paid to each point: 1 for all but the likelihood-weighted scores."""
        return jnp.ones(x.shape[0], x.dtype)

    @property
    def settled(self) -> Bool[Array, "..."] | None:
        """Whether what was fitted for it had converged; None where nothing was."""
        return None

    def average(self, values: Float[Array, "s m"]) -> Float[Array, " m"]:
        """The average of scores of this kind over samples of the hyper-parameters."""
        return jnp.mean(values, axis=0)


class Rising(Score):
    """A function of the moments that never falls as the mean or the deviation rises."""

    belief: Belief

    @abstractmethod
    def value(self, x: Float[Array, "m d"], mean: Array, deviation: Array) -> Float[Array, " m"]:
        """The score of points with these moments."""

    def __call__(self, x):
        return self.value(x, *self.belief.moments(x))

    def ceiling(self, x, glance):
        """Its value at bounds of the moments."""
        moments = self.belief.ceiling(x, glance)
        return None if moments is None else self.value(x, *moments)


class Acquisition(Module):
    """How a policy values a point; subclass it with ``focus``.

    Attributes:
        repeats: Whether a policy may try something again while there is something that it has not
            tried, unless it is told otherwise.
    """

    repeats: ClassVar[bool] = True

    @abstractmethod
    def focus(self, key: PRNGKeyArray, belief: Belief, situation: Situation, setup: Any) -> Score:
        """The score for this round.

        Args:
            key: Randomness of this round.
            belief: What is believed about the payoffs.
            situation: The round, and where choices are made.
            setup: What ``setup`` gave when the study began.
        """

    def setup(self, space: Space) -> Any:
        """Once per study: whatever ``focus`` needs to know about the space, as host arrays."""
        del space
        return None

    @property
    def contextual(self) -> bool:
        """Whether ``setup`` is to see a ``Joint`` in place of the space, where contexts differ."""
        return False

    def model(self) -> Model:
        """The model of the payoffs that goes with it, unless a policy is given another."""
        return GP()

    def early(
        self, round: Int[Array, ""], size: int | Int[Array, ""], left: Float[Array, ""]
    ) -> Bool[Array, ""] | None:
        """Whether it is too early to try an arm of so many again; None if it never is.

        Args:
            round: The round, since payoffs last changed.
            size: The number of arms.
            left: How many pulls are left, this one included; ∞ if nobody knows.
        """
        del round, size, left
        return None

    @property
    def grows(self) -> bool:
        """Whether arms may be added to its list: not if it was told something about each arm."""
        return True

    @property
    def averages(self) -> bool:
        """Whether scores of equally probable beliefs are averaged: not if each is a draw."""
        return True

    def __repr__(self) -> str:
        """The expression that makes this acquisition again."""
        fields = ", ".join(f"{k}={_plain(v)}" for k, v in vars(self).items())
        return f"{type(self).__name__}({fields})"


def _plain(value: object) -> str:
    """A setting as a user would type it, the same in every process: no addresses, no ellipses."""
    if isinstance(value, np.generic | np.ndarray):
        return repr(value.tolist())
    return name_of(value)
