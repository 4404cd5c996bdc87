"""A kernel that sees some of the columns only."""

import dataclasses

import equinox as eqx

from windfall.checks import whole_number
from windfall.models.gp.kernels.base import Kernel, as_kernel

__all__ = ["Part"]


class Part(Kernel):
    """k(x[first:stop], x'[first:stop]).

    Example:
        >>> from windfall.models.gp.kernels import Matern52
        >>> Part(Matern52(0.2), 0, 2) + Part(Matern52(0.5), 2, 3)
        Part(Matern52(lengthscale=0.2, variance=1.0), 0, 2) +
        Part(Matern52(lengthscale=0.5, variance=1.0), 2, 3)
    """

    kernel: Kernel = eqx.field(converter=as_kernel)
    first: int = eqx.field(static=True, converter=whole_number("first", 0))
    stop: int = eqx.field(static=True, converter=whole_number("stop", 1))

    def _seen(self, x):
        return x[..., self.first : self.stop]

    def __call__(self, x1, x2):
        return self.kernel(self._seen(x1), self._seen(x2))

    def gram(self, x1, x2):
        return self.kernel.gram(self._seen(x1), self._seen(x2))

    def diagonal(self, x):
        return self.kernel.diagonal(self._seen(x))

    def random_features(self, key, count, anchors):
        features = self.kernel.random_features(key, count, self._seen(anchors))
        return lambda x: features(self._seen(x))

    def expanded(self, dimension):
        del dimension
        return dataclasses.replace(self, kernel=self.kernel.expanded(self.stop - self.first))

    def stretched(self, factors):
        return dataclasses.replace(self, kernel=self.kernel.stretched(self._seen(factors)))

    def choosing(self, choices):
        here = [c for c in choices if all(self.first <= column < self.stop for column in c)]
        moved = tuple(tuple(column - self.first for column in c) for c in here)
        return dataclasses.replace(self, kernel=self.kernel.choosing(moved))

    def together(self):
        return dataclasses.replace(self, kernel=self.kernel.together())

    def __repr__(self) -> str:
        return f"Part({self.kernel!r}, {self.first}, {self.stop})"
