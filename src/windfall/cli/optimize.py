"""``windfall optimize``: find the best parameters of a Python function."""

import contextlib
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from windfall.cli import options
from windfall.cli.batch import say
from windfall.cli.found import Found
from windfall.cli.interrupt import WRITING, on_interrupt
from windfall.cli.progress import Progress
from windfall.errors import InputError

if TYPE_CHECKING:
    from windfall.space import Parameters
    from windfall.study.function_study import FunctionStudy
    from windfall.study.log import Call, StudyLog

__all__ = ["optimize"]

FunctionName = Annotated[
    str,
    typer.Argument(
        metavar="MODULE:FUNCTION",
        help="A Python function, called with the parameters by name; it returns a number.",
    ),
]
Boxes = Annotated[
    list[str] | None,
    typer.Option(help="A real parameter, x=0:1 or rate=1e-4:1e-1:log.", metavar="NAME=LOW:HIGH"),
]
Integers = Annotated[
    list[str] | None,
    typer.Option(help="A whole-number parameter, layers=1:8.", metavar="NAME=LOW:HIGH"),
]
Choices = Annotated[
    list[str] | None,
    typer.Option(help="A parameter with a few values, kind=relu,tanh.", metavar="NAME=A,B"),
]
Pulls = Annotated[
    int,
    typer.Option(parser=options.whole_number, help="Calls of the function, in all.", metavar="N"),
]
PolicyName = Annotated[
    str | None,
    typer.Option(
        help="A policy's name, or MODULE:NAME for your own.",
        show_default="prospect, for whom only the best counts",
        metavar="NAME",
    ),
]
Initial = Annotated[
    int | None,
    typer.Option(
        parser=options.whole_number,
        help="Space-filling calls before the policy takes over.",
        show_default="by dimension",
        metavar="N",
    ),
]
Batch = Annotated[
    int,
    typer.Option(
        parser=options.whole_number,
        help="Calls at a time, side by side in threads.",
        metavar="N",
    ),
]
Minimize = Annotated[bool, typer.Option("--minimize", help="Small values are good.")]
Log = Annotated[
    Path | None,
    typer.Option(help="Keep every call in this file, and go on from it.", metavar="FILE"),
]


def optimize(
    function: FunctionName,
    box: Boxes = None,
    integer: Integers = None,
    choice: Choices = None,
    pulls: Pulls = 50,
    policy: PolicyName = None,
    seed: options.Seed = 0,
    initial: Initial = None,
    batch: Batch = 1,
    minimize: Minimize = False,
    log: Log = None,
    plot: options.Plot = None,
    json: options.Json = False,
) -> None:
    """Find the parameters for which a Python function returns the most.

    A call that raises or returns no finite number is recorded as failed, and the study goes on.
    With --log the same command resumes after an interruption, or with more --pulls.
    """
    from windfall.checks import LARGEST_SEED, whole

    for name, value in (("pulls", pulls), ("batch", batch), ("initial", initial)):
        if value is not None:
            whole(name, value, 1)
    whole("seed", seed, 0, LARGEST_SEED)

    import windfall as wf
    from windfall.cli.experiment import check_folder
    from windfall.cli.imports import named
    from windfall.cli.parameters import parameters
    from windfall.cli.policies import chosen
    from windfall.registry import GOALS

    space = parameters(box or (), integer or (), choice or ())
    called = _fitting(function, named("function", function, "experiment:run"), space)
    if plot is not None:
        check_folder("plot", wf.plot.check_path(plot).parent)
    if log is not None:
        check_folder("log", log.parent)
    (deciding,) = chosen([policy or GOALS["best"]]).values()
    wf.compilation_cache()
    bandit = wf.Bandit(space, deciding, seed=seed, initial=initial)
    settings = {
        "function": function,
        "parameters": {name: repr(p) for name, p in space.parameters.items()},
        "policy": repr(bandit.policy),
        "seed": seed,
        "initial": bandit.initial,
        "batch": batch,
        "minimize": minimize,
    }

    from windfall.study.function_study import FunctionStudy

    study = FunctionStudy(bandit, called, batch, minimize)
    found = Found(study, function, seed, plot, json)
    try:
        with _opened(log, settings) as study.log:
            _run(study, pulls, found)
    finally:
        if study.best is not None:  # after an error there may be none
            with WRITING:
                found.write()


def _run(study: "FunctionStudy", pulls: int, found: Found) -> None:
    """Make the pulls, with a progress bar; whatever the function prints goes to standard error."""
    output = sys.stdout
    before = len(study.log.calls) if study.log else 0
    if before:
        say(f"{before} of {max(pulls, before)} pulls were made before")
    with Progress(max(pulls - before, 0), "pulls") as progress:

        def finished(_: "Call") -> None:
            progress.begin(found.standing())
            progress.advance(1)

        def farewell() -> None:
            progress.bar.stop()
            with contextlib.redirect_stdout(output):
                found.write()

        study.finished = finished
        on_interrupt(farewell)
        with contextlib.redirect_stdout(sys.stderr):
            study.run(pulls)
    if study.drifted:
        say("the log's pulls are not the ones this version would have chosen; their values count")


def _fitting(text: str, function: Any, space: "Parameters") -> Callable[..., Any]:
    """The function, if it can be called with the parameters by name."""
    if not callable(function):
        raise InputError(f"function {text!r} is {function!r:.60}; expected something to call")
    try:
        signature = inspect.signature(function)
    except ValueError:  # some built-in functions do not say
        return function
    try:
        signature.bind(**dict.fromkeys(space.names))
    except TypeError as error:
        raise InputError(
            f"function {text!r} takes {signature}, which does not fit the parameters"
            f" {', '.join(space.names)} ({error}); name them alike"
        ) from None
    return function


def _opened(
    path: Path | None, settings: dict[str, Any]
) -> "contextlib.AbstractContextManager[StudyLog | None]":
    if path is None:
        return contextlib.nullcontext()
    from importlib.metadata import version

    from windfall.study.log import StudyLog

    versions = {name: version(name) for name in ("windfall", "jax", "numpy")}
    return StudyLog(path, settings, versions)
