"""The command line: parse, call the library, print.

One file per command. Everything slow to import (JAX, NumPy, matplotlib) is imported by the command
that needs it, so that ``windfall --help`` answers at once.
"""

from typing import Annotated

import typer

from windfall._version import __version__
from windfall.cli.ablation import ablation
from windfall.cli.compare import compare
from windfall.cli.errors import Commands
from windfall.cli.interrupt import watch
from windfall.cli.optimize import optimize
from windfall.cli.paper import paper
from windfall.cli.problems import problems
from windfall.cli.run import run
from windfall.cli.serve import serve
from windfall.cli.studies import study

__all__ = ["app", "main"]

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(run)
app.command()(compare)
app.command()(paper)
app.command()(optimize)
app.command()(ablation)
app.command()(problems)
app.add_typer(study, name="study")
app.add_typer(serve, name="serve")


def _version(wanted: bool) -> bool:
    if wanted:
        typer.echo(f"windfall {__version__}")
        raise typer.Exit
    return wanted


@app.callback()
def _windfall(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Decide which arm to pull next when a few arms pay far more than the rest."""


def main() -> None:
    """What ``windfall`` and ``python -m windfall`` run."""
    watch()
    app(prog_name="windfall")
