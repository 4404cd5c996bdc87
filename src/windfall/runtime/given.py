"""The types of what users give, for type checkers and readers; imports nothing heavy.

When windfall runs they are ``Any``: whatever is given it checks itself, and says in words what is
wrong with it.
"""

from typing import TYPE_CHECKING, Any

__all__ = [
    "AcquisitionLike",
    "Chosen",
    "Coefficients",
    "Constraints",
    "ContextLike",
    "Contexts",
    "Draw",
    "ExecutorLike",
    "Known",
    "ModelLike",
    "Names",
    "Number",
    "Numbers",
    "ParametersLike",
    "PolicyLike",
    "Runs",
    "SpaceLike",
    "StoreLike",
    "Text",
    "Truth",
    "Whole",
]

if TYPE_CHECKING:
    import concurrent.futures
    import os
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import SupportsFloat, SupportsIndex, TypeAlias

    from numpy.typing import ArrayLike

    from windfall.acquisition.base import Acquisition
    from windfall.models.base import Model
    from windfall.policy import Policy
    from windfall.problems.changing import Rounds
    from windfall.simulation.engines import Engine
    from windfall.space import Context, Space
    from windfall.space.parameter import Parameter
    from windfall.study.choice import Choice
    from windfall.study.stores import Store

    #: Python's, NumPy's, or an array of JAX without axes.
    Number: TypeAlias = SupportsFloat
    Whole: TypeAlias = SupportsIndex
    Text: TypeAlias = str
    Truth: TypeAlias = bool
    Names: TypeAlias = Iterable[str]
    #: An array, nested lists, a data frame.
    Numbers: TypeAlias = ArrayLike
    #: A point or a context: by name, or numbers in order; an arm also by its number or its name.
    Known: TypeAlias = Mapping[str, object] | ArrayLike
    #: By name, a table of rewards: a line per run.
    Runs: TypeAlias = Mapping[str, Numbers]
    #: One of them for each choice, too.
    Contexts: TypeAlias = Known | Sequence[Known]
    #: What is known before each choice, as a study is told of it.
    ContextLike: TypeAlias = Context | Space | Names | Mapping[str, object]
    #: Functions of the parameters by name: 0 or more where they hold.
    Constraints: TypeAlias = Iterable[Callable[[Mapping[str, Any]], object]]
    Coefficients: TypeAlias = Mapping[str, Number]
    #: Draws the rounds of a trial: from the number of the trial, and how many pulls it has.
    Draw: TypeAlias = Callable[[int, int], Rounds]
    Chosen: TypeAlias = Choice | Known
    AcquisitionLike: TypeAlias = Acquisition
    ModelLike: TypeAlias = Model
    ParametersLike: TypeAlias = Mapping[str, Parameter]
    PolicyLike: TypeAlias = str | Acquisition | Policy
    SpaceLike: TypeAlias = Space | Numbers
    StoreLike: TypeAlias = str | os.PathLike[str] | Store
    ExecutorLike: TypeAlias = str | concurrent.futures.Executor | Engine
else:
    AcquisitionLike = ModelLike = PolicyLike = SpaceLike = StoreLike = ExecutorLike = Any
    Chosen = Coefficients = Constraints = ContextLike = Contexts = Known = ParametersLike = Any
    Draw = Any
    Names = Number = Numbers = Runs = Text = Truth = Whole = Any
