"""A box: real parameters between two corners."""

from collections.abc import Mapping
from typing import Any

from windfall.errors import InputError
from windfall.runtime.given import Constraints, Names, Numbers
from windfall.space.parameter import Real
from windfall.space.region import Parameters

__all__ = ["Box"]


class Box(Parameters):
    """Real parameters between a lower and an upper corner.

    Args:
        lower: The lowest value of each parameter.
        upper: The highest value of each parameter.
        names: Their names; by default x1, x2, …
        constraints: As for ``Parameters``.

    Example:
        >>> Box([0, 0], [1, 10], names=["dose", "heat"])
        Box([0.0, 0.0], [1.0, 10.0], names=['dose', 'heat'])
    """

    def __init__(
        self,
        lower: Numbers,
        upper: Numbers,
        names: Names | None = None,
        constraints: Constraints = (),
    ):
        """Check the corners."""
        low, high = (
            _listed(name, corner, "one number per parameter")
            for name, corner in (("lower", lower), ("upper", upper))
        )
        if len(low) != len(high):
            raise InputError(
                f"lower has {len(low)} numbers and upper has {len(high)}; expected as many"
            )
        if names is None:
            names = [f"x{i + 1}" for i in range(len(low))]
        expected = f"{len(low)} different names"
        names = _listed("names", names, expected)
        texts = {name for name in names if isinstance(name, str)}
        if not len(texts) == len(names) == len(low):
            raise InputError(f"names is {names!r}; expected {expected}")
        parameters = {}
        for name, a, b in zip(names, low, high, strict=True):
            try:
                parameters[name] = Real(a, b)
            except InputError as error:
                raise InputError(f"{name}: {error}") from None
        super().__init__(parameters, constraints)

    def spec_arguments(self) -> dict[str, Any]:
        """For specs."""
        low, high = self._corners
        return {
            "lower": low,
            "upper": high,
            "names": list(self.names),
            "constraints": self.constraints,
        }

    @classmethod
    def from_spec_arguments(  # pyright: ignore[reportIncompatibleMethodOverride]
        cls,
        lower: Numbers,
        upper: Numbers,
        names: Names | None = None,
        constraints: Constraints = (),
    ) -> "Box":
        return cls(lower, upper, names, constraints)

    @property
    def _corners(self) -> tuple[list[float], list[float]]:
        reals = self.parameters.values()
        return [p.low for p in reals], [p.high for p in reals]  # pyright: ignore

    def __repr__(self) -> str:
        """The expression that makes this box again."""
        low, high = self._corners
        return f"Box({low}, {high}, names={list(self.names)}{self._constraints_text()})"


def _listed(name: str, values: Any, expected: str) -> list[Any]:
    try:
        listed = list(values)
    except TypeError:
        listed = []
    if not listed or isinstance(values, str | bytes | Mapping):
        raise InputError(f"{name} is {values!r}; expected {expected}")
    return listed
