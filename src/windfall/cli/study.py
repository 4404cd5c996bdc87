"""``windfall study``: studies that are kept, from the command line."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from windfall.cli import options
from windfall.cli.described import described, values
from windfall.cli.report import print_json
from windfall.errors import InputError

if TYPE_CHECKING:
    from windfall.space import Space
    from windfall.study.study import Study

__all__ = ["STORE", "Name", "Request", "StoreName", "arm_named", "opened", "study"]

study = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Studies that are kept: create one, ask what to try next, tell rewards, see the best.",
)

Name = Annotated[str, typer.Argument(metavar="STUDY", help="The name of a study.")]
StoreName = Annotated[
    str,
    typer.Option(
        "--store", help="Where studies are kept: a file, or postgresql://…", metavar="STORE"
    ),
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
When = Annotated[
    float | None,
    typer.Option(
        "--time",
        help="When it came, in a study that expects drift; one unit after the last unless said.",
        metavar="X",
    ),
]
Known = Annotated[
    list[str] | None,
    typer.Option("--context", help="What is known now; once for each.", metavar="NAME=VALUE"),
]
Among = Annotated[
    list[str] | None,
    typer.Option(
        help="An arm that is available, by number or name, if not all are; once for each.",
        metavar="ARM",
    ),
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
STORE = "windfall.db"


@study.command()
def ask(
    name: Name,
    n: Number = None,
    worker: WorkerName = None,
    lease: Lease = None,
    request: Request = None,
    context: Known = None,
    among: Among = None,
    store: StoreName = STORE,
    json: options.Json = False,
) -> None:
    """Say what to try next. Without -n, --worker and --lease it only looks."""
    with opened(name, store) as mine:
        available = None if not among else [arm_named(mine.space, arm) for arm in among]
        how = {"worker": worker, "lease": lease, "request": request}
        asked = mine.ask(n, **how, context=_known(mine, context), among=available)
    choices = [described(choice) for choice in (asked if isinstance(asked, list) else [asked])]
    if json:
        print_json({"study": name, "choices": choices})
        return
    for choice in choices:
        typer.echo(f"id {choice['id']}: {values(choice)} ({choice['why']})")


@study.command(context_settings={"ignore_unknown_options": True})  # -2.5 is a reward
def tell(
    name: Name,
    reward: Reward,
    id: Id = None,
    arm: Arm = None,
    at: At = None,
    noise: Noise = None,
    time: When = None,
    request: Request = None,
    context: Known = None,
    store: StoreName = STORE,
) -> None:
    """Record a reward for a choice by its id, for an arm, or for parameters."""
    with opened(name, store) as mine:
        said = {"noise": noise, "request": request, "context": _known(mine, context), "at": time}
        mine.tell(_meant(mine, id, arm, at), reward, **said)


@study.command()
def fail(
    name: Name,
    id: Id = None,
    arm: Arm = None,
    at: At = None,
    why: Annotated[str | None, typer.Option(help="What went wrong.", metavar="TEXT")] = None,
    request: Request = None,
    context: Known = None,
    store: StoreName = STORE,
) -> None:
    """Record that a pull failed."""
    with opened(name, store) as mine:
        said = {"request": request, "why": why, "context": _known(mine, context)}
        mine.fail(_meant(mine, id, arm, at), **said)


@study.command()
def forget(
    name: Name,
    id: Id = None,
    arm: Arm = None,
    at: At = None,
    request: Request = None,
    context: Known = None,
    store: StoreName = STORE,
) -> None:
    """Drop a choice that will never be told, or a failure that was none."""
    with opened(name, store) as mine:
        known = _known(mine, context)
        mine.forget(_meant(mine, id, arm, at), request=request, context=known)


@study.command()
def note(
    name: Name,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What to keep in the history.")],
    request: Request = None,
    store: StoreName = STORE,
) -> None:
    """Keep a remark with a study; it changes nothing."""
    with opened(name, store) as mine:
        mine.note(text, request=request)


def opened(name: str, store: str) -> "Study":
    """A study that is there."""
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
    return _by_name("at", at or (), study.space)


def _known(study: "Study", context: list[str] | None) -> dict[str, Any] | None:
    """What the option ``--context`` says, if it is there."""
    space = None if study.context is None else study.context.space
    return _by_name("context", context, space) if context else None


def _by_name(option: str, texts: Iterable[str], space: "Space | None") -> dict[str, Any]:
    """Values by name, as the parameters of these names read them."""
    from windfall.space.parameter import from_text

    kinds = getattr(space, "parameters", {})
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals:
            raise InputError(f"--{option} is {text!r}; expected NAME=VALUE")
        if name in found:
            raise InputError(f"--{option} has {name!r} more than once; expected every name once")
        found[name] = from_text(kinds.get(name), value)
    return found


def arm_named(space: "Space", text: str) -> int | str:
    """An arm by its number, as ``ask`` prints it; by its name where no arm has that number."""
    if not text.isdecimal():
        return text
    titles = getattr(space, "titles", None) or ()
    return text if int(text) >= space.size and text in titles else int(text)
