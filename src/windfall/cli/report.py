"""What a command prints: a table for people or one JSON object for programs."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from windfall.compare.table import Table as Facts
    from windfall.simulation.results import Result

__all__ = ["print_facts", "print_json", "print_table", "ranked", "wide_console"]

LEGEND = """\
R_T/T       regret per round after all rounds, median over trials; lower is better
MAD         median absolute deviation of it
t=...       the same median after so many rounds
gap         what the best arm pulled pays less than the best of all, mean over trials
best found  trials that pulled the best arm
stuck       trials that missed it and did not halve their gap in the second half of the rounds
s/round     elapsed seconds per round of one trial, start-up and compilation included"""

PAIRED = """\
gap − ...   mean difference of the gaps within trials, and its 95 % bootstrap interval"""


def ranked(results: "Sequence[Result]") -> "list[Result]":
    """The lowest median R_T/T first."""
    return sorted(results, key=lambda result: result.summary()["median"])


def print_json(value: dict[str, Any]) -> None:
    """One object on standard output."""
    typer.echo(json.dumps(value, indent=2, allow_nan=False))


def print_table(
    results: "Sequence[Result]", files: Sequence[str], baseline: "Result | None" = None
) -> None:
    """A row per policy, then the files that were written.

    With a baseline, each gap is also compared with the baseline's.
    """
    summaries = [result.summary() for result in results]
    first = summaries[0]
    table = Table(
        title=f"{first['problem']}: rounds {first['rounds']}, trials {first['trials']}, "
        f"seed {first['seed']}",
        title_justify="left",
    )
    table.add_column("policy", style="bold")
    table.add_column("R_T/T", justify="right")
    table.add_column("MAD", justify="right")
    for t in first["median_at"]:
        table.add_column(f"t={t}", justify="right")
    table.add_column("gap", justify="right")
    if baseline is not None:
        table.add_column(f"gap − {baseline.label}'s", justify="right")
    table.add_column("best found", justify="right")
    table.add_column("stuck", justify="right")
    table.add_column("s/round", justify="right")
    for result, summary in zip(results, summaries, strict=True):
        rounds = max(result.timings["trial_rounds"], 1)
        table.add_row(
            summary["policy"],
            f"{summary['median']:.3g}",
            f"{summary['mad']:.2g}",
            *(f"{value:.3g}" for value in summary["median_at"].values()),
            f"{summary['gap']['mean']:.3g}",
            *([] if baseline is None else [_difference(result, baseline)]),
            f"{summary['found_best']:.0%}",
            f"{summary['stuck']:.0%}",
            f"{result.timings['total'] / rounds:.2g}",
        )
    wide_console().print(table)
    typer.echo(LEGEND)
    if baseline is not None:
        typer.echo(PAIRED)
    for file in files:
        typer.echo(f"wrote {file}")


def _difference(result: "Result", baseline: "Result") -> str:
    from windfall.compare.statistics import paired_gap

    if result is baseline:
        return ""
    pair = paired_gap(result, baseline)
    return f"{pair.difference:+.2g} [{pair.low:+.2g}, {pair.high:+.2g}]"


def print_facts(facts: "Facts", title: str) -> None:
    """A table of the library's; cells in asterisks are printed in bold."""
    table = Table(title=title, title_justify="left", caption=facts.caption, caption_justify="left")
    for i, column in enumerate(facts.columns):
        left = i == 0 or column in facts.words
        table.add_column(column, justify="left" if left else "right")
    for row in facts.rows:
        table.add_row(*(Text(c.strip("*"), "bold" if c.startswith("**") else "") for c in row))
    wide_console().print(table)


def wide_console() -> Console:
    """Standard output; a file or a pipe is as wide as the text needs."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=400)
