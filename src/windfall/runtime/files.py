"""Files that survive whatever happens while they are written; imports nothing heavy."""

import os
from contextlib import suppress
from pathlib import Path

__all__ = ["write_atomically"]


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file whole or not at all, also across a power cut.

    The data go into a new file beside it, which then takes its name. The new file has the
    permissions that any file of this process gets: the system applies the umask when it is made.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "notes"
    >>> write_atomically(path, b"all of it")
    >>> path.read_bytes()
    b'all of it'
    """
    # A short name of its own, so that the longest name that the folder allows can be written.
    temporary = path.parent / f".windfall-{os.urandom(8).hex()}"
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    _sync_folder(path.parent)


#: Windows would otherwise change line ends.
_BINARY = getattr(os, "O_BINARY", 0)


def _sync_folder(folder: Path) -> None:
    """Have the new name on disk too, where the system can: not on Windows, nor on every disk."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
