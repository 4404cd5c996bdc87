"""What is known before a round and differs from round to round: the context.

A context is a tuple of numbers in the user's units, as a study remembers it. A model sees it as
further columns beside those of an arm or a point: a *frame* says which and how they are scaled.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from windfall.checks import finite, shown, true_or_false
from windfall.errors import InputError
from windfall.runtime.given import ContextLike, Truth
from windfall.space.checks import check_span, entries
from windfall.space.parameter import Parameter, Real
from windfall.space.region import Parameters

__all__ = ["Context", "Frame", "Seen", "as_context"]

#: Lower and upper ends of all contexts seen, name by name.
Seen = tuple[tuple[float, ...], tuple[float, ...]]


@dataclass(frozen=True)
class Frame:
    """The columns in which a model sees contexts.

    Attributes:
        space: Where their bounds are given: every column is part of the model.
        seen: Else the bounds, which grow with what is seen. A number that has never varied says
            nothing and is no column.
        timed: Whether contexts end with the time, as it is: the last column.
    """

    space: Parameters | None = None
    seen: Seen | None = None
    timed: bool = False

    @property
    def varies(self) -> np.ndarray:
        """Which of the numbers without given bounds have ever varied."""
        low, high = _ends(self.seen)
        return high > low

    @property
    def width(self) -> int:
        """The number of columns."""
        known = int(self.varies.sum()) if self.space is None else self.space.dimension
        return known + self.timed

    @property
    def groups(self) -> list[int]:
        """For each column the number of its group: the options of a choice belong together."""
        ties = None if self.space is None else self.space.ties
        if ties is None:
            return list(range(self.width))
        return [*ties, ties[-1] + 1] if self.timed else [*ties]

    def unit(self, contexts: Sequence[tuple[float, ...]]) -> np.ndarray:
        """(n, width) columns of contexts; outside of 0 … 1 where they lie outside of the bounds."""
        if self.timed:
            known = replace(self, timed=False).unit([context[:-1] for context in contexts])
            times = np.array([context[-1] for context in contexts], float)
            return np.concatenate([known, times[:, None]], axis=1)
        if self.space is not None:
            return self.space.locate(contexts)
        low, high = _ends(self.seen)
        rows = np.array(contexts, float).reshape(len(contexts), len(low))
        return ((rows - low) / np.where(self.varies, high - low, 1.0))[:, self.varies]

    def since(self, before: Seen | None) -> np.ndarray | None:
        """How much longer the columns were in an earlier frame, in units of this one.

        A length of 1 in the old column is as much in the user's units as this in the new one. None
        if the columns were others.
        """
        if self.space is not None:
            return np.ones(self.width)
        low, high = _ends(before)
        if not np.array_equal(high > low, self.varies):
            return None
        now_low, now_high = _ends(self.seen)
        factors = (high - low)[self.varies] / (now_high - now_low)[self.varies]
        return np.append(factors, 1.0) if self.timed else factors


def _ends(seen: Seen | None) -> tuple[np.ndarray, np.ndarray]:
    return (np.zeros(0), np.zeros(0)) if seen is None else (np.array(seen[0]), np.array(seen[1]))


class Context:
    """What is known before a round: numbers by name, or parameters of several kinds.

    Args:
        described: Names of numbers, whose bounds grow with what is seen; bounds by name, as in
            ``{"load": (0, 10)}``; a ``Box``; or ``Parameters`` (of ``Real``, ``Integer`` and
            ``Categorical``), without constraints.
        additive: Whether the context moves the payoffs of all arms alike: the kernel of the arms
            plus one of the context, k(x, x') + k(z, z'). By default one kernel sees both, so that
            what pays in one context says the less about another the further they are apart.

    Example:
        >>> context = Context(["temperature", "load"])
        >>> context.point({"temperature": 21.5, "load": 3})
        (21.5, 3.0)
        >>> Context({"load": (0, 10)}).frame(None).unit([(2.5,)]).tolist()
        [[0.25]]
    """

    def __init__(self, described: ContextLike, additive: Truth = False):
        """Check the description."""
        self.additive = true_or_false("additive")(additive)
        self.space: Parameters | None = None
        if isinstance(described, Parameters):
            if described.constraints:
                raise InputError("context has constraints; expected none: nobody chooses a context")
            self.space = described
        elif isinstance(described, Mapping) and described:
            self.space = Parameters({n: _parameter(n, p) for n, p in described.items()})
        elif isinstance(described, Sequence) and not isinstance(described, str) and described:
            texts = {name for name in described if isinstance(name, str) and name}
            if len(texts) != len(described):
                raise InputError(f"context is {shown(described)}; expected different names")
        else:
            raise InputError(
                f"context is {shown(described)}; expected a list of names, bounds by name, a Box or"
                " Parameters"
            )
        names: Any = described if self.space is None else self.space.names
        self.names: tuple[str, ...] = tuple(names)

    def point(self, given: Any) -> tuple[float, ...]:
        """The context that a user means: checked numbers, in order."""
        if given is None:
            raise InputError(f"context is missing; expected {', '.join(self.names)}")
        if isinstance(given, Mapping):
            if given.keys() != set(self.names):
                raise InputError(f"context is {shown(given)}; expected {', '.join(self.names)}")
            values: Any = dict(given)
        else:
            values = _in_order(given)
            if values is None or len(values) != len(self.names):
                raise InputError(
                    f"context is {shown(given)}; expected values of {', '.join(self.names)}, by "
                    "name or in this order"
                )
        try:
            return self._numbers(values)
        except InputError as error:
            raise InputError(f"context {error}") from None

    def _numbers(self, values: Any) -> tuple[float, ...]:
        if self.space is not None:
            point = self.space.point(values)
            assert isinstance(point, tuple)
            return point
        if isinstance(values, list):
            values = dict(zip(self.names, values, strict=True))
        return tuple(finite(name, values[name]) for name in self.names)

    def points(self, given: Any, n: int) -> list[tuple[float, ...]]:
        """One context for all of n choices, or one for each."""
        listed = _in_order(given)
        if listed and (isinstance(listed[0], Mapping) or _in_order(listed[0]) is not None):
            if len(listed) != n:
                raise InputError(f"context has {len(listed)} entries; expected {n}, one per choice")
            return [self.point(one) for one in listed]
        return [self.point(given)] * n

    def named(self, context: tuple[float, ...]) -> dict[str, Any]:
        """A context as values by name."""
        if self.space is not None:
            return self.space.named(np.array(context))
        return dict(zip(self.names, context, strict=True))

    def including(
        self, seen: Seen | None, contexts: Sequence[tuple[float, ...] | None]
    ) -> Seen | None:
        """The bounds of what was seen and of further contexts; none where they are given."""
        known = [context for context in contexts if context is not None]
        if self.space is not None or not known:
            return seen
        rows = np.array([*(seen or ()), *known])
        low, high = rows.min(axis=0), rows.max(axis=0)
        check_span(low, high, "context", self.names)
        return tuple(low.tolist()), tuple(high.tolist())

    def frame(self, seen: Seen | None) -> Frame:
        """The columns of a model that knows contexts within these bounds."""
        return Frame(self.space, None if self.space is not None else seen)

    def spec_arguments(self) -> dict[str, Any]:
        """For specs."""
        described = list(self.names) if self.space is None else self.space
        return {"described": described, "additive": self.additive}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Context) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple:
        return self.names, self.space, self.additive

    def __repr__(self) -> str:
        """The expression that makes this context again."""
        described = list(self.names) if self.space is None else self.space
        return f"Context({described!r}{', additive=True' * self.additive})"


def _in_order(given: Any) -> list[Any] | None:
    """The entries of what has an order; None for others, and for a text, which is one entry."""
    return entries(given) if isinstance(given, Sequence | np.ndarray) else None


def _parameter(name: Any, given: Any) -> Parameter:
    if isinstance(given, Parameter):
        return given
    try:
        low, high = given
    except (TypeError, ValueError):
        raise InputError(
            f"context {name} is {shown(given)}; expected (low, high), Real, Integer or Categorical"
        ) from None
    try:
        return Real(low, high)
    except InputError as error:
        raise InputError(f"context {name}: {error}") from None


def as_context(given: ContextLike | None) -> Context | None:
    """The context that a user describes; None for none."""
    return given if given is None or isinstance(given, Context) else Context(given)
