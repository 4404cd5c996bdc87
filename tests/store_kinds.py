"""Every kind of store there is, in one list, for all tests that hold for each."""

import time
from functools import cache
from pathlib import Path

import psycopg
from tools.postgres import Server

from windfall.study.stores import MemoryStore, SQLiteStore, Store
from windfall.study.stores.postgres import PostgresStore

KINDS = ("memory", "sqlite", "postgres")
#: Those that other processes can open.
SHARED = KINDS[1:]


@cache
def server() -> Server:
    """One PostgreSQL server for all tests of a process; ``conftest`` stops it."""
    return Server()


def address(kind: str, folder: Path) -> str:
    """What a store is opened by."""
    return str(folder / "lab.db") if kind == "sqlite" else server().url()


def opened(kind: str, folder: Path, clock=time.time) -> Store:
    """A store of a kind; a second one leads to the same studies, unless it is in memory."""
    if kind == "memory":
        return MemoryStore(clock)
    if kind == "sqlite":
        return SQLiteStore(address(kind, folder), clock=clock)
    return PostgresStore(address(kind, folder), clock=clock)


def emptied(kind: str) -> str:
    """A kind whose next store has no studies: files are new in every folder, the server is not."""
    if kind == "postgres":
        with psycopg.connect(server().url(), autocommit=True) as db:
            db.execute("SET client_min_messages = warning")
            db.execute("DROP SCHEMA IF EXISTS windfall CASCADE")
    return kind
