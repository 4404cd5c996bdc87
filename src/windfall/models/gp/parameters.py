"""Hyper-parameters by name: where they may go, and the coordinates in which they are sought.

A search or a sampler runs over u ∈ Rᵖ, log θ = low + (high − low)·sigmoid(u): every parameter is
positive and stays in a wide box, so that three rewards cannot send a length scale to infinity.
"""

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Float

from windfall.models.gp.evidence import Hyper
from windfall.models.gp.observations import LEAST_NOISE
from windfall.runtime.arrays import Array

__all__ = ["BOUNDS", "Coordinates", "named"]

#: Where each parameter may go, and where random starts are drawn (both log-uniform). Features fill
#: the unit box and rewards have deviation 1, so the same numbers serve every problem.
BOUNDS = {
    "lengthscale": (5e-3, 2e1),
    "variance": (1e-3, 1e3),
    "noise": (LEAST_NOISE, 1e0),
    "alpha": (1e-1, 1e2),
    "period": (1e-2, 1e1),
    "slope": (1e-3, 1e2),
    "effect": (1e-4, 1e2),
}
STARTS = {
    "lengthscale": (5e-2, 1e0),
    "variance": (3e-1, 1e1),
    "noise": (1e-6, 1e-2),
    "alpha": (5e-1, 5e0),
    "period": (1e-1, 2e0),
    "slope": (3e-2, 3e0),
    "effect": (3e-2, 3e0),
}
_ELSE = (1e-3, 1e3)
#: How far the noise may rise above what repeated pulls say, in logarithms.
_HEADROOM = np.log(10.0)
#: The share of the box, from its edge, in which coordinates count as those at its end.
_EDGE = 0.05


def named(hyper: Hyper) -> Iterator[tuple[str, Float[Array, "..."]]]:
    """Each parameter with the name of the field that holds it."""
    for path, leaf in jax.tree_util.tree_flatten_with_path(hyper)[0]:
        last = path[-1]
        yield getattr(last, "name", getattr(last, "key", "")), leaf


class Coordinates:
    """The map between hyper-parameters of one kind and Rᵖ.

    Example:
        >>> from windfall.models.gp.kernels import Constant
        >>> coordinates = Coordinates(Hyper(Constant(1.0), np.float64(1e-4)))
        >>> noise = coordinates.hyper(jnp.zeros(2)).noise  # the middle of 1e-8 … 1, in logarithms
        >>> round(float(noise), 6)
        0.0001
    """

    def __init__(
        self,
        like: Hyper,
        within: float | Float[Array, ""] = 0.0,
        error: float | Float[Array, ""] = 0.0,
    ):
        """For hyper-parameters of the same kernel and shapes as ``like``.

        Args:
            like: Hyper-parameters.
            within: The variance of repeated pulls. The noise of single pulls is at most the
                variance of the rewards, 1; that of many averaged into one mean may be any multiple.
            error: The variance that this gives the mean reward of an input. Payoffs that vary by
                less could not be told from equal ones: no kernel's variance goes below it.
        """
        _, self._unravel = ravel_pytree(like)
        low, high = _box(like, BOUNDS)
        start_low, start_high = _box(like, STARTS)
        is_noise = _entries(like, "noise")
        floor = jnp.log(jnp.clip(error, BOUNDS["variance"][0], 1.0))
        self.low = jnp.where(_entries(like, "variance"), jnp.maximum(low, floor), low)
        loud = is_noise & (within > BOUNDS["noise"][1])
        level = jnp.log(jnp.maximum(within, BOUNDS["noise"][1]))
        self.high = jnp.where(loud, level + _HEADROOM, high)
        self.start_low = jnp.where(loud, level, start_low)
        self.start_high = jnp.where(loud, level, start_high)

    def hyper(self, u: Float[Array, " p"]) -> Hyper:
        """The hyper-parameters at ``u``."""
        return self._natural(self.low + (self.high - self.low) * jax.nn.sigmoid(u))

    def at(self, log_parameters: Float[Array, " p"]) -> Float[Array, " p"]:
        """The coordinates of the logarithms of parameters, kept a little off the box's edge.

        Right on the edge the sigmoid is flat and nothing would move.
        """
        fraction = (log_parameters - self.low) / (self.high - self.low)
        return jax.scipy.special.logit(jnp.clip(fraction, 1e-3, 1.0 - 1e-3))

    def exactly(self, log_parameters: Float[Array, " p"]) -> Float[Array, " p"]:
        """The coordinates of the logarithms of parameters; infinite on the box's edge."""
        return jax.scipy.special.logit((log_parameters - self.low) / (self.high - self.low))

    def per_unit(self, u: Float[Array, " p"]) -> Float[Array, " p"]:
        """The slope d log θ/du; as a little off the box's edge, where it would be 0."""
        fraction = jnp.clip(jax.nn.sigmoid(u), _EDGE, 1.0 - _EDGE)
        return (self.high - self.low) * fraction * (1.0 - fraction)

    def inside(self, hyper: Hyper) -> Hyper:
        """Hyper-parameters moved into the box if they lie outside."""
        return jax.tree.map(jnp.clip, hyper, self._natural(self.low), self._natural(self.high))

    def log_volume(self, u: Float[Array, " p"]) -> Float[Array, ""]:
        """Σ log dlog θ/du up to a constant: turns a density over log θ into one over u."""
        return jnp.sum(jax.nn.log_sigmoid(u) + jax.nn.log_sigmoid(-u))

    def _natural(self, log_parameters) -> Hyper:
        return jax.tree.map(jnp.exp, self._unravel(log_parameters))


def _entries(hyper: Hyper, wanted: str) -> np.ndarray:
    """Which entries of the parameter vector belong to parameters of this name."""
    return np.concatenate([np.full(np.size(leaf), name == wanted) for name, leaf in named(hyper)])


def _box(hyper: Hyper, table: dict) -> tuple[Float[Array, " p"], Float[Array, " p"]]:
    """The logarithms of the low and high ends for every entry of the parameter vector."""
    ends = [
        np.full((np.size(leaf), 2), np.log(table.get(name, _ELSE))) for name, leaf in named(hyper)
    ]
    both = np.concatenate(ends)
    return jnp.asarray(both[:, 0]), jnp.asarray(both[:, 1])
