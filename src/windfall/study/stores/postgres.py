"""A PostgreSQL server: studies that many machines share. Needs the extra ``postgres``.

A store is a database; its tables are in a schema of their own, ``windfall``. Who appends to a study
holds its row until he commits, so that events are numbered without gaps. A connection that breaks
is made anew with the next call.
"""

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from windfall.errors import InputError
from windfall.study.stores.sql import PATIENCE, SQLStore

__all__ = ["MIGRATIONS", "PostgresStore"]

#: What makes each version out of the one before, in one transaction. They are never changed, only
#: added to: databases of every version are somewhere.
MIGRATIONS: list[tuple[str, ...]] = [
    (
        "CREATE TABLE windfall (version INTEGER NOT NULL)",
        "INSERT INTO windfall VALUES (0)",
        """CREATE TABLE studies (
            key BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            name TEXT NOT NULL UNIQUE
        )""",
        # Contents are text: PostgreSQL's own JSON does not keep numbers as they are.
        """CREATE TABLE events (
            study BIGINT NOT NULL,
            number BIGINT NOT NULL,
            kind TEXT NOT NULL,
            contents TEXT NOT NULL,
            worker TEXT,
            request TEXT,
            part INTEGER NOT NULL,
            time DOUBLE PRECISION NOT NULL,
            PRIMARY KEY (study, number),
            UNIQUE (study, request, part)
        )""",
        """CREATE TABLE locks (
            study BIGINT PRIMARY KEY, holder TEXT NOT NULL, until DOUBLE PRECISION NOT NULL
        )""",
    ),
]
#: Who migrates holds this advisory lock: "wind", read as a number.
_MIGRATING = 0x77696E64
#: Of every connection. A client that hangs in a transaction, or whose machine is gone, does not
#: hold up the others for longer than they wait.
_SETTINGS = f"""
    SET search_path = windfall;
    SET lock_timeout = '{PATIENCE:.0f}s';
    SET idle_in_transaction_session_timeout = '{PATIENCE / 2:.0f}s'
"""
_REACH = "check that the server runs and that the address is right, and repeat the call"
_LOST = (
    "lost its connection while it wrote; whether that was written is not known: repeat the call "
    "with the same request, or look at the history"
)
#: By the beginning of SQLSTATE.
_REMEDIES = {
    "08": f"has lost its connection; {_REACH}: nothing was written",
    "25006": "is read-only; connect to the primary server, or to a user who may write",
    "28": "refuses this user; check name and password",
    "3D": "does not exist on its server; make it with createdb",
    "42501": "may not be changed by this user; let its owner grant CREATE on the database, and all "
    "rights on what is in the schema windfall",
    "53100": "cannot be written, the server's disk is full; free some space and repeat the call: "
    "nothing was written",
    "53300": "has too many connections; close some, or raise max_connections of the server",
    "55P03": f"is busy for more than {PATIENCE:g} s; end the process that holds it",
    "57": f"is shutting down or starting; {_REACH}: nothing was written",
    "XX001": "is damaged; restore it from a backup",
    "XX002": "is damaged; restore it from a backup",
}
#: As short as the server waits for a lock, in seconds.
_GLANCE = 0.001
_LINE = "hashtextextended('windfall line ' || %s::text, 0)"
#: Go to the head of the line for a study; whether one had to wait.
_QUEUE = f"""
    WITH patience AS MATERIALIZED (SELECT set_config('lock_timeout', %s, true))
    SELECT CASE WHEN pg_try_advisory_lock({_LINE}) THEN false
        ELSE pg_advisory_lock({_LINE})::text = '' END FROM patience
"""
_ALIVE = "hashtextextended('windfall holder ' || %s, 0)"
_T = TypeVar("_T")


