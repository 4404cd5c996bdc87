"""A line of processes on one machine, in which each goes on when the one before it is done.

The system keeps it, as an exclusive lock on a file that ends with its process. Nothing but courtesy
rests on it: where it cannot be kept there is none.
"""

import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # on Windows
    system: Any = None
else:
    system = fcntl

__all__ = ["in_line", "meeting_point"]


def meeting_point(path: Path, key: int) -> Path:
    """A file behind which those line up who want one thing in another, by whatever path."""
    known = path.stat()
    name = f"windfall-{known.st_dev}-{known.st_ino}-{key}.line"
    return Path(tempfile.gettempdir()) / name


@contextmanager
def in_line(path: Path, seconds: float, *, create: bool = False) -> Iterator[bool]:
    """Stand in the line behind a file, but do not wait longer than so; whether there was one.

    Args:
        path: The file, of which nothing is read or written.
        seconds: How long one waits at most.
        create: Whether it is made where it is not there.
    """
    try:
        place = None if system is None else _Place(path, create=create)
    except OSError:
        place = None
    if place is None:
        yield False
        return
    try:
        if place.crowded:
            place.wait(seconds)
        yield place.crowded
    finally:
        place.leave()


class _Place:
    """One's place in a line: an open file, which is locked when one is first."""

    def __init__(self, path: Path, *, create: bool):
        options = os.O_CREAT | os.O_NOFOLLOW if create else os.O_RDONLY
        self._file = os.open(path, options, 0o666)
        self._first = threading.Event()
        self._guard = threading.Lock()
        self._waiting = self._left = self.crowded = False
        try:
            system.flock(self._file, system.LOCK_EX | system.LOCK_NB)
        except BlockingIOError:
            self.crowded = True
        except BaseException:
            os.close(self._file)
            raise

    def wait(self, seconds: float) -> None:
        """Wait until one is first: in a thread of its own, since the system's call knows no end."""
        self._waiting = True
        try:
            threading.Thread(target=self._wait, daemon=True, name="windfall-line").start()
        except RuntimeError:  # Python is about to end
            self._waiting = False
        else:
            self._first.wait(seconds)

    def leave(self) -> None:
        with self._guard:
            self._left = True
            if not self._waiting:
                self._close()

    def _wait(self) -> None:
        with suppress(OSError):
            system.flock(self._file, system.LOCK_EX)
        with self._guard:
            self._waiting = False
            if self._left:
                self._close()
        self._first.set()

    def _close(self) -> None:
        with suppress(OSError):  # a forked process may have the file open as well
            system.flock(self._file, system.LOCK_UN)
        os.close(self._file)
