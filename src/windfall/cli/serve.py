"""``windfall serve``: studies over HTTP and in a browser, and the tokens for it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from windfall.cli import options
from windfall.cli.interrupt import leave_to_command
from windfall.cli.report import print_json, wide_console
from windfall.errors import InputError

if TYPE_CHECKING:
    from typer import Context
else:
    Context = typer.Context.__base__  # what commands are really called with

__all__ = ["serve"]

serve = typer.Typer(
    invoke_without_command=True,
    rich_markup_mode="rich",
    help="Serve studies over HTTP: to programs, and to people in a browser.",
)
token = typer.Typer(no_args_is_help=True, help="Make, list and revoke tokens of a server.")
serve.add_typer(token, name="token")

Store = Annotated[
    str, typer.Option(help="The file that studies are kept in, or their database.", metavar="FILE")
]
TokenFile = Annotated[
    Path | None,
    typer.Option(
        "--tokens", help="The file of tokens; by default beside the store.", metavar="FILE"
    ),
]
TokenName = Annotated[str, typer.Argument(metavar="NAME", help="To know the token by.")]
STORE = "windfall.db"
DAY = 24 * 3600.0


@serve.callback()
def run(
    context: Context,
    store: Store = STORE,
    host: Annotated[str, typer.Option(help="The address to listen on.", metavar="ADDRESS")] = (
        "127.0.0.1"
    ),
    port: Annotated[
        int, typer.Option(parser=options.whole_number, help="The port; 0 for any.", metavar="N")
    ] = 8420,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="A name that this machine is reached by; repeat it.", metavar="NAME"),
    ] = None,
    tokens: TokenFile = None,
) -> None:
    """Serve the studies of a store until Ctrl-C, and print a link for the browser."""
    if context.invoked_subcommand is not None:
        return
    _extra()
    from windfall.serve.run import run_server

    leave_to_command()
    run_server(store, _file(store, tokens), host, port, allow_host or [], typer.echo)


@token.command()
def add(
    name: TokenName,
    scope: Annotated[str, typer.Option(help="read, write or admin.")] = "write",
    days: Annotated[
        float | None, typer.Option(help="How long it holds; for ever if left out.", metavar="X")
    ] = None,
    store: Store = STORE,
    tokens: TokenFile = None,
) -> None:
    """Make a token and print it, once."""
    with _opened(store, tokens) as opened:
        typer.echo(opened.add(name, scope, None if days is None else days * DAY))


@token.command("list")
def list_tokens(store: Store = STORE, tokens: TokenFile = None, json: options.Json = False) -> None:
    """List tokens by name, with scope and end; never the tokens themselves."""
    with _opened(store, tokens) as opened:
        grants = opened.list()
    from windfall.serve.described import time

    rows = [{"name": g.name, "scope": g.scope, "expires": time(g.expires)} for g in grants]
    if json:
        print_json({"tokens": rows})
        return
    table = Table("name", "scope", "expires")
    for row in rows:
        table.add_row(row["name"], row["scope"], row["expires"] or "never")
    wide_console().print(table)


@token.command()
def revoke(name: TokenName, store: Store = STORE, tokens: TokenFile = None) -> None:
    """End a token, at once."""
    with _opened(store, tokens) as opened:
        opened.revoke(name)


def _opened(store: str, tokens: Path | None) -> Any:
    from contextlib import closing

    from windfall.serve.tokens import Tokens

    return closing(Tokens(_file(store, tokens)))


def _file(store: str, tokens: Path | None) -> Path:
    """The file of tokens that is meant; a database elsewhere has none beside it."""
    if tokens is not None:
        return tokens
    if "://" in store:
        raise InputError(
            "tokens is not said; expected --tokens FILE beside a store that is no file"
        )
    return Path(f"{store}.tokens")


def _extra() -> None:
    try:
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise InputError(
            "windfall serve needs the extra 'serve'; install windfall[serve]"
        ) from error
