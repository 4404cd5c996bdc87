"""Where studies are kept: one protocol, and stores in memory, in a file and on a server."""

import os

from windfall.checks import shown
from windfall.errors import InputError
from windfall.runtime.given import StoreLike, Text
from windfall.study.stores.base import Conflict, Locked, Store
from windfall.study.stores.memory import MemoryStore
from windfall.study.stores.sqlite import SQLiteStore

__all__ = ["Conflict", "Locked", "MemoryStore", "SQLiteStore", "Store", "open_store"]


def open_store(store: StoreLike, *, create: bool = False, token: Text | None = None) -> Store:
    """The store that a user means: a file by its name, a server by its address, or a store itself.

    Args:
        store: What the user gave.
        create: Whether a file, or the tables of a database, are made where there are none.
        token: For a server.

    Example:
        >>> open_store("mysql://lab/studies")
        Traceback (most recent call last):
        windfall.errors.InputError: store is 'mysql://lab/studies'; expected a file such as
        'windfall.db', postgresql://… or a Store
    """
    if isinstance(store, Store):
        return store
    if isinstance(store, str) and store.startswith(("http://", "https://")):
        from windfall.study.stores.http import HTTPStore  # an extra: only who wants it has it

        return HTTPStore(store, token)
    named = isinstance(store, str | os.PathLike) and isinstance(os.fspath(store), str)
    address = os.fspath(store) if named else ""
    if address.startswith(("postgresql://", "postgres://")):
        return _server(address, create)
    if "://" in address or address in ("", ":memory:"):
        raise InputError(
            f"store is {shown(store)}; expected a file such as 'windfall.db', postgresql://… or a "
            "Store"
        )
    return SQLiteStore(address, create=create)


def _server(url: str, create: bool) -> Store:
    try:
        from windfall.study.stores.postgres import PostgresStore
    except ImportError as error:
        raise InputError(
            f"store needs psycopg, which is not there ({error}); expected it to be installed by "
            "pip install 'windfall[postgres]'"
        ) from error
    return PostgresStore(url, create=create)
