"""``windfall study``: studies that are kept, from the command line."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from windfall.cli import options
from windfall.cli.report import print_json, wide_console
from windfall.errors import InputError

if TYPE_CHECKING:
    from windfall.study.choice import Choice
    from windfall.study.study import Study

__all__ = ["study"]

study = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Look at studies that are kept in a file, ask what to try next and tell rewards.",
)

Name = Annotated[str, typer.Argument(metavar="STUDY", help="The name of a study.")]
StoreFile = Annotated[
    Path, typer.Option("--store", help="The file that studies are kept in.", metavar="FILE")
]
Reward = Annotated[float, typer.Argument(metavar="REWARD", help="What it paid.")]
Id = Annotated[
    int | None,
    typer.Option(
        "--id", parser=options.whole_number, help="Of the choice, as ask printed.", metavar="N"
    ),
]
Arm = Annotated[
    int | None,
    typer.Option(parser=options.whole_number, help="Instead: the number of an arm.", metavar="N"),
]
At = Annotated[
    list[str] | None,
    typer.Option(help="Instead: a parameter; once for each.", metavar="NAME=VALUE"),
]
Noise = Annotated[
    float | None, typer.Option(help="The known deviation of the reward's noise.", metavar="X")
]
Request = Annotated[
    str | None,
    typer.Option(help="An id of this call; repeating it changes nothing.", metavar="TEXT"),
]
WorkerName = Annotated[
    str | None,
    typer.Option("--worker", help="Who asks; keeps the choice for them.", metavar="TEXT"),
]
Lease = Annotated[
    float | None, typer.Option(help="Keep the choice for so many seconds.", metavar="SECONDS")
]
Number = Annotated[
    int | None,
    typer.Option("-n", parser=options.whole_number, help="Hand out so many.", metavar="N"),
]
STORE = Path("windfall.db")


@study.command("list")
def list_studies(store: StoreFile = STORE, json: options.Json = False) -> None:
    """List the studies in a file, with their progress and the best so far."""
    import windfall as wf

    rows = []
    for name in wf.studies(store):
        with wf.Study(name, store=store) as opened:
            rows.append(_facts(opened))
    if json:
        print_json({"studies": rows})
        return
    table = Table()
    table.add_column("study", style="bold")
    for heading in ("rewards", "failed", "pending"):
        table.add_column(heading, justify="right")
    table.add_column("best")
    for row in rows:
        best = "–" if row["best"] is None else f"{_values(row['best'])}: {row['best']['why']}"
        numbers = (str(row[k]) for k in ("rewards", "failed", "pending"))
        table.add_row(row["study"], *numbers, best)
    wide_console().print(table)


@study.command()
def show(name: Name, store: StoreFile = STORE, json: options.Json = False) -> None:
    """Show what a study has come to."""
    with _opened(name, store) as opened:
        facts = _facts(opened)
        facts["waiting"] = [_described(choice) for choice in opened.pending]
    if json:
        print_json(facts)
        return
    typer.echo(
        f"{name}: {facts['rewards']} rewards, {facts['failed']} failed, {facts['pending']} pending"
    )
    if facts["best"] is not None:
        typer.echo(f"best: {_values(facts['best'])}: {facts['best']['why']}")
    for choice in facts["waiting"]:
        typer.echo(f"pending: id {choice['id']}: {_values(choice)}")


@study.command()
def ask(
    name: Name,
    n: Number = None,
    worker: WorkerName = None,
    lease: Lease = None,
    request: Request = None,
    store: StoreFile = STORE,
    json: options.Json = False,
) -> None:
    """Say what to try next. Without -n, --worker and --lease it only looks."""
    with _opened(name, store) as opened:
        asked = opened.ask(n, worker=worker, lease=lease, request=request)
    choices = [_described(choice) for choice in (asked if n is not None else [asked])]
    if json:
        print_json({"study": name, "choices": choices})
        return
    for choice in choices:
        typer.echo(f"id {choice['id']}: {_values(choice)} ({choice['why']})")


@study.command(context_settings={"ignore_unknown_options": True})  # -2.5 is a reward
def tell(
    name: Name,
    reward: Reward,
    id: Id = None,
    arm: Arm = None,
    at: At = None,
    noise: Noise = None,
    request: Request = None,
    store: StoreFile = STORE,
) -> None:
    """Record a reward for a choice by its id, for an arm, or for parameters."""
    with _opened(name, store) as opened:
        opened.tell(_meant(opened, id, arm, at), reward, noise=noise, request=request)


@study.command()
def fail(
    name: Name,
    id: Id = None,
    arm: Arm = None,
    at: At = None,
    request: Request = None,
    store: StoreFile = STORE,
) -> None:
    """Record that a pull failed."""
    with _opened(name, store) as opened:
        opened.fail(_meant(opened, id, arm, at), request=request)


@study.command()
def export(
    name: Name,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A .csv or .jsonl file.")],
    store: StoreFile = STORE,
) -> None:
    """Write all that happened: a table (.csv), or every event in full (.jsonl)."""
    with _opened(name, store) as opened:
        opened.export(file)


def _opened(name: str, store: Path) -> "Study":
    import windfall as wf

    return wf.Study(name, store=store)


def _meant(study: "Study", id: int | None, arm: int | None, at: list[str] | None) -> Any:
    """The choice, arm or parameters that the options mean: one of them."""
    if [id is not None, arm is not None, bool(at)].count(True) != 1:
        raise InputError("choice is not said; expected one of --id, --arm and --at")
    if id is not None:
        return study.choice(id)
    if arm is not None:
        return arm
    pairs = [entry.partition("=") for entry in at or ()]
    return {name.strip(): _value(text.strip()) for name, _, text in pairs}


def _value(text: str) -> Any:
    """A number where it is one: whole numbers are not the same as others everywhere."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def _facts(study: "Study") -> dict[str, Any]:
    rewards = study.rewards
    return {
        "study": study.name,
        "rewards": len(rewards),
        "failed": len(study.failed),
        "pending": len(study.pending),
        "best": _described(study.best) if rewards else None,
    }


def _described(choice: "Choice") -> dict[str, Any]:
    parameters = {
        name: value.item() if hasattr(value, "item") else value
        for name, value in choice.parameters.items()
    }
    return {"id": choice.id, "arm": choice.arm, "parameters": parameters, "why": choice.why}


def _values(choice: dict[str, Any]) -> str:
    arm = [] if choice["arm"] is None else [f"arm {choice['arm']}"]
    values = (
        f"{name} = {value:.6g}" if isinstance(value, float) else f"{name} = {value}"
        for name, value in choice["parameters"].items()
    )
    return ", ".join([*arm, *values])
