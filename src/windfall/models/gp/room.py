"""Room for more inputs, and from when on only some of them carry the model."""

from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import numpy as np

from windfall.models.gp.inducing import NONE
from windfall.models.gp.late import Late
from windfall.models.gp.observations import resize
from windfall.models.gp.posterior import Posterior
from windfall.models.gp.sparse import Sparse
from windfall.models.gp.sums import Sums
from windfall.models.lookup import Lookup

__all__ = ["Sparsity", "resized"]


@dataclass(frozen=True)
class Sparsity:
    """When and how a model becomes sparse.

    Attributes:
        exact: The most inputs for which there is room in an exact model.
        size: How many inputs carry a sparse one.
    """

    exact: int
    size: int

    @property
    def latest(self) -> int:
        """Room for the latest inputs among these; a search chooses the others."""
        return max(self.size // 5, 2)

    @property
    def chosen(self) -> int:
        """How many a search chooses."""
        return self.size - self.latest


def resized(posterior: Posterior, capacity: int, sparsity: Sparsity | None) -> Posterior:
    """A posterior, or a stack of them, with other room, on the host.

    An exact one that becomes sparse, or the other way round, has to be conditioned before its
    predictions mean anything; its hyper-parameters stay.
    """
    sparse = sparsity is not None and capacity > sparsity.exact
    if sparse != isinstance(posterior, Sparse):
        posterior = _blank(posterior, capacity, sparsity if sparse else None)
    observations = posterior.observations.resized(capacity)
    # Not by the constructor: a stack has other shapes than it is annotated with.
    if isinstance(posterior, Sparse):

        def slots(p: Sparse):
            return p.sums.open, p.sums.count, p.sums.mean, p.lookup.hashes, p.lookup.order

        parts = [resize(array, capacity, -1) for array in slots(posterior)]
        # Nothing is to be found in it before it is conditioned.
        rows = np.full_like(observations.features, np.nan)
        return eqx.tree_at(
            lambda p: (p.observations, p.lookup.rows, *slots(p)),
            posterior,
            (observations, rows, *parts),
        )
    before = posterior.whitener.shape[-1]
    whitener = resize(resize(posterior.whitener, capacity, -1), capacity, -2)
    fresh = np.arange(before, capacity)
    whitener[..., fresh, fresh] = 1.0
    return eqx.tree_at(lambda p: (p.observations, p.whitener), posterior, (observations, whitener))


def _blank(posterior: Posterior, capacity: int, sparsity: Sparsity | None) -> Posterior:
    """The other kind of posterior, with the same hyper-parameters and without any knowledge."""
    kept = (posterior.hyper, posterior.observations, posterior.scale)
    if sparsity is None:
        blank = Posterior(*kept, np.eye(capacity), np.bool_(True), posterior.trend)
        fields = ("whitener", "healthy")
    else:
        size, dimension = sparsity.chosen, posterior.observations.features.shape[-1]
        blank = Sparse(
            *kept,
            np.eye(size),
            np.bool_(True),
            posterior.trend,
            chosen=np.full(size, NONE, np.int32),
            sums=Sums.nothing(size, capacity),
            late=Late.nothing(size, sparsity.latest, dimension),
            level=np.zeros(size),
            unexplained=np.float64(1.0),
            lookup=Lookup.nothing(capacity, dimension),
        )
        fields = ("whitener", "healthy", "chosen", "sums", "late", "level", "unexplained", "lookup")
    lead = np.shape(posterior.observations.used)

    def stacked(leaf: Any) -> np.ndarray:
        return np.broadcast_to(leaf, (*lead, *np.shape(leaf))).copy()

    def parts(p: Posterior):
        return [getattr(p, name) for name in fields]

    return eqx.tree_at(parts, blank, jax.tree.map(stacked, parts(blank)))
