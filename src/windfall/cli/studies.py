"""``windfall study``: making, listing, moving and dropping studies."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from windfall.cli import options
from windfall.cli.described import described, facts, values
from windfall.cli.optimize import Boxes, Choices, Initial, Integers, PolicyName
from windfall.cli.report import print_json, wide_console
from windfall.cli.study import STORE, Name, Request, StoreName, arm_named, opened, study
from windfall.errors import InputError

if TYPE_CHECKING:
    import numpy as np

    from windfall.space import Space

__all__ = ["study"]

NewName = Annotated[str, typer.Argument(metavar="NAME", help="One that no other study has.")]


@study.command()
def create(
    name: NewName,
    arms: Annotated[
        Path | None,
        typer.Option(
            help="The arms: a .csv file of numbers, a column for each feature.", metavar="FILE"
        ),
    ] = None,
    box: Boxes = None,
    integer: Integers = None,
    choice: Choices = None,
    context: Annotated[
        list[str] | None,
        typer.Option(
            help="What is known before each choice: load, load=0:10 or kind=a,b; once for each.",
            metavar="NAME",
        ),
    ] = None,
    policy: PolicyName = None,
    goal: options.Goal = None,
    budget: options.Budget = None,
    drift: Annotated[bool, typer.Option("--drift", help="Payoffs may change with time.")] = False,
    seed: options.Seed = 0,
    initial: Initial = None,
    store: StoreName = STORE,
) -> None:
    """Create a study: from a list of arms, or from parameters."""
    import windfall as wf
    from windfall.cli.parameters import known_before, parameters
    from windfall.cli.policies import chosen

    if (arms is None) == (not any((box, integer, choice))):
        raise InputError("space is not said; expected --arms, or --box, --integer and --choice")
    space = parameters(box or (), integer or (), choice or ()) if arms is None else _listed_in(arms)
    (deciding,) = chosen([policy]).values() if policy else (None,)
    given = {"context": known_before(context or ()), "seed": seed, "initial": initial}
    given |= {"goal": goal, "budget": budget, "drift": "auto" if drift else None}
    wf.Bandit(space, deciding, **given)  # what is wrong leaves no file behind
    _check_new(name, store)
    with wf.Study(name, space, deciding, store=store, **given) as made:
        size = "" if made.arms is None else f"{len(made.arms)} arms, "
        typer.echo(f"{name}: {size}{', '.join(made.names)}")


@study.command("list")
def list_studies(store: StoreName = STORE, json: options.Json = False) -> None:
    """List the studies in a store, with their progress and the best so far."""
    import windfall as wf

    rows = []
    for name in wf.studies(store):
        with wf.Study(name, store=store) as mine:
            rows.append(facts(mine))
    if json:
        print_json({"studies": rows})
        return
    table = Table()
    table.add_column("study", style="bold")
    for heading in ("rewards", "failed", "pending"):
        table.add_column(heading, justify="right")
    table.add_column("best")
    for row in rows:
        best = "–" if row["best"] is None else f"{values(row['best'])}: {row['best']['why']}"
        numbers = (str(row[k]) for k in ("rewards", "failed", "pending"))
        table.add_row(row["study"], *numbers, best)
    wide_console().print(table)


@study.command()
def show(name: Name, store: StoreName = STORE, json: options.Json = False) -> None:
    """Show what a study has come to."""
    with opened(name, store) as mine:
        known = facts(mine)
        known["waiting"] = [described(choice) for choice in mine.pending]
    if json:
        print_json(known)
        return
    typer.echo(
        f"{name}: {known['rewards']} rewards, {known['failed']} failed, {known['pending']} pending"
    )
    if known["best"] is not None:
        typer.echo(f"best: {values(known['best'])}: {known['best']['why']}")
    for choice in known["waiting"]:
        typer.echo(f"pending: id {choice['id']}: {values(choice)}")


@study.command()
def add(
    name: Name,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="More arms: a .csv file as for create --arms.")
    ],
    request: Request = None,
    store: StoreName = STORE,
) -> None:
    """Add arms to the list of a study; a retired one is that arm again."""
    features, heading = _table(file)
    with opened(name, store) as mine:
        if heading is not None and heading != list(mine.names):
            raise InputError(f"{file} has columns {heading}; expected {list(mine.names)}")
        numbers = mine.add_arms(features, request=request)
    typer.echo(f"{name}: arms {', '.join(map(str, numbers))}")


@study.command()
def retire(
    name: Name,
    arm: Annotated[str, typer.Argument(help="Its number or its name.", metavar="ARM")],
    request: Request = None,
    store: StoreName = STORE,
) -> None:
    """Choose an arm no longer; its rewards still count."""
    with opened(name, store) as mine:
        mine.retire(arm_named(mine.space, arm), request=request)


@study.command()
def export(
    name: Name,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A .csv or .jsonl file.")],
    store: StoreName = STORE,
) -> None:
    """Write all that happened: a table (.csv), or every event in full (.jsonl)."""
    with opened(name, store) as mine:
        mine.export(file)


@study.command("import")
def import_(
    name: Annotated[str, typer.Argument(metavar="STUDY", help="A new name, or an old one (.csv).")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A .jsonl or a .csv file.")],
    store: StoreName = STORE,
) -> None:
    """Restore a study from what export wrote (.jsonl), or tell it the rewards of a table (.csv)."""
    import windfall as wf

    if file.suffix == ".csv":
        with opened(name, store) as mine:
            typer.echo(f"{name}: {mine.add(file)} told or failed")
        return
    with wf.Study.restore(file, name, store=store) as mine:
        typer.echo(f"{name}: {len(mine.rewards)} rewards")


@study.command()
def copy(
    name: Name,
    to: Annotated[str | None, typer.Option(help="Another store.", metavar="STORE")] = None,
    new: Annotated[str | None, typer.Option("--as", help="Another name.", metavar="NAME")] = None,
    store: StoreName = STORE,
) -> None:
    """Copy a study with all that happened, to another store or another name."""
    with opened(name, store) as mine:
        mine.copy(to, new)


@study.command()
def rename(name: Name, new: NewName, store: StoreName = STORE) -> None:
    """Give a study another name."""
    with opened(name, store) as mine:
        mine.rename(new)


@study.command()
def delete(
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    store: StoreName = STORE,
) -> None:
    """Drop a study and all that happened to it, for good."""
    with opened(name, store) as mine:
        if not yes and not _confirmed(f"Drop {name} with {len(mine.rewards)} rewards for good?"):
            raise InputError(f"{name} was not dropped; expected a yes, or --yes")
        mine.delete(name)


def _confirmed(question: str) -> bool:
    try:
        return typer.confirm(question, err=True)
    except typer.Abort:  # nobody there to answer
        return False


def _check_new(name: str, store: str) -> None:
    """Refuse the name of a study that is there: opening it would look as if it had been made."""
    import windfall as wf
    from windfall.study.stores import open_store

    opened_store = open_store(store, create=True)
    try:
        if name in wf.studies(opened_store):
            raise InputError(f"name is {name!r}; expected one that no other study has")
    finally:
        opened_store.close()


def _listed_in(file: Path) -> "Space":
    """The arms of a table."""
    from windfall.space import Arms

    features, heading = _table(file)
    return Arms(features, names=heading)


def _table(file: Path) -> "tuple[np.ndarray, list[str] | None]":
    """The numbers of a table, and its heading if it has one."""
    from windfall.problems.csv_tables import numbers, read_rows

    first, *rest = rows = read_rows(file)
    width = len(first.cells)
    if all(first.is_number(column) for column in range(width)):
        return numbers(rows, 0, width), None
    return numbers(rest, 0, width), first.cells
