"""``windfall problems``: what can be played."""

from rich.table import Table

from windfall.cli.report import wide_console

__all__ = ["problems"]


def problems() -> None:
    """List the named problems."""
    from windfall.problems import describe

    table = Table(
        caption="Rounds and trials are defaults. Problems marked * need data files, which "
        "--data-dir or WINDFALL_DATA point to.",
        caption_justify="left",
    )
    table.add_column("problem", style="bold", no_wrap=True)
    for heading in ("arms", "features", "noise", "rounds", "trials"):
        table.add_column(heading, justify="right")
    table.add_column("what it is")
    for row in describe():
        table.add_row(
            row.name + ("*" if row.needs_data else ""),
            f"{row.arms:,}",
            str(row.dimension),
            f"{row.noise:g}",
            str(row.rounds),
            str(row.trials),
            row.description,
        )
    wide_console().print(table)
