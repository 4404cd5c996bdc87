"""The options that commands share."""

from pathlib import Path
from typing import Annotated, Literal

import typer

__all__ = [
    "POLICIES",
    "POLICY_HELP",
    "Budget",
    "Components",
    "DataDir",
    "Executor",
    "Goal",
    "Json",
    "Kappa",
    "MaybeProblemName",
    "Plot",
    "ProblemName",
    "Rounds",
    "Save",
    "Seed",
    "Trials",
    "Workers",
    "whole_number",
]


def whole_number(text: str | int) -> int:
    """A whole number, as typer parses an option."""
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a whole number") from None


def _number(text: str | float) -> float:
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a number") from None


#: ``windfall.compare.contenders.KNOWN``, which JAX would have to be imported for; a test compares.
POLICIES = (
    "windfall", "prospect", "ei", "ts", "v-ucb", "gp-ucb", "gp-ucb-scaled", "lw-ucb", "mean",
    "v-ucb-1", "v-ucb-2",
)  # fmt: skip
POLICY_HELP = f"{', '.join(POLICIES)} (κ = 1, 2); MODULE:NAME for your own."
_PROBLEM = typer.Argument(
    metavar="PROBLEM",
    help="A name that [bold]windfall problems[/bold] lists, a folder with locations.csv and "
    "readings.csv, or a .csv file with a last column payoff.",
    show_default=False,
)
ProblemName = Annotated[str, _PROBLEM]
MaybeProblemName = Annotated[str | None, _PROBLEM]
Goal = Annotated[
    str | None,
    typer.Option(
        help="What counts: reward, the sum of all rewards, or best, only the best arm found.",
        show_default="reward",
        metavar="NAME",
    ),
]
Budget = Annotated[
    int | None,
    typer.Option(
        parser=whole_number,
        help="Pulls in all, initial ones included, that the policy of goal reward may count on; "
        "others only keep it.",
        show_default="they do not know",
        metavar="N",
    ),
]
Rounds = Annotated[
    int | None,
    typer.Option(
        parser=whole_number, help="Rounds of a trial, T.", show_default="the problem's", metavar="N"
    ),
]
Trials = Annotated[
    int | None,
    typer.Option(
        parser=whole_number, help="Number of trials.", show_default="the problem's", metavar="N"
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        parser=whole_number, help="Determines initial arms, noise and choices.", metavar="N"
    ),
]
Kappa = Annotated[
    float | None,
    typer.Option(
        parser=_number,
        help="κ, the weight of curiosity, for policies that have it.",
        show_default="the problem's",
        metavar="X",
    ),
]
Components = Annotated[
    int | None,
    typer.Option(
        parser=whole_number,
        help="Gaussians in LW-UCB's mixture; 0 uses the ratio directly.",
        show_default="the problem's",
        metavar="N",
    ),
]
DataDir = Annotated[
    Path | None,
    typer.Option(
        help="Where the data of sensor problems and candidate lists are.",
        show_default="$WINDFALL_DATA, else a per-user folder",
        metavar="DIR",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(parser=whole_number, help="Processes.", show_default="one per core", metavar="N"),
]
Executor = Annotated[
    Literal["ray", "dask"] | None,
    typer.Option(
        help="Play trials on Ray ($RAY_ADDRESS) or Dask ($DASK_SCHEDULER_ADDRESS); without an "
        "address on a cluster of this machine's processes.",
        show_default="processes",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")]
Save = Annotated[
    Path | None, typer.Option(help="Write the results into this folder.", metavar="DIR")
]
Plot = Annotated[
    Path | None, typer.Option(help="Write a figure: .png, .pdf or .svg.", metavar="FILE")
]
