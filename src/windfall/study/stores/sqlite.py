"""One SQLite file: the default store. No server, no dependency; safe across crashes.

Write-ahead log with ``synchronous=FULL``: what was committed is on the disk. Every change is one
explicit transaction that takes the writer's place at its beginning, so that none has to give up
half-way.
"""

import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import Any, TypeVar

from windfall.errors import InputError
from windfall.study.stores.line import in_line, meeting_point
from windfall.study.stores.mounts import network_type
from windfall.study.stores.schema import migrate, trouble
from windfall.study.stores.sql import PATIENCE, SQLStore

__all__ = ["SQLiteStore"]

_T = TypeVar("_T")


class SQLiteStore(SQLStore):
    """Keeps studies in one file.

    Args:
        path: The file. It belongs on a disk of this machine: SQLite's write-ahead log does not
            work on a network mount.
        create: Whether a file that is not there is made.
        clock: What time it is, in seconds since 1970.
    """

    _errors = sqlite3.Error
    _taken = sqlite3.IntegrityError

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        create: bool = True,
        clock: Callable[[], float] = time.time,
    ):
        self.path = Path(path).absolute()  # also after the process has changed its folder
        self.address, self._log = str(self.path), Path(f"{self.path}-wal")
        self._clock = clock
        if not create and not self.path.exists():
            raise InputError(f"store {str(path)!r} does not exist; expected a file with studies")
        super().__init__()

    def __reduce__(self) -> tuple[Any, ...]:
        return SQLiteStore, (self.path,)

    def line(self, key: int, seconds: float) -> AbstractContextManager[bool]:
        try:
            return in_line(meeting_point(self.path, key), seconds, create=True)
        except OSError:  # somebody has removed the file
            return nullcontext(False)

    def now(self) -> float:
        return self._clock()

    def _connect(self) -> sqlite3.Connection:
        kind = network_type(self.path)
        if kind is not None:
            raise InputError(
                f"is on a network mount ({kind}), where a file may be damaged; move it to a disk "
                "of this machine, or keep studies on a server: postgresql://…"
            )
        # Transactions are begun and ended here, by hand; threads take turns by the guard.
        db = sqlite3.connect(
            self.path, timeout=PATIENCE, isolation_level=None, check_same_thread=False
        )
        try:
            migrate(db)
        except BaseException:
            db.close()
            raise
        return db

    def _read(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        with self._guard, self._in_words():
            return work(self._connection())

    def _change(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        # SQLite itself keeps no line: who waits long looks ever more rarely whether it is his turn.
        # Nor does it lock its log, as it locks the file, so that a line behind that is in no way.
        with self._guard, self._in_words(), in_line(self._log, PATIENCE):
            db = self._connection()
            db.execute("BEGIN IMMEDIATE")
            try:
                result = work(db)
                db.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):  # some errors have ended it already
                    db.execute("ROLLBACK")
                raise
            return result

    def _jot(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        with self._guard:
            self._read(lambda db: db.execute("PRAGMA synchronous = NORMAL"))
            try:
                return self._change(work)
            finally:
                self._read(lambda db: db.execute("PRAGMA synchronous = FULL"))

    def _time(self, db: sqlite3.Connection) -> float:
        return self._clock()

    def _is_alive(self, db: sqlite3.Connection, holder: str) -> bool:
        """Whether the process that a holder names runs; one who names none is believed.

        Where it runs in another container it looks dead. All that comes of it is a conflict.
        """
        process = holder.partition("/")[0]
        return os.name != "posix" or not process.isdigit() or _runs(int(process))

    def _trouble(self, error: Exception) -> str:
        return trouble(error)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # somebody else's
        pass
    return True
