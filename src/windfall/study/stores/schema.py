"""The tables of an SQLite store, their versions, and what SQLite's errors mean to a user."""

import sqlite3
import time

from windfall.errors import InputError
from windfall.study.stores.sql import PATIENCE

__all__ = ["MIGRATIONS", "migrate", "trouble"]

#: What makes each version out of the one before, in one transaction. They are never changed, only
#: added to: files of every version are somewhere.
MIGRATIONS: list[tuple[str, ...]] = [
    (
        "CREATE TABLE windfall (version INTEGER NOT NULL)",
        "INSERT INTO windfall VALUES (0)",
        # AUTOINCREMENT: the key of a study that was deleted never comes back.
        """CREATE TABLE studies (
            key INTEGER PRIMARY KEY AUTOINCREMENT,
            name TEXT NOT NULL UNIQUE
        )""",
        # The part is an event's place among those of its request.
        """CREATE TABLE events (
            study INTEGER NOT NULL,
            number INTEGER NOT NULL,
            kind TEXT NOT NULL,
            contents TEXT NOT NULL,
            worker TEXT,
            request TEXT,
            part INTEGER NOT NULL,
            time REAL NOT NULL,
            PRIMARY KEY (study, number),
            UNIQUE (study, request, part)
        ) WITHOUT ROWID""",
        "CREATE TABLE locks (study INTEGER PRIMARY KEY, holder TEXT NOT NULL, until REAL NOT NULL)",
    ),
]

_REMEDIES = {
    "SQLITE_BUSY": f"is busy for more than {PATIENCE:g} s; end the process that holds it",
    "SQLITE_CANTOPEN": "cannot be opened; expected a file in a folder that exists and can be "
    "written",
    "SQLITE_CORRUPT": "is damaged; restore it from a backup",
    "SQLITE_FULL": "cannot be written, the disk is full; free some space and repeat the call: "
    "nothing was written",
    "SQLITE_IOERR": "cannot be read or written, the disk fails or a quota is used up; check "
    "both and repeat the call: nothing was written",
    "SQLITE_NOTADB": "is no database; expected a file that windfall made",
    "SQLITE_PERM": "may not be opened; change its permissions",
    "SQLITE_READONLY": "is read-only; change its permissions, or copy it and work on the copy",
}


def migrate(db: sqlite3.Connection) -> None:
    """Prepare a connection, and bring its file to the newest version."""
    db.execute(f"PRAGMA busy_timeout = {1000 * PATIENCE:.0f}")
    version = _version(db)
    if version == 0:
        _use_log(db)
    db.execute("PRAGMA synchronous = FULL")
    while version < len(MIGRATIONS):
        db.execute("BEGIN IMMEDIATE")
        try:
            version = _version(db)  # somebody else may have been first
            if version < len(MIGRATIONS):
                for statement in MIGRATIONS[version]:
                    db.execute(statement)
                version += 1
                db.execute("UPDATE windfall SET version = ?", (version,))
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise


def _use_log(db: sqlite3.Connection) -> None:
    """Switch a file to the write-ahead log, for good.

    Alone among all statements this one does not wait while others use the file.
    """
    last = time.monotonic() + PATIENCE
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > last:
                raise
            time.sleep(0.01)


def _version(db: sqlite3.Connection) -> int:
    """The version of a file, 0 for an empty one."""
    tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if "windfall" not in tables:
        if tables:
            raise InputError("is a database of something else; expected a file that windfall made")
        return 0
    (version,) = db.execute("SELECT version FROM windfall").fetchone()
    if version > len(MIGRATIONS):
        raise InputError(
            f"has version {version}; expected at most {len(MIGRATIONS)}: it was made by a newer "
            "windfall, install that"
        )
    return version


def trouble(error: Exception) -> str:
    """What has happened to a file, and what to do about it."""
    code = getattr(error, "sqlite_errorname", "")
    known = (words for name, words in _REMEDIES.items() if code.startswith(name))
    detail = " ".join(str(error).split())
    return next(
        known, f"fails ({code or type(error).__name__}: {detail}); restore it from a backup"
    )