class PostgresStore(SQLStore):
    """Keeps studies in a database of a PostgreSQL server.

    Args:
        url: Where it is, ``postgresql://user:password@host:port/database``, as libpq reads it.
        create: Whether the tables are made where there are none.
        clock: What time it is, in seconds since 1970; by default the server's clock.
    """

    _errors = psycopg.Error
    _taken = psycopg.errors.UniqueViolation

    def __init__(self, url: str, *, create: bool = True, clock: Callable[[], float] | None = None):
        self.url, self.address = url, _shown(url)
        self._create, self._clock = create, clock
        self._holders: set[str] = set()
        self._users: set[int] = set()  # threads
        super().__init__()

    def __reduce__(self) -> tuple[Any, ...]:
        return PostgresStore, (self.url,)

    @contextmanager
    def line(self, key: int, seconds: float) -> Iterator[bool]:
        """The server keeps it, as a lock that ends with the connection.

        Nothing else goes over a connection meanwhile: where threads share one, nobody waits.
        """
        self._users.add(threading.get_ident())
        patience = seconds if len(self._users) == 1 else _GLANCE
        values = [f"{1000 * patience:.0f}", key, key]
        waited = None
        with self._guard, self._in_words(), suppress(psycopg.errors.LockNotAvailable):
            waited = self._again_if_lost(lambda db: db.execute(_QUEUE, values).fetchone())
        try:
            yield waited != (False,)
        finally:
            if waited is not None:
                with suppress(InputError):  # a lost connection has ended it already
                    self._read(lambda db: db.execute(f"SELECT pg_advisory_unlock({_LINE})", [key]))

    def unlock(self, key: int, holder: str) -> None:
        def work(db: psycopg.Connection) -> None:
            db.execute("DELETE FROM locks WHERE study = %s AND holder = %s", [key, holder])
            if holder in self._holders:
                self._holders.discard(holder)
                db.execute(f"SELECT pg_advisory_unlock({_ALIVE})", [holder])

        self._jot(work)

    def _connect(self) -> psycopg.Connection:
        self._holders.clear()  # their locks were lost with the connection
        settings = {"connect_timeout": 10, "application_name": "windfall"}
        told = make_conninfo("", **(settings | conninfo_to_dict(self.url)))
        db = psycopg.connect(told, autocommit=True)
        try:
            db.execute(_SETTINGS.encode())
            if db.execute("SHOW synchronous_commit").fetchone() == ("off",):
                db.execute("SET synchronous_commit = on")  # what is acknowledged is on the disk
            _migrate(db, create=self._create)
        except BaseException:
            db.close()
            raise
        return db

    def _read(self, work: Callable[[psycopg.Connection], _T]) -> _T:
        with self._guard, self._in_words():
            return self._again_if_lost(work)

    def _change(self, work: Callable[[psycopg.Connection], _T]) -> _T:
        with self._guard, self._in_words():
            return self._again_if_lost(lambda db: _transaction(db, work))

    def _jot(self, work: Callable[[psycopg.Connection], _T]) -> _T:
        def quickly(db: psycopg.Connection) -> _T:
            db.execute("SET LOCAL synchronous_commit = off")
            return work(db)

        return self._change(quickly)

    def _again_if_lost(self, work: Callable[[psycopg.Connection], _T]) -> _T:
        """Work on the connection; on a new one if it turns out to be gone.

        It may have been idle while the server was started again. Whatever was not committed then
        did not happen.
        """
        self._users.add(threading.get_ident())
        db = self._connection()
        try:
            return work(db)
        except psycopg.OperationalError:
            if not db.closed:
                raise
        self._connect_here()
        return work(self._db)

    def _run(self, db: psycopg.Connection, statement: str, *values: Any) -> Any:
        return db.execute(statement.replace("?", "%s").encode(), values)

    def _hold(self, db: psycopg.Connection, key: int) -> None:
        db.execute("SELECT 1 FROM studies WHERE key = %s FOR UPDATE", [key])

    def _time(self, db: psycopg.Connection) -> float:
        if self._clock is not None:
            return self._clock()
        (now,) = db.execute("SELECT extract(epoch FROM clock_timestamp())::float8").fetchall()[0]
        return now

    def _vouch(self, db: psycopg.Connection, holder: str) -> None:
        """Hold an advisory lock, which ends with the connection, as when a worker is killed."""
        if holder not in self._holders:
            db.execute(f"SELECT pg_try_advisory_lock({_ALIVE})", [holder])
            self._holders.add(holder)

    def _is_alive(self, db: psycopg.Connection, holder: str) -> bool:
        if holder in self._holders:
            return True
        free = db.execute(f"SELECT pg_try_advisory_xact_lock_shared({_ALIVE})", [holder])
        return free.fetchone() == (False,)

    def _trouble(self, error: Exception) -> str:
        return _trouble(error)


