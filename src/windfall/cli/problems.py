"""``windfall problems``: what can be played."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from windfall.cli.report import wide_console

if TYPE_CHECKING:
    from windfall.problems import ProblemRow

__all__ = ["problems"]

GROUPS = {
    "paper": "the paper's nine (--suite paper)",
    "extremes-tune": "extremes, the half to choose settings on (--suite extremes-tune)",
    "extremes-report": "extremes, the half to report only (--suite extremes-report)",
    "varying": "rounds differ: contexts, drift, an arm that hides (--suite varying)",
}
DataDir = Annotated[
    Path | None,
    typer.Option(help="List the candidate lists in this folder too.", metavar="DIR"),
]
NOTE = (
    "Rounds and trials are defaults. Problems marked * need data files, which --data-dir or "
    "WINDFALL_DATA point to."
)


def problems(data_dir: DataDir = None) -> None:
    """List the named problems by suite, and the candidate lists in a folder."""
    from windfall.problems import describe, describe_lists, suite

    rows = {row.name: row for row in describe()}
    groups = {title: [rows[name] for name in suite(group)] for group, title in GROUPS.items()}
    if data_dir is not None:
        groups[f"lists in {data_dir} (--suite real)"] = list(describe_lists(data_dir))
    console = wide_console()
    for title, lines in groups.items():
        console.print(_table(title, lines))
    console.print(NOTE)


def _table(title: str, rows: "Sequence[ProblemRow]") -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("problem", style="bold", no_wrap=True, min_width=20)
    for heading in ("arms", "features", "noise", "rounds", "trials"):
        table.add_column(heading, justify="right", min_width=6)
    table.add_column("what it is")
    for row in rows:
        table.add_row(
            row.name + ("*" if row.needs_data else ""),
            f"{row.arms:,}",
            str(row.dimension),
            f"{row.noise:.3g}",
            str(row.rounds),
            str(row.trials),
            row.description,
        )
    return table
