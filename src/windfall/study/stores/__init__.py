"""Where studies are kept: one protocol, and a store each for memory and for a file."""

import os
from typing import Any

from windfall.checks import shown
from windfall.errors import InputError
from windfall.study.stores.base import Conflict, Locked, Store
from windfall.study.stores.memory import MemoryStore
from windfall.study.stores.sqlite import SQLiteStore

__all__ = ["Conflict", "Locked", "MemoryStore", "SQLiteStore", "Store", "open_store"]


def open_store(store: Any, *, create: bool = False, token: Any = None) -> Store:
    """The store that a user means: a file by its name, a server by its address, or a store itself.

    Args:
        store: What the user gave.
        create: Whether a file that is not there is made.
        token: For a server.

    Example:
        >>> open_store("postgresql://lab/studies")
        Traceback (most recent call last):
        windfall.errors.InputError: store is 'postgresql://lab/studies'; expected a file such as
        'windfall.db', or a Store
    """
    if isinstance(store, Store):
        return store
    if isinstance(store, str) and store.startswith(("http://", "https://")):
        from windfall.study.stores.http import HTTPStore  # an extra: only who wants it has it

        return HTTPStore(store, token)
    named = isinstance(store, str | os.PathLike) and isinstance(os.fspath(store), str)
    if not named or "://" in os.fspath(store) or os.fspath(store) in ("", ":memory:"):
        raise InputError(
            f"store is {shown(store)}; expected a file such as 'windfall.db', or a Store"
        )
    return SQLiteStore(store, create=create)
