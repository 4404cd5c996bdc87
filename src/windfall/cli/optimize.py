"""``windfall optimize``: find the best parameters of a Python function."""

import contextlib
import inspect
import platform
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
    from windfall.study.function_study import Call, FunctionStudy

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
        show_default="the goal's own",
        metavar="NAME",
    ),
]
Goal = Annotated[
    str | None,
    typer.Option(
        help="What counts: best, only the best call, or reward, the sum of all --pulls calls.",
        show_default="best",
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
Workers = Annotated[
    int,
    typer.Option(
        parser=options.whole_number,
        help="Calls side by side, in threads.",
        metavar="N",
    ),
]
Minimize = Annotated[bool, typer.Option("--minimize", help="Small values are good.")]
Store = Annotated[
    str | None,
    typer.Option(
        help="Keep the study here, and go on from it: a file, or postgresql://…", metavar="STORE"
    ),
]
StudyName = Annotated[
    str | None,
    typer.Option(
        "--study", help="Its name there.", show_default="that of the function", metavar="NAME"
    ),
]
Caller = Annotated[
    str | None,
    typer.Option(
        "--caller",
        help="Who calls: commands that run at once need different names.",
        show_default="this machine",
        metavar="NAME",
    ),
]
Log = Annotated[
    Path | None,
    typer.Option(help="Take over the log of an earlier version, into --store.", metavar="FILE"),
]


def optimize(
    function: FunctionName,
    box: Boxes = None,
    integer: Integers = None,
    choice: Choices = None,
    pulls: Pulls = 50,
    policy: PolicyName = None,
    goal: Goal = None,
    seed: options.Seed = 0,
    initial: Initial = None,
    workers: Workers = 1,
    minimize: Minimize = False,
    store: Store = None,
    study: StudyName = None,
    caller: Caller = None,
    log: Log = None,
    plot: options.Plot = None,
    json: options.Json = False,
) -> None:
    """Find the parameters for which a Python function returns the most.

    A call that raises or returns no finite number is recorded as failed, and the study goes on.
    With --store the same command resumes after an interruption, or with more --pulls; not with the
    goal reward, whose policy counts on so many.
    """
    from windfall.checks import LARGEST_SEED, whole
    from windfall.registry import wanted

    for name, value in (("pulls", pulls), ("workers", workers), ("initial", initial)):
        if value is not None:
            whole(name, value, 1)
    whole("seed", seed, 0, LARGEST_SEED)
    wanted(policy, goal)
    if policy is None and goal is None:  # what was tried on the way is seldom of use to anybody
        goal = "best"

    import windfall as wf
    from windfall.cli.experiment import check_folder
    from windfall.cli.imports import named
    from windfall.cli.parameters import parameters
    from windfall.cli.policies import chosen

    space = parameters(box or (), integer or (), choice or ())
    called = _fitting(function, named("function", function, "experiment:run"), space)
    if plot is not None:
        check_folder("plot", wf.plot.check_path(plot).parent)
    if log is not None and store is None:
        raise InputError(f"log is {str(log)!r} without --store; expected where to keep the study")
    (deciding,) = chosen([policy]).values() if policy else (None,)

    from windfall.study.function_study import FunctionStudy
    from windfall.study.log import logged
    from windfall.study.stores import MemoryStore

    about = {"function": function, "minimize": minimize}
    shown = {name: repr(p) for name, p in space.parameters.items()}
    calls = [] if log is None else logged(log, about | {"parameters": shown})
    with wf.Study(
        study or function,
        space,
        deciding,
        goal=goal,
        budget=pulls if goal == "reward" else None,
        store=store or MemoryStore(),
        seed=seed,
        initial=initial,
        about=about,
    ) as kept:
        mine = FunctionStudy(kept, called, workers, minimize, caller or platform.node() or "here")
        mine.take_over(calls)
        found = Found(mine, function, seed, plot, json)
        try:
            _run(mine, pulls, found)
        finally:
            if mine.best is not None:  # after an error there may be none
                with WRITING:
                    found.write()


def _run(study: "FunctionStudy", pulls: int, found: Found) -> None:
    """Make the pulls, with a progress bar; whatever the function prints goes to standard error."""
    output = sys.stdout
    before = len(study.pulls)
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
