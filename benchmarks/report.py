"""The table on the terminal and in the measured section of ``benchmarks/README.md``."""

from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from benchmarks.verdicts import Row
from windfall.runtime.files import write_atomically

README = Path(__file__).with_name("README.md")
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
HEADINGS = ("what", "measured", "bar", "met")


def show(console: Console, title: str, rows: list[Row], about: dict[str, str]) -> None:
    """Print the table."""
    table = Table(title=title, caption=_caption(about))
    for heading in HEADINGS:
        table.add_column(heading)
    for row in rows:
        style = "bold red" if row.met is False else None
        cells = (row.what.replace("`", ""), row.measured, row.bar, row.verdict)
        table.add_row(*map(escape, cells), style=style)
    console.print(table)


def write(rows: list[Row], about: dict[str, str], readme: Path = README) -> None:
    """Put the table where the page has a place for it."""
    fill(readme, _markdown(rows, about))


def fill(readme: Path, measured: str) -> None:
    """Replace what stands between the two markers; the rest of the page is written by hand."""
    before, begin, rest = readme.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{readme.name} has no place for the table: put {BEGIN} and {END} in it")
    text = f"{before}{BEGIN}\n\n{measured}\n\n{END}{after}"
    write_atomically(readme, text.encode())


def _markdown(rows: list[Row], about: dict[str, str]) -> str:
    facts = [f"- {name}: {value}" for name, value in about.items()]
    table = [
        "| " + " | ".join(HEADINGS) + " |",
        "|" + "---|" * len(HEADINGS),
        *(f"| {row.what} | {row.measured} | {row.bar} | {row.verdict} |" for row in rows),
    ]
    return "\n".join([*facts, "", *table])


def _caption(about: dict[str, str]) -> str:
    return escape("\n".join(f"{name}: {value}" for name, value in about.items()))
