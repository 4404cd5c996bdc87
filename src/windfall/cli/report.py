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
mean        the same, mean over trials: what a few bad trials cost shows here
MAD         median absolute deviation of R_T/T
t=...       the same median after so many rounds
gap         what the best arm pulled pays less than the best of all, mean over trials
best found  trials that pulled the best arm
stuck       trials that missed it and did not halve their gap in the second half of the rounds
s/round     seconds per round of one trial, compilation included"""

PAIRED = """\
gap − ...   mean difference of the gaps within trials; from six on, its 95 % bootstrap interval"""


def ranked(results: "Sequence[Result]", goal: str) -> "list[Result]":
    """The lowest median R_T/T first, or if the goal is "best" the lowest mean gap."""

    def losses(result: "Result") -> list[float]:
        summary = result.summary()
        both = [summary["median"], summary["gap"]["mean"]]
        return both if goal == "reward" else both[::-1]

    return sorted(results, key=losses)


def print_json(value: dict[str, Any]) -> None:
    """One object on standard output."""
    typer.echo(json.dumps(value, indent=2, allow_nan=False))


def print_table(
    results: "Sequence[Result]",
    files: Sequence[str],
    goal: str,
    baseline: "Result | None" = None,
) -> None:
    """A row per policy, then the files that were written.

    What the goal asks for comes first. With a baseline, each gap is also compared with the
    baseline's.
    """
    first = results[0].summary()
    table = Table(
        title=f"{first['problem']}: rounds {first['rounds']}, trials {first['trials']}, "
        f"seed {first['seed']}",
        title_justify="left",
    )
    rows = [_cells(result, goal, baseline) for result in results]
    table.add_column("policy", style="bold")
    for heading in rows[0]:
        table.add_column(heading, justify="right")
    for result, cells in zip(results, rows, strict=True):
        table.add_row(result.label, *cells.values())
    wide_console().print(table)
    typer.echo(LEGEND)
    if baseline is not None:
        typer.echo(PAIRED)
    for file in files:
        typer.echo(f"wrote {file}")


def _cells(result: "Result", goal: str, baseline: "Result | None") -> dict[str, str]:
    """A policy's figures by heading."""
    summary, rounds = result.summary(), max(result.timings["trial_rounds"], 1)
    earning = {
        "R_T/T": f"{summary['median']:.3g}",
        "mean": f"{summary['mean']:.3g}",
        "MAD": f"{summary['mad']:.2g}",
        **{f"t={t}": f"{value:.3g}" for t, value in summary["median_at"].items()},
    }
    against = (
        {} if baseline is None else {f"gap − {baseline.label}'s": _difference(result, baseline)}
    )
    finding = {
        "gap": f"{summary['gap']['mean']:.3g}",
        **against,
        "best found": f"{summary['found_best']:.0%}",
        "stuck": f"{summary['stuck']:.0%}",
    }
    both = finding | earning if goal == "best" else earning | finding
    return both | {"s/round": f"{result.timings['total'] / rounds:.2g}"}


def _difference(result: "Result", baseline: "Result") -> str:
    from windfall.compare.statistics import paired_gap

    if result is baseline:
        return ""
    pair = paired_gap(result, baseline)
    interval = f" [{pair.low:+.2g}, {pair.high:+.2g}]" if pair.enough else ""
    return f"{pair.difference:+.2g}{interval}"


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
