"""Who may do what: tokens with a scope, kept hashed in a small SQLite file."""

import hashlib
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from windfall.checks import known_name, number, shown
from windfall.errors import InputError

__all__ = ["SCOPES", "Grant", "Tokens"]

#: Each may do what those before it may: look, drive studies, rename and delete them.
SCOPES = ("read", "write", "admin")


@dataclass(frozen=True)
class Grant:
    """What a token allows.

    Attributes:
        name: Of the token; not a secret, unlike the token itself.
        scope: One of ``SCOPES``.
        expires: When it ends, in seconds since 1970; None for never.
    """

    name: str
    scope: str
    expires: float | None

    def allows(self, scope: str) -> bool:
        """Whether it reaches as far as a scope.

        >>> Grant("oven", "write", None).allows("read"), Grant("oven", "read", None).allows("write")
        (True, False)
        """
        return SCOPES.index(self.scope) >= SCOPES.index(scope)


class Tokens:
    """The tokens of a server. Changes count at once, also those of another process.

    A token is 256 random bits, so that a plain SHA-256 of it gives nothing away; nobody can read a
    token from the file, and it is shown once, when it is made.

    Args:
        path: The file; made if it is not there, readable by its owner only.
        clock: What time it is, in seconds since 1970.

    Example:
        >>> import tempfile
        >>> tokens = Tokens(Path(tempfile.mkdtemp()) / "lab.db.tokens")
        >>> secret = tokens.add("oven-3", "write")
        >>> tokens.grant(secret)
        Grant(name='oven-3', scope='write', expires=None)
        >>> tokens.revoke("oven-3")
        >>> tokens.grant(secret) is None
        True
        >>> tokens.close()
    """

    def __init__(self, path: str | os.PathLike[str], clock: Callable[[], float] = time.time):
        self.path = Path(path)
        self._clock = clock
        self._guard = threading.Lock()
        try:
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
            self._db = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
            self._db.execute(
                "CREATE TABLE IF NOT EXISTS tokens (name TEXT PRIMARY KEY, hash TEXT NOT NULL "
                "UNIQUE, scope TEXT NOT NULL, expires REAL)"
            )
        except (OSError, sqlite3.Error) as error:
            raise InputError(
                f"tokens is {str(path)!r}, which cannot be used ({error}); expected a file that "
                "windfall made, in a folder that can be written"
            ) from error

    def add(self, name: Any, scope: Any, seconds: Any = None) -> str:
        """A new token, which is shown never again.

        Args:
            name: To know it by; nobody else has it.
            scope: One of ``SCOPES``.
            seconds: How long it holds; None for ever.
        """
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            raise InputError(f"name is {shown(name)}; expected text in one line")
        known_name("scope", scope, SCOPES)
        now, expires = self._clock(), None
        if seconds is not None:
            expires = now + float(number("seconds", 0.0, strict=True)(seconds))
        secret = secrets.token_urlsafe(32)
        with self._guard:
            self._db.execute("DELETE FROM tokens WHERE expires <= ?", (now,))
            try:
                self._db.execute(
                    "INSERT INTO tokens VALUES (?, ?, ?, ?)", (name, _hash(secret), scope, expires)
                )
            except sqlite3.IntegrityError as error:
                raise InputError(
                    f"name is {name!r}; expected one that no other token has"
                ) from error
        return secret

    def revoke(self, name: Any) -> None:
        """End a token, at once."""
        with self._guard:
            ended = self._db.execute("DELETE FROM tokens WHERE name = ?", (name,)).rowcount
        if not ended:
            raise InputError(f"name is {shown(name)}; expected that of a token")

    def list(self) -> list[Grant]:
        """What was given out, by name, less what has expired."""
        with self._guard:
            rows = self._db.execute(
                "SELECT name, scope, expires FROM tokens WHERE expires IS NULL OR expires > ? "
                "ORDER BY name",
                (self._clock(),),
            )
            return [Grant(*row) for row in rows]

    def grant(self, secret: str) -> Grant | None:
        """What a token allows; None if it is unknown, revoked or expired."""
        with self._guard:
            row = self._db.execute(
                "SELECT name, scope, expires FROM tokens WHERE hash = ? AND "
                "(expires IS NULL OR expires > ?)",
                (_hash(secret), self._clock()),
            ).fetchone()
        return None if row is None else Grant(*row)

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()