def _transaction(db: psycopg.Connection, work: Callable[[psycopg.Connection], _T]) -> _T:
    """Work in a transaction.

    Statements travel together, up to one whose answer is needed: while a study is held, others wait
    for every journey to the server.
    """
    committing = False
    try:
        with db.pipeline():
            db.execute("BEGIN")
            result = work(db)
            committing = True
            db.execute("COMMIT")
        return result
    except psycopg.OperationalError as error:
        if db.closed and committing:
            raise InputError(_LOST) from error
        _roll_back(db)
        raise
    except BaseException:
        _roll_back(db)
        raise


def _roll_back(db: psycopg.Connection) -> None:
    with suppress(psycopg.Error):  # a lost connection has ended it already
        db.execute("ROLLBACK")


def _migrate(db: psycopg.Connection, *, create: bool) -> None:
    """Bring the tables to the newest version."""
    version = _version(db)
    if version == 0 and not create:
        raise InputError("has no studies; expected a database in which windfall made some")
    if version < len(MIGRATIONS):
        # Before the transactions, which see what was there when they began.
        db.execute("SELECT pg_advisory_lock(%s)", [_MIGRATING])
        for place in range(_version(db), len(MIGRATIONS)):
            with db.transaction():
                if db.execute("SELECT to_regnamespace('windfall')").fetchone() == (None,):
                    db.execute("CREATE SCHEMA windfall")
                for statement in MIGRATIONS[place]:
                    db.execute(statement.encode())
                db.execute("UPDATE windfall SET version = %s", [place + 1])
        db.execute("SELECT pg_advisory_unlock(%s)", [_MIGRATING])


def _version(db: psycopg.Connection) -> int:
    """The version of the tables, 0 where there are none."""
    if db.execute("SELECT to_regclass('windfall.windfall')").fetchone() == (None,):
        return 0
    (version,) = db.execute("SELECT version FROM windfall").fetchone() or (0,)
    if version > len(MIGRATIONS):
        raise InputError(
            f"has version {version}; expected at most {len(MIGRATIONS)}: it was made by a newer "
            "windfall, install that"
        )
    return version


def _trouble(error: Exception) -> str:
    code = getattr(error, "sqlstate", None) or ""
    for beginning, words in _REMEDIES.items():
        if code.startswith(beginning):
            return words
    detail = (str(error).strip().splitlines() or [type(error).__name__])[0]
    if not code and isinstance(error, psycopg.OperationalError):  # libpq, not the server
        return f"cannot be reached ({detail}); {_REACH}"
    return f"fails ({detail}); expected postgresql://user:password@host:port/database"


def _shown(url: str) -> str:
    """An address without its password.

    >>> _shown("postgresql://lab:secret@host/studies?password=secret")
    'postgresql://lab:…@host/studies?password=…'
    """
    return re.sub(r"(://[^:/@]*:)[^@]*@|(\bpassword=)[^&]*", _hidden, url)


def _hidden(found: re.Match[str]) -> str:
    return f"{found[1]}…@" if found[1] else f"{found[2]}…"
