"""One SQLite file: the default store. No server, no dependency; safe across crashes.

Write-ahead log with ``synchronous=FULL``: what was committed is on the disk. Every change is one
explicit transaction that takes the writer's place at its beginning, so that none has to give up
half-way.
"""

import json
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from windfall.errors import InputError
from windfall.study.events import Event
from windfall.study.stores.base import Conflict, Draft, Locked, Store
from windfall.study.stores.schema import PATIENCE, migrate, trouble

__all__ = ["SQLiteStore"]

#: Connections of a parent process: closing one here could end what it is doing there.
_INHERITED: list[sqlite3.Connection] = []
_APPEND = "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_READ = """
    SELECT number, kind, contents, worker, request, time FROM events
    WHERE study = ? AND number > ? ORDER BY number
"""


class SQLiteStore(Store):
    """Keeps studies in one file.

    Args:
        path: The file. It belongs on a disk of this machine: SQLite's locks do not work on all
            network mounts.
        create: Whether a file that is not there is made.
        clock: What time it is, in seconds since 1970.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        create: bool = True,
        clock: Callable[[], float] = time.time,
    ):
        self.path = Path(path).absolute()  # also after the process has changed its folder
        self._clock = clock
        self._guard = threading.RLock()
        if not create and not self.path.exists():
            raise InputError(f"store {str(path)!r} does not exist; expected a file with studies")
        self._connect()

    def __reduce__(self) -> tuple[Any, ...]:
        return SQLiteStore, (self.path,)

    def create(self, name: str, created: Mapping[str, Any]) -> int:
        with self._change() as db:
            if db.execute("SELECT 1 FROM studies WHERE name = ?", (name,)).fetchone():
                raise Conflict
            key = db.execute("INSERT INTO studies (name) VALUES (?)", (name,)).lastrowid
            assert key is not None
            first = (key, 0, "created", _written(created), None, None, 0, self._clock())
            db.execute(_APPEND, first)
            return key

    def list(self) -> dict[str, int]:
        with self._use() as db:
            return dict(db.execute("SELECT name, key FROM studies ORDER BY key"))

    def append(
        self,
        key: int,
        drafts: Sequence[Draft],
        *,
        after: int | None = None,
        worker: str | None = None,
        request: str | None = None,
        holder: str | None = None,
    ) -> Sequence[Event]:
        written = [(kind, _written(contents)) for kind, contents in drafts]
        with self._change() as db:
            now = self._clock()
            if self._is_held(db, key, holder, now):
                raise Locked
            (last,) = db.execute(
                "SELECT max(number) FROM events WHERE study = ?", (key,)
            ).fetchone()
            if after not in (None, last):
                raise Conflict
            for part, (kind, contents) in enumerate(written):
                row = (key, last + 1 + part, kind, contents, worker, request, part, now)
                try:
                    db.execute(_APPEND, row)
                except sqlite3.IntegrityError as error:  # the request was taken already
                    raise Conflict from error
        return [
            Event(last + 1 + part, kind, json.loads(contents), worker, request, now)
            for part, (kind, contents) in enumerate(written)
        ]

    def read(self, key: int, after: int = -1) -> Sequence[Event]:
        with self._use() as db:
            rows = db.execute(_READ, (key, after)).fetchall()
            if not rows:
                self._check(db, key)
        try:
            return [
                Event(number, kind, json.loads(contents), *rest)
                for number, kind, contents, *rest in rows
            ]
        except ValueError as error:
            raise InputError(
                f"store {str(self.path)!r} is damaged ({error}); restore it from a backup"
            ) from error

    def lock(self, key: int, holder: str, seconds: float) -> bool:
        with self._change() as db:
            now = self._clock()
            if self._is_held(db, key, holder, now):
                return False
            db.execute("REPLACE INTO locks VALUES (?, ?, ?)", (key, holder, now + seconds))
            return True

    def unlock(self, key: int, holder: str) -> None:
        with self._change() as db:
            db.execute("DELETE FROM locks WHERE study = ? AND holder = ?", (key, holder))

    def rename(self, key: int, name: str) -> None:
        with self._change() as db:
            self._check(db, key)
            try:
                db.execute("UPDATE studies SET name = ? WHERE key = ?", (name, key))
            except sqlite3.IntegrityError as error:
                raise Conflict from error

    def delete(self, key: int) -> None:
        with self._change() as db:
            self._check(db, key)
            for table in ("events", "locks"):
                db.execute(f"DELETE FROM {table} WHERE study = ?", (key,))
            db.execute("DELETE FROM studies WHERE key = ?", (key,))

    def now(self) -> float:
        return self._clock()

    def close(self) -> None:
        with self._guard:
            self._db.close()

    def _connect(self) -> None:
        with self._in_words():
            self._process = os.getpid()
            # Transactions are begun and ended here, by hand; threads take turns by the guard.
            self._db = sqlite3.connect(
                self.path, timeout=PATIENCE, isolation_level=None, check_same_thread=False
            )
            try:
                migrate(self._db)
            except BaseException:
                self._db.close()
                raise

    @contextmanager
    def _use(self) -> Iterator[sqlite3.Connection]:
        """The connection, for one thread at a time; a forked process makes its own."""
        with self._guard:
            if self._process != os.getpid():
                _INHERITED.append(self._db)
                self._connect()
            with self._in_words():
                yield self._db

    @contextmanager
    def _change(self) -> Iterator[sqlite3.Connection]:
        """A transaction: all of it is on disk at the end, or nothing."""
        with self._use() as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):  # some errors have ended it already
                    db.execute("ROLLBACK")
                raise

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise InputError(f"store {str(self.path)!r} {trouble(error)}") from error
        except InputError as error:
            raise InputError(f"store {str(self.path)!r} {error}") from error

    def _is_held(self, db: sqlite3.Connection, key: int, holder: str | None, now: float) -> bool:
        """Whether somebody else holds the lock of a study."""
        self._check(db, key)
        held = "SELECT 1 FROM locks WHERE study = ? AND holder IS NOT ? AND until > ?"
        return db.execute(held, (key, holder, now)).fetchone() is not None

    def _check(self, db: sqlite3.Connection, key: int) -> None:
        if db.execute("SELECT 1 FROM studies WHERE key = ?", (key,)).fetchone() is None:
            raise InputError(f"has no study {key}; expected one that was not deleted")


def _written(contents: Mapping[str, Any]) -> str:
    return json.dumps(contents, allow_nan=False, separators=(",", ":"))
