"""``windfall problems``: what can be played."""

from rich.table import Table

from windfall.cli.report import wide_console

__all__ = ["problems"]

GROUPS = {
    "paper": "the paper's nine (--suite paper)",
    "extremes-tune": "extremes, the half to choose settings on (--suite extremes-tune)",
    "extremes-report": "extremes, the half to report only (--suite extremes-report)",
}
NOTE = (
    "Rounds and trials are defaults. Problems marked * need data files, which --data-dir or "
    "WINDFALL_DATA point to."
)


def problems() -> None:
    """List the named problems by suite."""
    from windfall.problems import describe, suite

    rows = {row.name: row for row in describe()}
    console = wide_console()
    for group, title in GROUPS.items():
        table = Table(title=title, title_justify="left")
        table.add_column("problem", style="bold", no_wrap=True, min_width=20)
        for heading in ("arms", "features", "noise", "rounds", "trials"):
            table.add_column(heading, justify="right", min_width=6)
        table.add_column("what it is")
        for row in (rows[name] for name in suite(group)):
            table.add_row(
                row.name + ("*" if row.needs_data else ""),
                f"{row.arms:,}",
                str(row.dimension),
                f"{row.noise:g}",
                str(row.rounds),
                str(row.trials),
                row.description,
            )
        console.print(table)
    console.print(NOTE)
