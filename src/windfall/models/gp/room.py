"""Room for more inputs, and from when on only some of them carry the model."""

from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import numpy as np

from windfall.models.gp.grown import Grown
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
        grown: With room for so many, if more, it is exact still, and conditioned upon an earlier
            posterior.
    """

    exact: int
    size: int
    grown: int = 0

    def kind(self, capacity: int) -> type[Posterior]:
        """The posterior with so much room.

        Example:
            >>> [Sparsity(8, 4, 16).kind(room).__name__ for room in (8, 16, 32)]
            ['Posterior', 'Grown', 'Sparse']
        """
        if capacity <= self.exact:
            return Posterior
        return Grown if capacity <= self.grown else Sparse

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

    One that becomes another kind has to be conditioned before its predictions mean anything; its
    hyper-parameters stay.
    """
    if sparsity is not None and type(posterior) is not sparsity.kind(capacity):
        posterior = _blank(posterior, capacity, sparsity)
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
    parts = (observations, whitener)
    if isinstance(posterior, Grown):
        earlier = resize(posterior.earlier, capacity, -1)
        posterior = eqx.tree_at(lambda p: p.earlier, posterior, earlier)
    return eqx.tree_at(lambda p: (p.observations, p.whitener), posterior, parts)


def _blank(posterior: Posterior, capacity: int, sparsity: Sparsity) -> Posterior:
    """Another kind of posterior, with the same hyper-parameters and without any knowledge."""
    kept, kind = (posterior.hyper, posterior.observations, posterior.scale), sparsity.kind(capacity)
    if kind is Posterior:
        blank = Posterior(*kept, np.eye(capacity), np.bool_(True), posterior.trend)
        fields = ("whitener", "healthy")
    elif kind is Grown:
        unknown = np.eye(capacity), np.bool_(True), posterior.trend, np.zeros(capacity)
        blank = Grown(*kept, *unknown)
        fields = ("whitener", "healthy", "earlier")
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
