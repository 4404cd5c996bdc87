"""Input densities p_x: which inputs matter before any reward is seen."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from windfall.errors import InputError

__all__ = ["Gaussian", "as_prior", "check_weights", "gaussian", "prior_values"]


@dataclass(frozen=True)
class Gaussian:
    """An independent Gaussian density over the features, up to a constant."""

    mean: tuple[float, ...]
    deviation: tuple[float, ...]

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """The density at each row of ``x``."""
        if x.shape[-1] != len(self.mean):
            raise InputError(
                f"prior is a Gaussian over {len(self.mean)} features and the arms have "
                f"{x.shape[-1]}; give one mean and deviation per feature"
            )
        errors = (x - np.asarray(self.mean)) / np.asarray(self.deviation)
        return np.exp(-0.5 * np.sum(errors**2, axis=-1))


def gaussian(mean: Any, deviation: Any) -> Gaussian:
    """An independent Gaussian density over the features, up to a constant.

    Args:
        mean: One per feature, in the user's units.
        deviation: One per feature, or one for all.

    Example:
        >>> import numpy as np
        >>> gaussian([0.0], [1.0])(np.array([[0.0], [1.0]])).round(4).tolist()
        [1.0, 0.6065]
    """
    centre = np.atleast_1d(np.asarray(mean, float))
    spread = np.atleast_1d(np.asarray(deviation, float))
    fits = centre.ndim == 1 and spread.shape in (centre.shape, (1,))
    if not (fits and np.all(np.isfinite(centre)) and np.all((spread > 0) & np.isfinite(spread))):
        raise InputError(
            f"prior mean {mean!r}, deviation {deviation!r}; expected finite means and positive "
            "deviations, one per feature"
        )
    return Gaussian(tuple(centre.tolist()), tuple(np.broadcast_to(spread, centre.shape).tolist()))


def as_prior(prior: Any) -> Callable | np.ndarray | None:
    """A prior as users write it: None, a function of features, or weights as an array."""
    if prior is None or callable(prior):
        return prior
    try:
        return np.asarray(prior, float)
    except (TypeError, ValueError):
        raise InputError(
            f"prior is {prior!r}; expected None, a function of features or one weight per arm"
        ) from None


def prior_values(
    prior: Callable | None, points: np.ndarray, arms: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """p_x at a domain's points and at the arms, all in the user's units; ``None`` is uniform.

    One scale serves both, mean 1 over the domain, so that a point counts the same wherever it is
    listed.
    """
    if prior is None:
        return np.ones(len(points)), np.ones(len(arms))
    at_points, at_arms = _densities(prior, points), _densities(prior, arms)
    return at_points / at_points.mean(), at_arms / at_points.mean()


def check_weights(weights: Any, arms: int) -> np.ndarray:
    """One weight per arm, scaled to mean 1."""
    values = np.asarray(weights, float)
    if values.shape != (arms,):
        raise InputError(
            f"prior has shape {values.shape}; expected one weight for each of {arms} arms"
        )
    return _checked(values) / values.mean()


def _densities(prior: Callable, x: np.ndarray) -> np.ndarray:
    values = np.asarray(prior(x), float)
    if values.shape != (len(x),):
        raise InputError(
            f"prior returned shape {values.shape} for {len(x)} points; expected one density each"
        )
    return _checked(values)


def _checked(values: np.ndarray) -> np.ndarray:
    bad = ~np.isfinite(values) | (values < 0)
    if bad.any():
        i = int(np.argmax(bad))
        raise InputError(f"prior is {values[i]} at point {i}; expected finite densities >= 0")
    if not values.any():
        raise InputError("prior is 0 everywhere; expected some positive density")
    return values
