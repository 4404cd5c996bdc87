"""What stores on a database share: three tables, and the statements that every database knows.

``studies`` has the name of each key, ``events`` all that happened, ``locks`` who has a study to
himself. How transactions begin and end, what time it is and what errors mean differs, and is for
those who derive from this.
"""

import json
import os
import threading
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from windfall.errors import InputError
from windfall.study.events import Event
from windfall.study.stores.base import Conflict, Draft, Locked, Store

__all__ = ["PATIENCE", "SQLStore"]

#: For so many seconds a call waits for others that are writing.
PATIENCE = 60.0

_APPEND = "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_READ = """
    SELECT number, kind, contents, worker, request, time FROM events
    WHERE study = ? AND number > ? ORDER BY number
"""
_STATE = """
    SELECT (SELECT max(number) FROM events WHERE study = key), holder, until
    FROM studies LEFT JOIN locks ON study = key WHERE key = ?
"""
_LOCK = """
    INSERT INTO locks (study, holder, until) VALUES (?, ?, ?)
    ON CONFLICT (study) DO UPDATE SET holder = excluded.holder, until = excluded.until
"""

#: Connections of a parent process: closing one here could end what it is doing there.
_INHERITED: list[Any] = []
_T = TypeVar("_T")


class SQLStore(Store):
    """Keeps studies in the tables of a database.

    Attributes:
        address: Where it is, in words that may be shown.
    """

    address: str
    #: What the database raises, and what it raises where a row is there already.
    _errors: type[Exception]
    _taken: type[Exception]

    def __init__(self) -> None:
        self._guard = threading.RLock()
        with self._in_words():
            self._connect_here()

    @abstractmethod
    def _connect(self) -> Any:
        """A new connection to tables of the newest version."""

    @abstractmethod
    def _read(self, work: Callable[[Any], _T]) -> _T:
        """What is read from a connection."""

    @abstractmethod
    def _change(self, work: Callable[[Any], _T]) -> _T:
        """Work on a connection in a transaction: all of it is on disk at the end, or nothing."""

    @abstractmethod
    def _jot(self, work: Callable[[Any], _T]) -> _T:
        """The same for what means nothing after a power cut: nobody waits for the disk."""

    @abstractmethod
    def _time(self, db: Any) -> float:
        """What time it is."""

    @abstractmethod
    def _trouble(self, error: Exception) -> str:
        """What has happened to the database, and what to do about it."""

    def _run(self, db: Any, statement: str, *values: Any) -> Any:
        """Execute a statement with ``?`` for each value; a cursor."""
        return db.execute(statement, values)

    def _hold(self, db: Any, key: int) -> None:
        """Keep others from changing a study until the transaction ends."""

    def _vouch(self, db: Any, holder: str) -> None:
        """Let others see that a holder of locks is alive, where that can be seen."""

    def _is_alive(self, db: Any, holder: str) -> bool:
        """Whether a holder of a lock may still be at work."""
        return True

    def create(self, name: str, created: Mapping[str, Any]) -> int:
        contents = _written(created)

        def work(db: Any) -> int:
            self._run(db, "INSERT INTO studies (name) VALUES (?)", name)
            (key,) = self._run(db, "SELECT key FROM studies WHERE name = ?", name).fetchone()
            self._run(db, _APPEND, key, 0, "created", contents, None, None, 0, self._time(db))
            return key

        return self._change(work)

    def list(self) -> dict[str, int]:
        listed = "SELECT name, key FROM studies ORDER BY key"
        return self._read(lambda db: dict(self._run(db, listed).fetchall()))

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

        def work(db: Any) -> tuple[int, float]:
            last, now, held = self._state(db, key, holder)
            if held:
                raise Locked
            if after not in (None, last):
                raise Conflict
            for part, draft in enumerate(written):
                number = last + 1 + part
                self._run(db, _APPEND, key, number, *draft, worker, request, part, now)
            return last, now

        if holder is None and self._is_locked(key, None):
            raise Locked
        last, now = self._change(work)
        return [
            Event(number, kind, json.loads(contents), worker, request, now)
            for number, (kind, contents) in enumerate(written, last + 1)
        ]

    def read(self, key: int, after: int = -1) -> Sequence[Event]:
        def work(db: Any) -> Sequence[Any]:
            rows = self._run(db, _READ, key, after).fetchall()
            if not rows:
                self._found(key, self._run(db, "SELECT 1 FROM studies WHERE key = ?", key))
            return rows

        rows = self._read(work)
        try:
            return [
                Event(number, kind, json.loads(contents), *rest)
                for number, kind, contents, *rest in rows
            ]
        except ValueError as error:
            raise InputError(
                f"store {self.address!r} is damaged ({error}); restore it from a backup"
            ) from error

    def lock(self, key: int, holder: str, seconds: float) -> bool:
        def work(db: Any) -> bool:
            _, now, held = self._state(db, key, holder)
            if not held:
                self._vouch(db, holder)
                self._run(db, _LOCK, key, holder, now + seconds)
            return not held

        return self._jot(work)

    def unlock(self, key: int, holder: str) -> None:
        given_back = "DELETE FROM locks WHERE study = ? AND holder = ?"
        self._jot(lambda db: self._run(db, given_back, key, holder))

    def rename(self, key: int, name: str) -> None:
        def work(db: Any) -> None:
            self._state(db, key, None)
            self._run(db, "UPDATE studies SET name = ? WHERE key = ?", name, key)

        self._change(work)

    def delete(self, key: int) -> None:
        def work(db: Any) -> None:
            self._state(db, key, None)
            for table in ("events", "locks"):
                self._run(db, f"DELETE FROM {table} WHERE study = ?", key)
            self._run(db, "DELETE FROM studies WHERE key = ?", key)

        self._change(work)

    def now(self) -> float:
        return self._read(self._time)

    def close(self) -> None:
        with self._guard:
            self._db.close()

    def _is_locked(self, key: int, holder: str | None) -> bool:
        """Whether somebody else seems to hold the lock of a study.

        Only a look: those who have to wait do not stand in the way of who has the study to himself.
        """

        def work(db: Any) -> bool:
            row = self._run(db, "SELECT holder, until FROM locks WHERE study = ?", key).fetchone()
            if row is None:
                return False
            other, until = row
            return self._is_held(db, other, until, holder, self._time(db))

        return self._read(work)

    def _is_held(
        self, db: Any, other: str | None, until: float | None, holder: str | None, now: float
    ) -> bool:
        if other is None or until is None or other == holder:
            return False
        return until > now and self._is_alive(db, other)

    def _state(self, db: Any, key: int, holder: str | None) -> tuple[int, float, bool]:
        """The last event of a study, the time, and whether somebody else holds its lock.

        Nobody changes the study from here to the end of the transaction.
        """
        self._hold(db, key)
        state = self._run(db, _STATE, key)
        now = self._time(db)  # before the state is looked at, so that both come in one journey
        last, other, until = self._found(key, state)
        return last, now, self._is_held(db, other, until, holder, now)

    def _found(self, key: int, cursor: Any) -> Any:
        row = cursor.fetchone()
        if row is None:
            raise InputError(f"has no study {key}; expected one that was not deleted")
        return row

    def _connect_here(self) -> None:
        self._db = self._connect()
        self._process = os.getpid()

    def _connection(self) -> Any:
        """The connection; a forked process makes its own."""
        if self._process != os.getpid():
            _INHERITED.append(self._db)
            self._connect_here()
        return self._db

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        """Errors of the database, and of this file, say which store they are about.

        A row that is there already, as one of a request that was taken before, is a conflict.
        """
        try:
            yield
        except self._taken as error:
            raise Conflict from error
        except self._errors as error:
            raise InputError(f"store {self.address!r} {self._trouble(error)}") from error
        except InputError as error:
            raise InputError(f"store {self.address!r} {error}") from error


def _written(contents: Mapping[str, Any]) -> str:
    return json.dumps(contents, allow_nan=False, separators=(",", ":"))
