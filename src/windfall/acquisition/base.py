"""What every acquisition is: once a round it looks at the posterior and returns a score.

An acquisition ``focus``es on the state of affairs (fits the attention, draws a function) and gives
a ``Score``: a function of points to be maximised, over arms or over a box.
"""

from abc import abstractmethod

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int, PRNGKeyArray

from windfall.attention.prior import Relative
from windfall.attention.ratio import Domain
from windfall.models.gp.model import GP
from windfall.models.gp.posterior import Posterior
from windfall.naming import name_of
from windfall.runtime.arrays import Array
from windfall.space import Parameters, Space

__all__ = ["Acquisition", "Score", "Situation"]


class Situation(eqx.Module):
    """What an acquisition may know besides the posterior.

    Attributes:
        round: The policy's round t = 1, 2, …
        best: The best mean reward recorded so far.
        size: |D|, the number of arms, or of parameters where there are no arms.
        domain: Where the density of the mean is estimated.
        anchors: A few representative inputs.
    """

    round: Int[Array, ""]
    best: Float[Array, ""]
    size: int = eqx.field(static=True)
    domain: Domain
    anchors: Float[Array, "a d"]


class Score(eqx.Module):
    """A function of points to be maximised."""

    @abstractmethod
    def __call__(self, x: Float[Array, "m d"], prior: Float[Array, " m"]) -> Float[Array, " m"]:
        """The score of points with input density ``prior``."""

    def ratio(self, x: Float[Array, "m d"], prior: Float[Array, " m"]) -> Float[Array, " m"]:
        """The attention paid to each point: 1 for all but the likelihood-weighted scores."""
        del prior
        return jnp.ones(x.shape[0], x.dtype)

    def average(self, values: Float[Array, "s m"]) -> Float[Array, " m"]:
        """The average of scores of this kind over samples of the hyper-parameters."""
        return jnp.mean(values, axis=0)


class Acquisition(eqx.Module):
    """How a policy values a point; subclass it with ``focus``."""

    @abstractmethod
    def focus(self, key: PRNGKeyArray, posterior: Posterior, situation: Situation) -> Score:
        """The score for this round."""

    def model(self) -> GP:
        """The model of the payoffs that goes with it, unless a policy is given another."""
        return GP()

    def survey(self, space: Space) -> tuple[Domain, np.ndarray]:
        """Once per study: where to look at the mean, and p_x at the arms.

        Most acquisitions look at the arms only and need no domain of their own.
        """
        return Domain(space.arms[:1], np.ones(1)), np.ones(space.size)

    def survey_region(self, space: Parameters) -> tuple[Domain, Relative | None]:
        """The same without arms: p_x is a function, None if it is uniform or not used."""
        return Domain(space.fill(1), np.ones(1)), None

    def __repr__(self) -> str:
        """The expression that makes this acquisition again."""
        fields = ", ".join(f"{k}={_plain(v)}" for k, v in vars(self).items())
        return f"{type(self).__name__}({fields})"


def _plain(value: object) -> str:
    """A setting as a user would type it, the same in every process: no addresses, no ellipses."""
    if isinstance(value, np.generic | np.ndarray):
        return repr(value.tolist())
    return name_of(value)
